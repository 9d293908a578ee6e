"""A k-d tree that forgets records: farthest and nearest queries among the records still left.

The tree is a perfect binary heap of nodes (children of i are 2i+1 and 2i+2). A node keeps the box around its
remaining records and their lowest record number, so equal distances are settled by the lowest number without
visiting all ties. Boxes shrink as records leave. Bounds use the same sums in the same order as distances;
rounding is monotone, so they bound the computed distances exactly and no answer differs from a full scan.
"""

from typing import NamedTuple

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit.kernels._jit import inner, jit

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


class Scratch(NamedTuple):
    """What a query needs; of the nearest k records the best so far, and a stack."""

    found: Ints  # (k,)
    near: Floats  # (k,)
    nodes: Ints
    bounds: Floats


def scratch(k: int) -> Scratch:
    """For queries of k records; two entries a level are enough for a depth-first walk."""
    return Scratch(np.empty(k, dtype=np.int64), np.empty(k), np.empty(130, dtype=np.int64), np.empty(130))


def build(x: Floats, records: Ints) -> Tree:
    """Tree over the given record numbers (rows of x), which are rearranged in place."""
    start, stop = halved(x, records, LEAF, np.zeros(x.shape[1]))
    points, leaves = x[records], len(start) // 2
    place = np.empty(len(x), dtype=np.int64)
    place[records] = np.arange(len(records))
    leaf = np.repeat(np.arange(leaves, len(start)), (stop - start)[leaves:])
    low, high = over_nodes(np.minimum, points, start), over_nodes(np.maximum, points, start)
    return Tree(points, records, place, leaf, start, stop, low, high, over_nodes(np.minimum, records, start))


def halved(x: Floats, records: Ints, leaf: int, step: Floats) -> tuple[Ints, Ints]:
    """Rearrange records into nodes of a heap, the last of at most `leaf` records: starts and stops of nodes.

    Nodes are halved across the column that spreads most; where step[j] > 0 any spread of column j is that.
    """
    leaves = 1
    while len(records) > leaves * leaf:
        leaves *= 2
    start = np.zeros(2 * leaves - 1, dtype=np.int64)
    stop = np.full(2 * leaves - 1, len(records))
    if leaves > 1:
        _halve_all(x[records], records, step, start, stop)  # what is near in the order is near in memory
    return start, stop


def over_nodes(reduce: np.ufunc, places: np.ndarray, start: Ints) -> np.ndarray:
    """For each node of a heap the minimum, say, of what its places hold; leaves must not be empty."""
    leaves = len(start) // 2
    out = np.empty((len(start), *places.shape[1:]), dtype=places.dtype)
    out[leaves:] = reduce.reduceat(places, start[leaves:], axis=0)
    from_leaves(reduce, out)
    return out


def from_leaves(reduce: np.ufunc, nodes: np.ndarray) -> None:
    """Fill what inner nodes of a heap have, the minimum, say, of what their leaves have."""
    leaves = len(nodes) // 2
    while leaves:
        parents = leaves // 2
        children = nodes[leaves : 2 * leaves + 1]
        nodes[parents:leaves] = reduce(children[::2], children[1::2])
        leaves = parents


