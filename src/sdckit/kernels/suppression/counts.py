"""Exact counts of equal rows, and the scrambler behind the random choices of kernels."""

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import jit
from sdckit.kernels.hashing import pack

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_A = np.uint64(0x9E3779B97F4A7C15)
_B = np.uint64(0xBF58476D1CE4E5B9)
_C = np.uint64(0x94D049BB133111EB)


@jit
def mix(x: np.uint64) -> np.uint64:
    """Scramble 64 bits (splitmix64)."""
    x = x + _A
    x = (x ^ (x >> np.uint64(30))) * _B
    x = (x ^ (x >> np.uint64(27))) * _C
    return np.uint64(x ^ (x >> np.uint64(31)))


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
