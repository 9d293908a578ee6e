"""A k-d tree that forgets records: farthest and nearest queries among the records still left.

The tree is a perfect binary heap of nodes (children of i are 2i+1 and 2i+2). A node keeps the box around its
remaining records and their lowest record number, so equal distances are settled by the lowest number without
visiting all ties. Boxes shrink as records leave. Bounds use the same sums in the same order as distances;
rounding is monotone, so they bound the computed distances exactly and no answer differs from a full scan.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import jit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEAF = 8  # records in a leaf at most
NONE = np.iinfo(np.int64).max  # lowest record number of an empty node


class Tree(NamedTuple):
    """Arrays of a k-d tree; a place is a position in tree order."""

    points: Floats  # (m, p) records in tree order
    record: Ints  # (m,) record number at each place
    place: Ints  # (n,) place of each record number
    leaf: Ints  # (m,) leaf node of each place
    start: Ints  # (nodes,) first place of a node
    stop: Ints  # (nodes,) one after the last remaining place (kept up to date for leaves only)
    low: Floats  # (nodes, p) box around the remaining records
    high: Floats  # (nodes, p)
    lowest: Ints  # (nodes,) lowest remaining record number, NONE when empty


@jit
def select(x: Floats, order: Ints, start: int, stop: int, middle: int, column: int) -> None:
    """Rearrange order[start:stop] so that x[·, column] is ≤ before `middle` and ≥ from it on."""
    left, right = start, stop - 1
    while left < right:
        pivot = x[order[(left + right) // 2], column]
        i, j = left, right
        while i <= j:
            while x[order[i], column] < pivot:
                i += 1
            while x[order[j], column] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@jit
def widest(x: Floats, order: Ints, start: int, stop: int) -> int:
    """Column with the largest range among records order[start:stop]."""
    best, column = -1.0, 0
    for c in range(x.shape[1]):
        low = high = x[order[start], c]
        for i in range(start + 1, stop):
            v = x[order[i], c]
            low = min(low, v)
            high = max(high, v)
        if high - low > best:
            best, column = high - low, c
    return column


@jit
def fit_leaf(tree: Tree, node: int) -> None:
    """Recompute box and lowest record number of a leaf."""
    tree.low[node] = np.inf
    tree.high[node] = -np.inf
    tree.lowest[node] = NONE
    for i in range(tree.start[node], tree.stop[node]):
        tree.lowest[node] = min(tree.lowest[node], tree.record[i])
        for c in range(tree.points.shape[1]):
            tree.low[node, c] = min(tree.low[node, c], tree.points[i, c])
            tree.high[node, c] = max(tree.high[node, c], tree.points[i, c])


@jit
def fit_parent(tree: Tree, node: int) -> None:
    """Recompute box and lowest record number of an inner node from its children."""
    a, b = 2 * node + 1, 2 * node + 2
    tree.lowest[node] = min(tree.lowest[a], tree.lowest[b])
    for c in range(tree.points.shape[1]):
        tree.low[node, c] = min(tree.low[a, c], tree.low[b, c])
        tree.high[node, c] = max(tree.high[a, c], tree.high[b, c])


@jit
def build(x: Floats, records: Ints) -> Tree:
    """Tree over the given record numbers (rows of x); `records` is rearranged in place."""
    m, p = records.shape[0], x.shape[1]
    leaves = 1
    while m > leaves * LEAF:
        leaves *= 2
    nodes = 2 * leaves - 1
    start = np.zeros(nodes, dtype=np.int64)
    stop = np.zeros(nodes, dtype=np.int64)
    stop[0] = m
    for node in range(leaves - 1):
        s, e = start[node], stop[node]
        middle = (s + e) // 2
        select(x, records, s, e, middle, widest(x, records, s, e))
        start[2 * node + 1], stop[2 * node + 1] = s, middle
        start[2 * node + 2], stop[2 * node + 2] = middle, e
    points = np.empty((m, p))
    place = np.empty(x.shape[0], dtype=np.int64)
    leaf = np.empty(m, dtype=np.int64)
    for i in range(m):
        points[i] = x[records[i]]
        place[records[i]] = i
    for node in range(leaves - 1, nodes):
        leaf[start[node] : stop[node]] = node
    tree = Tree(
        points,
        records,
        place,
        leaf,
        start,
        stop,
        np.empty((nodes, p)),
        np.empty((nodes, p)),
        np.empty(nodes, dtype=np.int64),
    )
    for node in range(nodes - 1, -1, -1):
        if node >= leaves - 1:
            fit_leaf(tree, node)
        else:
            fit_parent(tree, node)
    return tree


@jit
def remove(tree: Tree, record: int) -> None:
    """Take one record out of the tree."""
    at = tree.place[record]
    node = tree.leaf[at]
    tree.stop[node] -= 1
    last = tree.stop[node]
    other = tree.record[last]
    tree.points[at] = tree.points[last]
    tree.record[at], tree.place[other] = other, at
    fit_leaf(tree, node)
    while node > 0:
        node = (node - 1) // 2
        fit_parent(tree, node)


@jit
def most(tree: Tree, node: int, q: Floats) -> float:
    """Largest squared distance from q to the box of a node; −1 when the node is empty."""
    if tree.lowest[node] == NONE:
        return -1.0
    total = 0.0
    for c in range(q.shape[0]):
        d = max(q[c] - tree.low[node, c], tree.high[node, c] - q[c])
        total += d * d
    return total


@jit
def least(tree: Tree, node: int, q: Floats) -> float:
    """Smallest squared distance from q to the box of a node; infinite when the node is empty."""
    if tree.lowest[node] == NONE:
        return np.inf
    total = 0.0
    for c in range(q.shape[0]):
        d = max(tree.low[node, c] - q[c], q[c] - tree.high[node, c], 0.0)
        total += d * d
    return total


@jit
def squared(a: Floats, b: Floats) -> float:
    """Squared Euclidean distance."""
    total = 0.0
    for c in range(a.shape[0]):
        d = a[c] - b[c]
        total += d * d
    return total


@jit
def farthest(tree: Tree, q: Floats, nodes: Ints, bounds: Floats) -> int:
    """Record farthest from q, lowest number on ties; `nodes` and `bounds` are scratch stacks."""
    first_leaf = tree.start.shape[0] // 2
    best, winner = -1.0, NONE
    nodes[0], bounds[0], top = 0, most(tree, 0, q), 1
    while top > 0:
        top -= 1
        node, bound = nodes[top], bounds[top]
        if bound < best or (bound == best and tree.lowest[node] > winner):
            continue
        if node >= first_leaf:
            for i in range(tree.start[node], tree.stop[node]):
                d = squared(tree.points[i], q)
                if d > best or (d == best and tree.record[i] < winner):
                    best, winner = d, tree.record[i]
            continue
        a, b = 2 * node + 1, 2 * node + 2
        da, db = most(tree, a, q), most(tree, b, q)
        if da > db or (da == db and tree.lowest[a] < tree.lowest[b]):
            a, b, da, db = b, a, db, da
        nodes[top], bounds[top] = a, da
        nodes[top + 1], bounds[top + 1] = b, db
        top += 2
    return winner


@jit
def nearest(tree: Tree, q: Floats, found: Ints, near: Floats, nodes: Ints, bounds: Floats) -> None:
    """Fill `found` with the records nearest to q by (distance, record number); the rest is scratch."""
    first_leaf = tree.start.shape[0] // 2
    k = found.shape[0]
    found[:] = NONE
    near[:] = np.inf
    nodes[0], bounds[0], top = 0, least(tree, 0, q), 1
    while top > 0:
        top -= 1
        node, bound = nodes[top], bounds[top]
        if bound > near[k - 1] or (bound == near[k - 1] and tree.lowest[node] > found[k - 1]):
            continue
        if node >= first_leaf:
            for i in range(tree.start[node], tree.stop[node]):
                insert(squared(tree.points[i], q), tree.record[i], found, near)
            continue
        a, b = 2 * node + 1, 2 * node + 2
        da, db = least(tree, a, q), least(tree, b, q)
        if da < db or (da == db and tree.lowest[a] < tree.lowest[b]):
            a, b, da, db = b, a, db, da
        nodes[top], bounds[top] = a, da
        nodes[top + 1], bounds[top + 1] = b, db
        top += 2


@jit
def insert(d: float, record: int, found: Ints, near: Floats) -> None:
    """Put (d, record) into the sorted list of the nearest so far, dropping the worst."""
    at = found.shape[0] - 1
    if d > near[at] or (d == near[at] and record > found[at]):
        return
    while at > 0 and (near[at - 1] > d or (near[at - 1] == d and found[at - 1] > record)):
        near[at], found[at] = near[at - 1], found[at - 1]
        at -= 1
    near[at], found[at] = d, record