@jit
def _halve_all(points: Floats, records: Ints, step: Floats, start: Ints, stop: Ints) -> None:
    for node in range(start.shape[0] // 2):
        middle = halve(points, records, start[node], stop[node], step)
        start[2 * node + 1], stop[2 * node + 1] = start[node], middle
        start[2 * node + 2], stop[2 * node + 2] = middle, stop[node]


@jit
def halve(points: Floats, records: Ints, start: int, stop: int, step: Floats) -> int:
    """Rearrange places start to stop so that the widest column is ≤ before the middle and ≥ from it on.

    `points` has the rows of `records`, and both are rearranged.
    """
    best, column = -1.0, 0
    for c in range(points.shape[1]):
        low = high = points[start, c]
        for i in range(start + 1, stop):
            low = min(low, points[i, c])
            high = max(high, points[i, c])
        spread = step[c] if step[c] > 0.0 and high > low else high - low
        if spread > best:
            best, column = spread, c
    middle = (start + stop) // 2
    left, right = start, stop - 1
    while left < right:
        pivot = points[(left + right) // 2, column]
        i, j = left, right
        while i <= j:
            while points[i, column] < pivot:
                i += 1
            while points[j, column] > pivot:
                j -= 1
            if i <= j:
                records[i], records[j] = records[j], records[i]
                for c in range(points.shape[1]):
                    points[i, c], points[j, c] = points[j, c], points[i, c]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            break
    return middle


@inner
def remove(tree: Tree, record: int) -> None:
    """Take one record out of the tree; boxes and lowest numbers above it are made anew."""
    at, p = tree.place[record], tree.points.shape[1]
    node = tree.leaf[at]
    tree.stop[node] -= 1
    last = tree.stop[node]
    other = tree.record[last]
    tree.record[at], tree.place[other] = other, at
    tree.lowest[node] = NONE
    for c in range(p):
        tree.points[at, c] = tree.points[last, c]
        tree.low[node, c], tree.high[node, c] = np.inf, -np.inf
    for i in range(tree.start[node], last):
        tree.lowest[node] = min(tree.lowest[node], tree.record[i])
        for c in range(p):
            tree.low[node, c] = min(tree.low[node, c], tree.points[i, c])
            tree.high[node, c] = max(tree.high[node, c], tree.points[i, c])
    while node > 0:
        node = (node - 1) // 2
        a, b = 2 * node + 1, 2 * node + 2
        tree.lowest[node] = min(tree.lowest[a], tree.lowest[b])
        for c in range(p):
            tree.low[node, c] = min(tree.low[a, c], tree.low[b, c])
            tree.high[node, c] = max(tree.high[a, c], tree.high[b, c])


@inner
def _bound(tree: Tree, node: int, q: Floats, far: bool) -> float:
    """The smallest squared distance from q to the box of a node, or less the largest; infinite when empty."""
    if tree.lowest[node] == NONE:
        return np.inf
    total = 0.0
    for c in range(q.shape[0]):
        below, above = tree.low[node, c] - q[c], q[c] - tree.high[node, c]
        d = max(-below, -above) if far else max(below, above, 0.0)
        total += d * d
    return -total if far else total


@inner
def search(tree: Tree, q: Floats, far: bool, k: int, work: Scratch) -> int:
    """The record nearest to q, or farthest from it, and k of them in `work.found`; lowest numbers on ties.

    Farthest is nearest by distances less than zero: the largest one comes first. `far` is a literal where
    this is called, so that each way is compiled on its own: MDAV is then 2.7 times as fast.
    """
    found, near, nodes, bounds = work.found, work.near, work.nodes, work.bounds
    for i in range(k):
        found[i], near[i] = NONE, np.inf
    nodes[0], bounds[0], top = 0, -np.inf, 1
    while top > 0:
        top -= 1
        node, bound = nodes[top], bounds[top]
        if bound > near[k - 1] or (bound == near[k - 1] and tree.lowest[node] > found[k - 1]):
            continue
        if node < tree.start.shape[0] // 2:
            a, b = 2 * node + 1, 2 * node + 2
            da, db = _bound(tree, a, q, far), _bound(tree, b, q, far)
            if da < db or (da == db and tree.lowest[a] < tree.lowest[b]):
                a, b, da, db = b, a, db, da
            nodes[top], bounds[top] = a, da
            nodes[top + 1], bounds[top + 1] = b, db
            top += 2
            continue
        for i in range(tree.start[node], tree.stop[node]):
            d, record = 0.0, tree.record[i]
            for c in range(q.shape[0]):
                d += (tree.points[i, c] - q[c]) * (tree.points[i, c] - q[c])
            d = -d if far else d
            at = k - 1
            if d > near[at] or (d == near[at] and record > found[at]):
                continue
            while at > 0 and (near[at - 1] > d or (near[at - 1] == d and found[at - 1] > record)):
                near[at], found[at] = near[at - 1], found[at - 1]
                at -= 1
            near[at], found[at] = d, record
    return int(found[0])
