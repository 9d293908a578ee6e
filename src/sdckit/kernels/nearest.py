"""Exact nearest records in mixed data: a k-d tree whose boxes know numbers, categories and missing values.

The distance of a query from a record is a sum over variables. Numbers differ by |q−v|^power; categories
(nominal) by far[j] where they differ; a value only the record lacks costs far[j], one only the query lacks
blank[j], and two missing values nothing. NaN is missing. The bounds of a box use the same sums in the same
order as distances; rounding is monotone, so they bound the computed distances and no answer differs from a
full scan. Memory is O(n); time grows like n log n in few dimensions and towards n² in many.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import jit
from sdckit.kernels._threads import by_rows
from sdckit.kernels.kd_tree import select

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

LEAF = 16  # records in a leaf at most
SCAN = 4  # categorical variables from which on counting different categories is faster than the tree
BLOCK = 1024


class Rule(NamedTuple):
    """How far apart two values of each variable are; far and blank are sums' terms, so already powered."""

    nominal: Bools  # (p,)
    far: Floats  # (p,) different categories, or a value the record lacks
    blank: Floats  # (p,) a value only the query lacks
    square: bool  # power 2, else 1
    plain: bool  # numbers only, none missing


class Tree(NamedTuple):
    """A perfect binary heap of nodes: the children of i are 2i+1 and 2i+2, leaves come last."""

    points: Floats  # (n, p) records in tree order
    record: Ints  # (n,) record number at each place
    start: Ints  # (nodes,) first place of a node
    stop: Ints  # (nodes,) one after the last
    low: Floats  # (nodes, p) smallest value present, inf where all are missing
    high: Floats  # (nodes, p)
    gap: Bools  # (nodes, p) whether a value is missing
    rule: Rule


@jit
def build(x: Floats, rule: Rule) -> Tree:
    """The tree of the rows of x: nodes are halved across the variable that spreads most."""
    n, p = x.shape
    leaves = 1
    while n > leaves * LEAF:
        leaves *= 2
    nodes = 2 * leaves - 1
    start, stop = np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
    stop[0] = n
    order = np.arange(n)
    filled = _filled(x)
    for node in range(leaves - 1):
        s, e = start[node], stop[node]
        middle = (s + e) // 2
        select(filled, order, s, e, middle, _widest(filled, order, s, e, rule))
        start[2 * node + 1], stop[2 * node + 1] = s, middle
        start[2 * node + 2], stop[2 * node + 2] = middle, e
    points = x[order]
    low, high = np.full((nodes, p), np.inf), np.full((nodes, p), -np.inf)
    gap = np.zeros((nodes, p), dtype=np.bool_)
    for node in range(nodes - 1, -1, -1):
        if node < leaves - 1:
            a, b = 2 * node + 1, 2 * node + 2
            low[node], high[node] = np.minimum(low[a], low[b]), np.maximum(high[a], high[b])
            gap[node] = gap[a] | gap[b]
            continue
        for i in range(start[node], stop[node]):
            for j in range(p):
                v = points[i, j]
                if np.isnan(v):
                    gap[node, j] = True
                else:
                    low[node, j], high[node, j] = min(low[node, j], v), max(high[node, j], v)
    return Tree(points, order, start, stop, low, high, gap, rule)


@jit
def _filled(x: Floats) -> Floats:
    """x with missing values just below the smallest, so that splits put them together."""
    filled = x.copy()
    for j in range(x.shape[1]):
        least = np.inf
        for v in x[:, j]:
            if v < least:
                least = v
        for i in range(x.shape[0]):
            if np.isnan(x[i, j]):
                filled[i, j] = least - 1.0 if least < np.inf else 0.0
    return filled


@jit
def _widest(x: Floats, order: Ints, start: int, stop: int, rule: Rule) -> int:
    best, column = -1.0, 0
    for j in range(x.shape[1]):
        low = high = x[order[start], j]
        for i in range(start + 1, stop):
            v = x[order[i], j]
            low, high = min(low, v), max(high, v)
        spread = high - low
        if rule.nominal[j]:
            spread = rule.far[j] if spread > 0 else 0.0
        if spread > best:
            best, column = spread, j
    return column


