"""Trees of many batches of records: where nodes are cut is learned once, from a few records.

Halving a batch of records anew takes longer than all that a few thousand queries ask of it. Here a record
walks down cuts that are known beforehand, and only boxes are made of each batch. They bound exactly what the
batch has, so counts are the same; nodes are halves only as far as batches look like the records of the cuts.
"""

from typing import NamedTuple

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit.kernels._jit import jit
from sdckit.kernels.kd_tree import from_leaves, halved
from sdckit.kernels.nearest import Rule, Tree


class Cuts(NamedTuple):
    """Of each inner node of a heap the column that is cut, and the least value of the second child."""

    column: Ints
    at: Floats


def cuts_of(x: Floats, leaf: int) -> Cuts:
    """Where the rows of x are halved until a leaf has at most `leaf` of them; missing values are low."""
    missing = np.isnan(x)
    least = np.where(missing, np.inf, x).min(axis=0, initial=np.inf)
    filled = np.where(missing, np.where(np.isfinite(least), least - 1.0, 0.0), x)
    order = np.arange(len(x))
    start, stop = halved(filled, order, leaf if x.shape[1] else len(x), np.zeros(x.shape[1]))
    inner = len(start) // 2
    column, at = np.zeros(inner, dtype=np.int64), np.zeros(inner)
    for node in range(inner):
        rows = filled[order[start[node] : stop[node]]]
        column[node] = np.ptp(rows, axis=0).argmax()
        at[node] = filled[order[start[2 * node + 2] : stop[node]], column[node]].min()
    return Cuts(column, at)


def build_by(cuts: Cuts, x: Floats, rule: Rule) -> Tree:
    """The tree of the rows of x by cuts that are known; leaves may be empty."""
    nodes = 2 * len(cuts.column) + 1
    start, stop = np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
    low, high = np.full((nodes, x.shape[1]), np.inf), np.full((nodes, x.shape[1]), -np.inf)
    tree = Tree(
        np.empty_like(x), np.empty(len(x), dtype=np.int64), start, stop, low, high,
        np.zeros(low.shape, dtype=np.bool_), rule,
    )  # fmt: skip
    _sort_into_leaves(x, cuts.column, cuts.at, tree)
    from_leaves(np.minimum, low)
    from_leaves(np.maximum, high)
    from_leaves(np.logical_or, tree.gap)
    return tree


@jit
def _sort_into_leaves(x: Floats, column: Ints, at: Floats, tree: Tree) -> None:
    """Fill records and points by leaves, the boxes of leaves, and where nodes begin and end."""
    inner, start, stop = column.shape[0], tree.start, tree.stop
    leaf = np.empty(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        node = 0
        while node < inner:
            node = 2 * node + 1 + (x[i, column[node]] >= at[node])
        leaf[i] = node
        stop[node] += 1
    place = 0
    for node in range(inner, start.shape[0]):
        start[node] = place
        place += stop[node]
        stop[node] = start[node]
    for i in range(x.shape[0]):
        node, place = leaf[i], stop[leaf[i]]
        stop[node] += 1
        tree.record[place] = i
        for c in range(x.shape[1]):
            value = x[i, c]
            tree.points[place, c] = value
            if np.isnan(value):
                tree.gap[node, c] = True
            else:
                tree.low[node, c] = min(tree.low[node, c], value)
                tree.high[node, c] = max(tree.high[node, c], value)
    for node in range(inner - 1, -1, -1):
        start[node], stop[node] = start[2 * node + 1], stop[2 * node + 2]
