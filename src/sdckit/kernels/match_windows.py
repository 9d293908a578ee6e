"""How many points of a group lie in a box, or an ellipsoid, around each target of the same group.

Small groups are scanned. In large ones a k-d tree counts whole nodes that lie inside and drops those outside,
so that one huge group with wide windows is not quadratic. Both use the same rounded differences, and rounding
is monotone, so no answer differs from a full scan.
"""

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.kernels._jit import inner, jit
from sdckit.kernels.kd_tree import Tree, build

SCANNED = 64  # points up to which a group is not worth a tree
DEPTH = 64
THREADED = 30_000  # targets from which on threads are worth starting


def count_in_windows(
    targets: Floats, widths: Floats, target_group: Ints, points: Floats, point_group: Ints, *, ellipsoid: bool
) -> Ints:
    """Points [m, p] in the window of half-widths [n, p] around each target [n, p] of the same group.

    Closed: |y−x| ≤ w in every column, or Σ((y−x)/w)² ≤ 1. Groups are 0, 1, …; a target of group −1 has none.
    """
    limits = np.arange(int(point_group.max(initial=-1)) + 2)
    order = np.lexsort((targets[:, 0], target_group))  # neighbours in a row: the tree stays in the cache
    by_group = np.argsort(point_group, kind="stable")
    x, width, y = targets[order], widths[order], points[by_group]
    x_start = np.searchsorted(target_group[order], limits)
    y_start = np.searchsorted(point_group[by_group], limits)
    threads = min(numba.get_num_threads(), 4) if len(x) >= THREADED else 1
    cuts = np.linspace(0, len(x), threads + 1).astype(np.int64)

    sorted_counts, counts = np.zeros(len(x), dtype=np.int64), np.zeros(len(x), dtype=np.int64)

    def work(part: int) -> None:
        start = np.clip(x_start, cuts[part], cuts[part + 1])
        _scan_groups(x, width, start, y, y_start, ellipsoid, sorted_counts)
        for group in np.flatnonzero((np.diff(y_start) > SCANNED) & (np.diff(start) > 0)):
            tree = build(
                y[y_start[group] : y_start[group + 1]], np.arange(y_start[group + 1] - y_start[group])
            )
            stack = np.empty(DEPTH, dtype=np.int64)
            _count_in_tree(tree, x, width, start[group], start[group + 1], ellipsoid, stack, sorted_counts)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
    counts[order] = sorted_counts
    return counts


def pairs_in_window(x: Floats, width: Floats, y: Floats, ellipsoid: bool) -> Bools:
    """Row by row, whether y lies in the window around x."""
    apart = np.abs(y - x)
    inside = np.asarray((apart <= width).all(axis=1))
    if ellipsoid:
        share = np.divide(apart, width, out=np.zeros_like(apart), where=width > 0)
        inside &= np.cumsum(share**2, axis=1)[:, -1] <= 1
    return inside


@inner
def in_window(x: Floats, width: Floats, y: Floats, ellipsoid: bool) -> bool:
    """Whether y lies in the window around x."""
    total = 0.0
    for c in range(x.shape[0]):
        d = abs(y[c] - x[c])
        if not d <= width[c]:
            return False
        if ellipsoid and d > 0:
            total += (d / width[c]) ** 2
    return total <= 1


@jit
def _scan_groups(
    x: Floats, widths: Floats, x_start: Ints, y: Floats, y_start: Ints, ellipsoid: bool, counts: Ints
) -> None:
    """Count for the targets of small groups; targets and points are sorted, group g starts at start[g]."""
    for group in range(y_start.shape[0] - 1):
        if y_start[group + 1] - y_start[group] <= SCANNED:
            for i in range(x_start[group], x_start[group + 1]):
                for j in range(y_start[group], y_start[group + 1]):
                    counts[i] += in_window(x[i], widths[i], y[j], ellipsoid)


@jit
def _count_in_tree(
    tree: Tree, x: Floats, widths: Floats, first: int, last: int, ellipsoid: bool, stack: Ints, counts: Ints
) -> None:
    """Count the points of the tree in the windows around targets first … last−1."""
    for target in range(first, last):
        stack[0], top = 0, 1
        while top > 0:
            top -= 1
            node = stack[top]
            place = where(tree, node, x[target], widths[target], ellipsoid)
            if place > 0:
                counts[target] += tree.stop[node] - tree.start[node]
            elif place == 0 and node >= tree.start.shape[0] // 2:
                for i in range(tree.start[node], tree.stop[node]):
                    counts[target] += in_window(x[target], widths[target], tree.points[i], ellipsoid)
            elif place == 0:
                stack[top], stack[top + 1] = 2 * node + 1, 2 * node + 2
                top += 2


@inner
def where(tree: Tree, node: int, x: Floats, width: Floats, ellipsoid: bool) -> int:
    """Where a node lies: 1 inside the window, −1 outside, 0 neither for certain."""
    near = far = 0.0
    inside = True
    for c in range(x.shape[0]):
        low, high = tree.low[node, c] - x[c], tree.high[node, c] - x[c]
        close, wide = max(low, -high, 0.0), max(-low, high)
        if close > width[c]:
            return -1
        inside = inside and wide <= width[c]
        if ellipsoid and width[c] > 0:
            near += (close / width[c]) ** 2
            far += (wide / width[c]) ** 2
    if ellipsoid and near > 1:
        return -1
    return 1 if inside and (not ellipsoid or far <= 1) else 0
