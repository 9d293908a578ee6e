"""Exact nearest records in mixed data: a k-d tree whose boxes know numbers, categories and missing values.

The distance of a query from a record is a sum over variables. Numbers differ by |q−v|^power; categories
(nominal) by far[j] where they differ; a value only the record lacks costs far[j], one only the query lacks
blank[j], and two missing values nothing. NaN is missing. The bounds of a box use the same sums in the same
order as distances; rounding is monotone, so they bound the computed distances and no answer differs from a
full scan. Memory is O(n); time grows like n log n in few dimensions and towards n² in many.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.kernels._jit import inner, jit
from sdckit.kernels._threads import by_rows
from sdckit.kernels.kd_tree import halved, over_nodes

LEAF = 16  # records in a leaf at most
SMALL = 2_000  # records not worth a tree
PAIRS = 4_000_000  # of queries and records, up to which all distances of few records are worked out
SCAN = 4  # categorical variables from which on counting different categories is faster than the tree
BLOCK = 1024
CLOSE = 40_000  # distances worked out together


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


def build(x: Floats, rule: Rule) -> Tree:
    """The tree of the rows of x: nodes are halved across the variable that spreads most."""
    order = np.arange(len(x))
    missing = np.isnan(x)
    # missing values just below the smallest, so that splits put them together
    least = np.where(missing, np.inf, x).min(axis=0, initial=np.inf)
    filled = np.where(missing, np.where(np.isfinite(least), least - 1.0, 0.0), x)
    leaf = max(len(x), 1) if len(x) <= SMALL else LEAF
    start, stop = halved(filled, order, leaf, np.where(rule.nominal, rule.far, 0.0))
    points = x[order]
    if not len(x):
        empty = np.full((1, x.shape[1]), np.inf)
        return Tree(points, order, start, stop, empty, -empty, empty < 0, rule)
    low = over_nodes(np.minimum, np.where(missing, np.inf, x)[order], start)
    high = over_nodes(np.maximum, np.where(missing, -np.inf, x)[order], start)
    return Tree(points, order, start, stop, low, high, over_nodes(np.logical_or, missing[order], start), rule)


def _sums(q: Floats, v: Floats, rule: Rule) -> Floats:
    """As `distance`, of queries [..., p] from records [..., p]."""
    total = np.zeros(np.broadcast_shapes(q.shape[:-1], v.shape[:-1]))
    for j, (far, blank) in enumerate(zip(rule.far, rule.blank, strict=True)):
        a, b = q[..., j], v[..., j]
        if rule.nominal[j]:
            term = np.where(a == b, 0.0, far)
        else:
            term = (a - b) ** 2 if rule.square else np.abs(a - b)
        if not rule.plain and (np.isnan(a).any() or np.isnan(b).any()):
            term = np.where(np.isnan(b), far, term)
            term = np.where(np.isnan(a), np.where(np.isnan(b), 0.0, blank), term)
        total += term
    return total


def _pieces(queries: Floats, records: Floats) -> Iterator[slice]:
    """Queries whose distances fit into the memory near the processor; none where there are no records."""
    if len(records):
        size = max(CLOSE // len(records), 1)
        yield from (slice(start, start + size) for start in range(0, len(queries), size))


def own_distances(x: Floats, queries: Floats, rule: Rule) -> Floats:
    """The distance of each query from the record in the same row of x."""
    return _sums(queries, x, rule)


def _few(tree: Tree, queries: Floats) -> bool:
    return len(tree.start) == 1 and len(queries) * len(tree.points) <= PAIRS


@inner
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


@inner
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


@inner
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
    if _few(tree, queries):
        counts = np.zeros((2, len(queries)), dtype=np.int64)
        for some in _pieces(queries, tree.points):
            apart = _sums(queries[some, None], tree.points, tree.rule)
            counts[0, some] = (apart < least[some, None]).sum(axis=1)
            counts[1, some] = (apart <= most[some, None]).sum(axis=1)
        return np.minimum(counts[0], enough), counts[1]

    def work(q: Floats, a: Floats, z: Floats) -> tuple[Ints, Ints]:
        counts = np.zeros((2, len(q)), dtype=np.int64)
        _count_nearer(tree, q, a, z, enough, counts, np.empty(128, dtype=np.int64), np.empty(128))
        return counts[0], counts[1]

    nearer, within = by_rows(work, queries, least, most)
    return nearer, within


@jit
def _count_nearer(
    tree: Tree,
    queries: Floats,
    least: Floats,
    most: Floats,
    enough: int,
    counts: Ints,
    stack: Ints,
    bound: Floats,
) -> None:
    """Fill counts (2, queries) with both numbers; stack and bound are scratch."""
    nearer, within = counts[0], counts[1]
    first_leaf = tree.start.shape[0] // 2
    for i in range(queries.shape[0]):
        q, top = queries[i], 1
        stack[0], bound[0] = 0, -np.inf
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


@inner
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
    if _few(tree, queries):
        two = np.full((2, len(queries)), np.inf)
        for some in _pieces(queries, tree.points):
            apart = _sums(queries[some, None], tree.points, tree.rule)
            apart[own[some, None] == tree.record] = np.inf
            two[0, some] = apart.min(axis=1, initial=np.inf)
            apart[np.arange(len(apart)), apart.argmin(axis=1)] = np.inf
            two[1, some] = apart.min(axis=1, initial=np.inf)
        return two[0], two[1]
    nominal = np.flatnonzero(tree.rule.nominal)
    scan = len(nominal) >= SCAN and bool((tree.rule.far[nominal] >= 1).all())
    categories = _bytes(tree.points[:, nominal])

    def work(q: Floats, self: Ints) -> tuple[Floats, Floats]:
        two = np.full((2, len(q)), np.inf)
        if scan:
            _two_by_scan(tree, categories, nominal, q, self, two, np.empty(BLOCK, dtype=np.uint8))
        else:
            _two_nearest(tree, q, self, two, np.empty(128, dtype=np.int64), np.empty(128))
        return two[0], two[1]

    first, second = by_rows(work, queries, own)
    return first, second


@jit
def _two_nearest(tree: Tree, queries: Floats, own: Ints, two: Floats, stack: Ints, bound: Floats) -> None:
    """Fill two (2, queries) with both distances; stack and bound are scratch."""
    first, second = two[0], two[1]
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


def _bytes(x: Floats) -> npt.NDArray[np.uint8]:
    """Categories 1, 2, … as bytes, one row a variable, missing 0; from the 256th on some are the same."""
    return np.ascontiguousarray(np.nan_to_num(x).astype(np.int64).astype(np.uint8).T)


@jit
def _two_by_scan(
    tree: Tree,
    categories: npt.NDArray[np.uint8],
    nominal: Ints,
    queries: Floats,
    own: Ints,
    two: Floats,
    differ: npt.NDArray[np.uint8],
) -> None:
    """As `_two_nearest`: all records, but a distance only where few enough categories differ.

    Different categories are at least 1 apart, so a distance is never below the number of them.
    """
    rule, first, second = tree.rule, two[0], two[1]
    n = tree.points.shape[0]
    for i in range(queries.shape[0]):
        q = queries[i]
        for start in range(0, n, BLOCK):
            size = min(BLOCK, n - start)
            for offset in range(size):
                differ[offset] = 0
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


@inner
def _count_different(differ: npt.NDArray[np.uint8], column: npt.NDArray[np.uint8], code: np.uint8) -> None:
    """A function of its own, with plain indices, so that it becomes vector code."""
    for i in range(column.shape[0]):
        differ[i] += column[i] != code
