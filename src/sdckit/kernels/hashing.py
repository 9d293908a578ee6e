"""Key combinations as integers that are equal exactly when all codes are, and hash tables of them."""

from typing import NamedTuple

import numpy as np

from sdckit._support.arrays import Bools, Codes, Ints
from sdckit.kernels._jit import jit

# int64 without the sign bit and one to spare, so that packed values stay non-negative after a shift
WORD_BITS = 62

# Odd, near 2⁶⁴/φ: multiplying by it spreads neighbouring codes over a table (Knuth, TAOCP 3, 6.4)
SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SECOND, _THIRD = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Layout(NamedTuple):
    """Where each of q keys sits in the packed words. A missing code (-1) is stored as 0, code v as v + 1."""

    word: Ints  # [q] which word holds the key
    shift: Ints  # [q] its lowest bit there
    field: Ints  # [q] all its bits set, in place
    words: int  # how many words a row takes, 1 when everything fits in 62 bits

    def mask(self, keep: Bools) -> Ints:
        """[..., q] keys to keep → [..., words] masks: `packed & mask` is the projection on those keys."""
        out = np.zeros((*keep.shape[:-1], self.words), dtype=np.int64)
        for key, word in enumerate(self.word):
            out[..., word] |= np.where(keep[..., key], self.field[key], 0)
        return out


def bit_layout(codes: Codes) -> Layout:
    """Give every key of codes [n, q] just the bits its largest code needs, filling words in order."""
    largest = codes.max(axis=0, initial=-1)
    bits = [int(value + 1).bit_length() for value in largest.astype(np.int64)]
    word, shift, used, current = [], [], 0, 0
    for width in bits:
        if used + width > WORD_BITS:
            current, used = current + 1, 0
        word.append(current)
        shift.append(used)
        used += width
    field = [((1 << width) - 1) << low for width, low in zip(bits, shift, strict=True)]
    return Layout(
        np.array(word, dtype=np.int64),
        np.array(shift, dtype=np.int64),
        np.array(field, dtype=np.int64),
        current + 1,
    )


def pack_words(codes: Codes, layout: Layout) -> Ints:
    """Pack codes [n, q] into [words, n]; rows are equal exactly when all their words are."""
    packed = np.zeros((layout.words, codes.shape[0]), dtype=np.int64)
    for key, word in enumerate(layout.word):
        packed[word] |= (codes[:, key].astype(np.int64) + 1) << layout.shift[key]
    return packed


def pack(codes: Codes) -> Ints:
    """One integer per row of codes [n, q], equal exactly when the rows are equal.

    Codes are 0, 1, …; -1 is missing and here a value of its own. With at most 62 bits the result follows
    `bit_layout` and can be masked; beyond that it is a dense number, good for comparing only.
    """
    return one_number(pack_words(codes, bit_layout(codes)))


def one_number(packed: Ints) -> Ints:
    """One integer per column of packed [words, n], equal exactly when the columns are."""
    ids: Ints = packed[0]
    for word in packed[1:]:
        _, left = np.unique(ids, return_inverse=True)
        values, right = np.unique(word, return_inverse=True)
        # both are below n, so the product stays below n² < 2⁶²
        ids = left.astype(np.int64) * len(values) + right
    return ids


def table_size(n: int) -> int:
    """Slots of a hash table for n cells: a power of two, half of it free at least."""
    return max(4, 1 << (2 * n - 1).bit_length())


@jit
def find_slot(table: Codes, last: np.uint64, packed: Ints, mask: Ints, cell: int) -> np.uint64:
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


@jit
def mix(x: np.uint64) -> np.uint64:
    """Scramble 64 bits (splitmix64)."""
    x = x + SPREAD
    x = (x ^ (x >> np.uint64(30))) * _SECOND
    x = (x ^ (x >> np.uint64(27))) * _THIRD
    return np.uint64(x ^ (x >> np.uint64(31)))