@jit
def distance(q: Floats, v: Floats, rule: Rule, limit: float) -> float:
    """The sum over variables, given up where it exceeds `limit`."""
    total = 0.0
    if rule.plain:
        for j in range(q.shape[0]):
            d = q[j] - v[j]
            total += d * d if rule.square else abs(d)
        return total
    for j in range(q.shape[0]):
        if np.isnan(q[j]):
            total += 0.0 if np.isnan(v[j]) else rule.blank[j]
        elif np.isnan(v[j]):
            total += rule.far[j]
        elif rule.nominal[j]:
            total += 0.0 if q[j] == v[j] else rule.far[j]
        else:
            d = q[j] - v[j]
            total += d * d if rule.square else abs(d)
        if total > limit:
            return total
    return total


@jit
def own_distances(x: Floats, queries: Floats, rule: Rule) -> Floats:
    """The distance of each query from the record in the same row of x."""
    return np.array([distance(queries[i], x[i], rule, np.inf) for i in range(x.shape[0])])


@jit
def _nearest_in_box(q: Floats, tree: Tree, node: int, limit: float) -> float:
    """A lower bound of the distances to the records of a node."""
    rule, total = tree.rule, 0.0
    for j in range(q.shape[0]):
        low, high = tree.low[node, j], tree.high[node, j]
        if rule.plain or not (np.isnan(q[j]) or rule.nominal[j] or tree.gap[node, j]):
            d = max(low - q[j], q[j] - high, 0.0)
            total += d * d if rule.square else d
        elif np.isnan(q[j]):
            total += 0.0 if tree.gap[node, j] else rule.blank[j]
        elif rule.nominal[j]:
            total += 0.0 if low <= q[j] <= high else rule.far[j]
        else:
            d = max(low - q[j], q[j] - high, 0.0)
            total += min(rule.far[j], d * d if rule.square else d)
        if total > limit:
            return total
    return total


@jit
def _farthest_in_box(q: Floats, tree: Tree, node: int) -> float:
    """An upper bound of the distances to the records of a node."""
    rule, total = tree.rule, 0.0
    for j in range(q.shape[0]):
        low, high = tree.low[node, j], tree.high[node, j]
        present, gap = low <= high, tree.gap[node, j]
        if np.isnan(q[j]):
            total += rule.blank[j] if present else 0.0
        elif rule.nominal[j]:
            total += 0.0 if low == q[j] and high == q[j] and not gap else rule.far[j]
        else:
            most = 0.0
            if present:
                d = max(abs(q[j] - low), abs(q[j] - high))
                most = d * d if rule.square else d
            total += max(most, rule.far[j]) if gap else most
    return total


def count_nearer(tree: Tree, queries: Floats, least: Floats, most: Floats, enough: int) -> tuple[Ints, Ints]:
    """For each query the number of records nearer than `least`, and of those not farther than `most`.

    Counting ends with the first `enough` records that are nearer; the second number is then not complete.
    """
    nearer, within = by_rows(lambda q, a, z: _count_nearer(tree, q, a, z, enough), queries, least, most)
    return nearer, within


@jit
def _count_nearer(tree: Tree, queries: Floats, least: Floats, most: Floats, enough: int) -> tuple[Ints, Ints]:
    nearer = np.zeros(queries.shape[0], dtype=np.int64)
    within = np.zeros(queries.shape[0], dtype=np.int64)
    stack, bound = np.empty(128, dtype=np.int64), np.empty(128)
    first_leaf = tree.start.shape[0] // 2
    for i in range(queries.shape[0]):
        q, top = queries[i], 1
        stack[0], bound[0] = 0, _nearest_in_box(q, tree, 0, most[i])
        while top and nearer[i] < enough:
            top -= 1
            node, low = stack[top], bound[top]
            if low > most[i]:
                continue
            size = tree.stop[node] - tree.start[node]
            high = _farthest_in_box(q, tree, node)
            if high < least[i]:
                nearer[i] += size
                within[i] += size
            elif low >= least[i] and high <= most[i]:
                within[i] += size
            elif node < first_leaf:
                _push_children(q, tree, node, most[i], stack, bound, top)
                top += 2
            else:
                for place in range(tree.start[node], tree.stop[node]):
                    d = distance(q, tree.points[place], tree.rule, most[i])
                    nearer[i] += d < least[i]
                    within[i] += d <= most[i]
        nearer[i] = min(nearer[i], enough)
    return nearer, within


