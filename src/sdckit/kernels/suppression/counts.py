"""Exact counts of equal rows."""

import numpy as np

from sdckit._support.arrays import Codes, Ints
from sdckit.kernels.hashing import pack


def group_rows(codes: Codes) -> Ints:
    """The number 0, 1, … of each row of codes [n, q] among the distinct ones; missing (−1) is a value."""
    if codes.shape[1] == 0:
        return np.zeros(len(codes), np.int64)
    return np.unique(pack(codes), return_inverse=True)[1].astype(np.int64)


def group_sizes(codes: Codes, counts: Ints) -> Ints:
    """For each row the records of all rows equal to it, where row r stands for counts[r] of them."""
    group = group_rows(codes)
    sizes = np.zeros(group.max(initial=-1) + 1, np.int64)
    np.add.at(sizes, group, counts)
    return sizes[group]
