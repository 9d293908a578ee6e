"""How many points of a group lie in a box, or an ellipsoid, around each target of the same group.

Small groups are scanned. In large ones a k-d tree counts whole nodes that lie inside and drops those outside,
so that one huge group with wide windows is not quadratic. Both use the same rounded differences, and rounding
is monotone, so no answer differs from a full scan.
"""

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import jit
from sdckit.kernels.kd_tree import Tree, build

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

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

    def work(part: int) -> Ints:
        first, last = cuts[part], cuts[part + 1]
        start = np.clip(x_start, first, last) - first
        return count_sorted(x[first:last], width[first:last], start, y, y_start, ellipsoid)

    counts = np.zeros(len(x), dtype=np.int64)
    with ThreadPoolExecutor(threads) as pool:
        counts[order] = np.concatenate(list(pool.map(work, range(threads))))
    return counts


@jit
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
def pairs_in_window(x: Floats, width: Floats, y: Floats, ellipsoid: bool) -> Bools:
    """Row by row, whether y lies in the window around x."""
    inside = np.empty(x.shape[0], dtype=np.bool_)
    for i in range(x.shape[0]):
        inside[i] = in_window(x[i], width[i], y[i], ellipsoid)
    return inside


@jit
def count_sorted(x: Floats, widths: Floats, x_start: Ints, y: Floats, y_start: Ints, ellipsoid: bool) -> Ints:
    """As count_in_windows, for targets and points sorted by group; group g starts at start[g]."""
    counts = np.zeros(x.shape[0], dtype=np.int64)
    stack = np.empty(DEPTH, dtype=np.int64)
    for group in range(y_start.shape[0] - 1):
        first, last = y_start[group], y_start[group + 1]
        if x_start[group] == x_start[group + 1]:
            continue
        if last - first <= SCANNED:
            for i in range(x_start[group], x_start[group + 1]):
                for j in range(first, last):
                    counts[i] += in_window(x[i], widths[i], y[j], ellipsoid)
        else:
            tree = build(y[first:last], np.arange(last - first))
            for i in range(x_start[group], x_start[group + 1]):
                counts[i] = count_in_tree(tree, x[i], widths[i], ellipsoid, stack)
    return counts


@jit
def count_in_tree(tree: Tree, x: Floats, width: Floats, ellipsoid: bool, stack: Ints) -> int:
    """Points of the tree in the window around x."""
    first_leaf = tree.start.shape[0] // 2
    total = 0
    stack[0], top = 0, 1
    while top > 0:
        top -= 1
        node = stack[top]
        place = where(tree, node, x, width, ellipsoid)
        if place > 0:
            total += tree.stop[node] - tree.start[node]
        elif place == 0 and node >= first_leaf:
            for i in range(tree.start[node], tree.stop[node]):
                total += in_window(x, width, tree.points[i], ellipsoid)
        elif place == 0:
            stack[top], stack[top + 1] = 2 * node + 1, 2 * node + 2
            top += 2
    return total


@jit
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