@jit
def _push_children(
    q: Floats, tree: Tree, node: int, limit: float, stack: Ints, bound: Floats, top: int
) -> None:
    """Put both children on the stack, the nearer one last, so that it comes first."""
    near, other = 2 * node + 1, 2 * node + 2
    a, b = _nearest_in_box(q, tree, near, limit), _nearest_in_box(q, tree, other, limit)
    if b < a:
        near, other, a, b = other, near, b, a
    stack[top], bound[top] = other, b
    stack[top + 1], bound[top + 1] = near, a


def two_nearest(tree: Tree, queries: Floats, own: Ints) -> tuple[Floats, Floats]:
    """The distances to the nearest and second nearest record; inf where there is none.

    own: for each query a record number that does not count (itself, in its own file), or −1.
    """
    nominal = tree.rule.nominal
    if nominal.sum() >= SCAN and (tree.rule.far[nominal] >= 1).all():
        categories = _bytes(tree.points[:, nominal])
        first, second = by_rows(lambda q, self: _two_by_scan(tree, categories, q, self), queries, own)
    else:
        first, second = by_rows(lambda q, self: _two_nearest(tree, q, self), queries, own)
    return first, second


@jit
def _two_nearest(tree: Tree, queries: Floats, own: Ints) -> tuple[Floats, Floats]:
    first = np.full(queries.shape[0], np.inf)
    second = np.full(queries.shape[0], np.inf)
    stack, bound = np.empty(128, dtype=np.int64), np.empty(128)
    first_leaf = tree.start.shape[0] // 2
    for i in range(queries.shape[0]):
        q, top = queries[i], 1
        stack[0], bound[0] = 0, 0.0
        while top:
            top -= 1
            node = stack[top]
            if bound[top] >= second[i]:
                continue
            if node < first_leaf:
                _push_children(q, tree, node, second[i], stack, bound, top)
                top += 2
                continue
            for place in range(tree.start[node], tree.stop[node]):
                if tree.record[place] == own[i]:
                    continue
                d = distance(q, tree.points[place], tree.rule, second[i])
                if d < first[i]:
                    first[i], second[i] = d, first[i]
                elif d < second[i]:
                    second[i] = d
    return first, second


def _bytes(x: Floats) -> npt.NDArray[np.uint8]:
    """Categories 1, 2, … as bytes, one row a variable, missing 0; from the 256th on some are the same."""
    return np.ascontiguousarray(np.nan_to_num(x).astype(np.int64).astype(np.uint8).T)


@jit
def _two_by_scan(
    tree: Tree, categories: npt.NDArray[np.uint8], queries: Floats, own: Ints
) -> tuple[Floats, Floats]:
    """As `_two_nearest`: all records, but a distance only where few enough categories differ.

    Different categories are at least 1 apart, so a distance is never below the number of them.
    """
    rule = tree.rule
    nominal = np.flatnonzero(rule.nominal)
    first = np.full(queries.shape[0], np.inf)
    second = np.full(queries.shape[0], np.inf)
    differ = np.empty(BLOCK, dtype=np.uint8)
    n = tree.points.shape[0]
    for i in range(queries.shape[0]):
        q = queries[i]
        for start in range(0, n, BLOCK):
            size = min(BLOCK, n - start)
            differ[:] = 0
            for k in range(nominal.shape[0]):
                v = q[nominal[k]]
                if np.isnan(v) and rule.blank[nominal[k]] < 1.0:
                    continue
                code = np.uint8(0 if np.isnan(v) else np.int64(v) & 255)
                _count_different(differ, categories[k, start : start + size], code)
            for offset in range(size):
                if differ[offset] > second[i] or tree.record[start + offset] == own[i]:
                    continue
                d = distance(q, tree.points[start + offset], rule, second[i])
                if d < first[i]:
                    first[i], second[i] = d, first[i]
                elif d < second[i]:
                    second[i] = d
    return first, second


@jit
def _count_different(differ: npt.NDArray[np.uint8], column: npt.NDArray[np.uint8], code: np.uint8) -> None:
    """A function of its own, with plain indices, so that it becomes vector code."""
    for i in range(column.shape[0]):
        differ[i] += column[i] != code
