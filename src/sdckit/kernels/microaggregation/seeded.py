"""Groups of k similar records around records taken in a given order."""

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit.kernels._jit import jit
from sdckit.kernels.kd_tree import Scratch, Tree, build, scratch
from sdckit.kernels.microaggregation.mdav import SCANNED, nearest_places, squared_distances, take


def ordered_groups(x: Floats, order: Ints, k: int) -> Ints:
    """Group label (0 … G−1) of each row of x; groups have k records, the last one k to 2k−1.

    Each record of `order`, unless it has a group, forms one with its k−1 nearest records left, by Euclidean
    distance; when fewer than 2k are left these are the last group. Equal distances: the lowest row number.
    """
    labels = np.full(len(x), -1, dtype=np.int64)
    left, label, work, total = np.arange(len(x)), 0, scratch(k), np.zeros(x.shape[1])
    if len(x) <= SCANNED:
        for record in order:
            if labels[record] < 0 and len(left) >= 2 * k:
                own = int(np.searchsorted(left, record))
                places = nearest_places(squared_distances(x[left], x[record]), own, k)
                labels[left[places]] = label
                left, label = np.delete(left, places), label + 1
    while len(left) >= 2 * k:
        label = _take_in_order(build(x, left.copy()), x, order, k, label, labels, total, work)
        left = np.flatnonzero(labels == -1)
    labels[left] = label
    return labels


@jit
def _take_in_order(
    tree: Tree, x: Floats, order: Ints, k: int, label: int, labels: Ints, total: Floats, work: Scratch
) -> int:
    """Take groups out of the tree until it is half empty; returns the next free label."""
    built = left = tree.record.shape[0]
    for i in range(order.shape[0]):
        if left < 2 * k or 2 * left < built:
            break
        if labels[order[i]] < 0:
            take(tree, x, order[i], k, label, labels, total, work)
            left -= k
            label += 1
    return label
