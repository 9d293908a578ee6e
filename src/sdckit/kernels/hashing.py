"""Key combinations as integers: two rows get the same number exactly when all their codes are equal.

Without compiled code, so that what only packs keys need not wait for numba; tables are in `hash_table`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sdckit._support.arrays import Bools, Codes, Ints

# int64 without the sign bit and one to spare, so that packed values stay non-negative after a shift
WORD_BITS = 62
_LOOK_UP = 4_000_000  # entries of a table that is quicker than sorting, also for few rows
_PER_ROW = 8  # entries a row, up to which it is
_LARGEST_LOOK_UP = 16_000_000  # eight bytes each


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


def distinct_rows(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """The first row of each combination of whole numbers, and for each row the number of its combination.

    Combinations are in order, the first column counting most. Codes are counted off in tables, not sorted,
    where there are not far more possible combinations than rows.
    """
    n = len(columns[0])
    codes, size = np.zeros(n, dtype=np.int64), 1
    most = max(_LOOK_UP, min(_PER_ROW * n, _LARGEST_LOOK_UP))
    for column in columns:
        low, high = (int(column.min()), int(column.max())) if n else (0, 0)
        width = high - low + 1
        if width == 1:
            continue  # tells no rows apart
        if size * width > most:
            codes, size = _dense(codes, size, most)
        if size * width >= 1 << WORD_BITS:
            column, low = np.unique(column, return_inverse=True)[1].astype(np.int64), 0
            width = int(column.max(initial=0)) + 1
        codes *= width  # in place: every new array of a large file costs as much as the arithmetic
        codes += column
        codes -= low
        size *= width
    codes, size = _dense(codes, size, most)
    first = np.empty(size, dtype=np.int64)
    first[codes[::-1]] = np.arange(n - 1, -1, -1)
    return first, codes


def _dense(codes: Ints, size: int, most: int) -> tuple[Ints, int]:
    """Codes below `size` as 0, 1, … in the same order, without gaps, and how many there are."""
    if size > most:
        values, place = np.unique(codes, return_inverse=True)
        return place.astype(np.int64), len(values)
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[codes] = True
    found = np.flatnonzero(occurs)
    place = np.empty(size, dtype=np.int64)  # only filled where it is read: most codes may not occur
    place[found] = np.arange(found.size)
    return place[codes], found.size
