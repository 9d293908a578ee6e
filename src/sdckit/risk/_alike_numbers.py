"""What records with the same keys mostly show of a sensitive number that was changed or blanked in parts."""

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.kernels.hashing import distinct_rows
from sdckit.risk._alike_records import BINS, FEWEST, LEARNED, STEPS

SHOWN = 4  # parts of the records that show a number: few, half, most, all
_ROUNDING = 1e-12


def usually_near(released: Ints, shown: Floats, true: Floats, within: float, sure: float) -> Floats:
    """For each record a number that those of records with its keys lie near, where such guesses are right.

    Where nine of ten persons of a cell have the same income, what their records show tells it of the tenth,
    too, though it is blank or was exchanged. The guess is the middle of the numbers that lie closest to each
    other or, better after noise, the middle of all. A cell is the clearer the larger the part of its numbers
    is that lies near the guess, the more these are, and the fewer records are blank. The guess is trusted in
    all cells that are at least so clear in all three that the part `sure` of their persons has a number near
    it; other records get nan. Of both guesses and all such bounds those count that give most persons away.

    released: keys of the records [records, keys]. shown, true: numbers of the records and of their persons,
    nan is missing. within: how near, relative to the true number.
    """
    group = distinct_rows(list(released.T))[1] if released.shape[1] else np.zeros(len(shown), dtype=np.int64)
    order = np.lexsort((shown, group))
    order = order[~np.isnan(shown[order])]
    values, of = shown[order], group[order]
    records = np.bincount(group)
    number = np.bincount(of, minlength=len(records))
    some = np.flatnonzero(number >= FEWEST)
    start = (np.cumsum(number) - number)[some]
    known, most, found = ~np.isnan(true), 0, np.full(len(shown), np.nan)
    for first, last in (_closest(values, of, start, within), (start, start + number[some] - 1)):
        middle = np.full(len(records), np.nan)
        middle[some] = values[(first + last) // 2] / 2 + values[(first + last + 1) // 2] / 2
        guess = middle[group]
        near = np.bincount(group[_is_near(guess, shown, within)], minlength=len(records))
        clear = (
            (near * STEPS / np.maximum(number, 1) + 1e-9).astype(np.int64),
            np.minimum(np.log2(np.maximum(near, 1)), BINS).astype(np.int64),
            (SHOWN - 1) * number // np.maximum(records, 1),
        )
        asked, right = known & ~np.isnan(guess), _is_near(guess, true, within)
        trusted = _trusted([part[group] for part in clear], asked, right, sure)
        told = int((trusted & right).sum())
        if told > most:
            most, found = told, np.where(trusted, guess, np.nan)
    return found


def _closest(values: Floats, of: Ints, start: Ints, within: float) -> tuple[Ints, Ints]:
    """The first and the last of the most numbers of each group that one guess may be near to.

    values: sorted in their groups `of`, which begin at `start`.
    """
    ratio = (1 + within) / (1 - within)
    largest = np.where(values > 0, values * ratio, values / ratio)
    largest += np.abs(largest) * _ROUNDING
    is_end = np.repeat([False, True], len(values))  # numbers and the ends of their reach in one order
    order = np.lexsort((is_end, np.append(values, largest), np.append(of, of)))
    before, at = np.cumsum(~is_end[order]), np.flatnonzero(is_end[order])
    last = np.empty(len(values), dtype=np.int64)
    last[order[at] - len(values)] = before[at] - 1
    covered = last - np.arange(len(values))
    first = np.lexsort((-np.arange(len(values)), covered, of))  # the most, of ties the smallest, are last
    best = first[np.searchsorted(of[first], of[start], side="right") - 1]
    return best, last[best]


def _trusted(clear: list[Ints], asked: Bools, right: Bools, sure: float) -> Bools:
    """Records so clear that of all that are asked, and at least so clear, the part `sure` is right."""
    kinds = (STEPS + 1, BINS + 1, SHOWN)
    kind = np.ravel_multi_index(clear, kinds)
    counts = []
    for some in (asked, asked & right):
        count = np.bincount(kind[some], minlength=int(np.prod(kinds))).reshape(kinds)
        for axis in range(len(kinds)):  # all that are at least so clear
            count = np.flip(np.cumsum(np.flip(count, axis), axis), axis)
        counts.append(count)
    enough = (counts[0] >= LEARNED) & (counts[1] >= sure * counts[0])
    if not enough.any():
        return np.zeros(len(kind), dtype=bool)
    least = np.unravel_index(np.argmax(np.where(enough, counts[1], 0)), kinds)
    return np.asarray(np.all([part >= bound for part, bound in zip(clear, least, strict=True)], axis=0))


def _is_near(guess: Floats, values: Floats, within: float) -> Bools:
    with np.errstate(invalid="ignore"):  # infinite numbers are near nothing
        return np.asarray(np.abs(guess - values) <= within * np.abs(values) * (1 + _ROUNDING))
