"""Groups of similar values of one column: consecutive ranks, individual ranking, the optimal partition."""

import math

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit.kernels._jit import jit


def rank_groups(n: int, share: float, least: int) -> Ints:
    """Group label (0, 1, …) of each of n ranks: ranks i and j of a group have |i−j|/n < share.

    As few groups as that allows, sizes at most one apart. Groups have `least` ranks or more, even where
    `share` must then be exceeded; one group where n < 2·least.
    """
    largest = math.ceil(share * n - 1e-9)  # 0.07 · 100 is a little above 7 in floating point
    groups = min(math.ceil(n / max(largest, 1)), max(n // least, 1))
    return np.arange(n, dtype=np.int64) * groups // max(n, 1)


def individual_ranking(column: Floats, k: int) -> Ints:
    """Group label of each value: consecutive groups of k in sorted order, the last one takes the remainder.

    Sizes are k, the last k to 2k−1 (one group when n < 2k). Equal values keep their order of appearance.
    """
    n = len(column)
    labels = np.empty(n, dtype=np.int64)
    labels[np.argsort(column, kind="stable")] = np.minimum(np.arange(n) // k, max(n // k - 1, 0))
    return labels


def optimal_univariate(column: Floats, k: int) -> Ints:
    """Group label of each value in the partition into groups of at least k with the least sum of squares.

    Optimal groups are consecutive in sorted order and have k to 2k−1 values, so a dynamic programme over the
    sorted values finds them in O(nk) (one group when n < 2k).

    Reference: Hansen & Mukherjee (2003), IEEE Transactions on Knowledge and Data Engineering 15(4).
    """
    order = np.argsort(column, kind="stable")
    labels = np.empty(len(column), dtype=np.int64)
    labels[order] = shortest_path(np.asarray(column, dtype=np.float64)[order], k)
    return labels


@jit
def shortest_path(v: Floats, k: int) -> Ints:
    """Labels of the optimal groups of the ascending values v."""
    n = v.shape[0]
    labels = np.zeros(n, dtype=np.int64)
    if n < 2 * k:
        return labels
    best = np.full(n + 1, np.inf)  # least sum of squares of the first j values
    best[0] = 0.0
    last = np.zeros(n + 1, dtype=np.int64)  # size of the last group of that partition
    for j in range(k, n + 1):
        mean, loss = 0.0, 0.0
        for size in range(1, min(2 * k - 1, j) + 1):
            # adding one value at a time avoids the cancellation of sums of squares
            d = v[j - size] - mean
            mean += d / size
            loss += d * (v[j - size] - mean)
            if size >= k and best[j - size] + loss < best[j]:
                best[j], last[j] = best[j - size] + loss, size
    j, label = n, 0
    while j > 0:
        labels[j - last[j] : j] = label
        label += 1
        j -= last[j]
    return label - 1 - labels
