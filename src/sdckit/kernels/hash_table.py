"""Hash tables of packed key combinations, and random words."""

import numpy as np

from sdckit._support.arrays import Codes, Ints
from sdckit.kernels._jit import inner

# Odd, near 2⁶⁴/φ: multiplying by it spreads neighbouring codes over a table (Knuth, TAOCP 3, 6.4)
SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SECOND, _THIRD = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def table_size(n: int) -> int:
    """Slots of a hash table for n cells: a power of two, half of it free at least."""
    return max(4, 1 << (2 * n - 1).bit_length())


@inner
def find_slot(table: Codes, last: np.uint64, packed: Ints, mask: Ints, cell: int | np.int64) -> np.uint64:
    """Where table[0 … last] holds a cell equal to this one under the mask, or the free slot for it.

    A table holds columns of packed [words, n], −1 where free; last + 1 is a power of two.
    """
    mixed = np.uint64(0)
    for w in range(mask.shape[0]):
        mixed = (mixed ^ np.uint64(packed[w, cell] & mask[w])) * SPREAD
        mixed ^= mixed >> np.uint64(32)  # the low bits, taken below, must depend on all
    slot = ((mixed * SPREAD) >> np.uint64(32)) & last
    while table[slot] >= 0:
        same = True
        for w in range(mask.shape[0]):
            same &= (packed[w, table[slot]] ^ packed[w, cell]) & mask[w] == 0
        if same:
            break
        slot = (slot + np.uint64(1)) & last
    return slot


@inner
def mix(x: np.uint64) -> np.uint64:
    """Scramble 64 bits (splitmix64)."""
    x = x + SPREAD
    x = (x ^ (x >> np.uint64(30))) * _SECOND
    x = (x ^ (x >> np.uint64(27))) * _THIRD
    return np.uint64(x ^ (x >> np.uint64(31)))
