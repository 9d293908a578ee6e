"""Sensitive values that a step hid behind each other, as one value each."""

import numpy as np

from sdckit._support.arrays import Ints
from sdckit.risk._kept_parts import blocks_of_moves

MOSTLY = 0.5  # of the records with a value, from which on it is hidden, where blanks are hardly anything else


def hidden_together(
    true: Ints, of_records: Ints, own: Ints, size: int, sure: float
) -> tuple[Ints, Ints, int] | None:
    """The same codes with one code for values exchanged only among each other, and for those blanked.

    Where rare diseases were blanked, all or most of them and little else, a blank tells that it is one of
    them, and so does any of three that were exchanged among themselves: it is the same as if somebody had
    merged them, and is asked as that.
    None where no values are hidden so. own: the record of each person, −1 is none.
    """
    linked = np.flatnonzero((own >= 0) & (true >= 0))
    x, y = true[linked], of_records[own[linked]]
    blocks = blocks_of_moves(x, y, (x != y) & (y >= 0), size)
    number = np.maximum(np.bincount(x, minlength=size), 1)
    blanks = np.bincount(x[y < 0], minlength=size)
    mostly = blanks >= MOSTLY * number
    told = blanks[mostly].sum() >= sure * blanks.sum()
    blanked = mostly if told else blanks >= sure * number
    if blocks is None and not blanked.any():
        return None
    codes = np.where(blanked, size, np.arange(size) if blocks is None else blocks)
    blank = size if blanked.any() else -1
    together, shown = np.append(codes, -1), np.append(codes, blank)
    return together[true], shown[of_records], size + 1
