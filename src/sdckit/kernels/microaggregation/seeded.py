"""Groups of k similar records around records taken in a given order."""

import numpy as np

from sdckit.kernels._jit import jit
from sdckit.kernels.kd_tree import Floats, Ints, build
from sdckit.kernels.microaggregation.mdav import take


@jit
def ordered_groups(x: Floats, order: Ints, k: int) -> Ints:
    """Group label (0 … G−1) of each row of x; groups have k records, the last one k to 2k−1.

    Each record of `order`, unless it has a group, forms one with its k−1 nearest records left, by Euclidean
    distance; when fewer than 2k are left these are the last group. Equal distances: the lowest row number.
    """
    n = x.shape[0]
    labels = np.full(n, -1, dtype=np.int64)
    tree = build(x, np.arange(n))
    built, left, label = n, n, 0
    nodes = np.empty(130, dtype=np.int64)  # two entries a level are enough for a depth-first walk
    bounds = np.empty(130)
    total = np.zeros(x.shape[1])  # of no use here
    for record in order:
        if left < 2 * k:
            break
        if labels[record] >= 0:
            continue
        if 2 * left < built:
            tree, built = build(x, np.flatnonzero(labels == -1)), left
        take(tree, x, record, k, label, labels, total, nodes, bounds)
        left -= k
        label += 1
    labels[labels == -1] = label
    return labels
