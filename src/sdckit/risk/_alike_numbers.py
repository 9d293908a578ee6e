"""What records with the same keys mostly show of a sensitive number that was changed or blanked in parts."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.risk._usual_values import FEWEST

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class AlikeNumbers:
    """A sensitive number, of which those of a cell may lie near each other.

    Where nine of ten persons of a cell have the same income, what their records show tells it of the tenth,
    too, though it is blank or was exchanged. The guess is the middle of the numbers that lie closest to each
    other or, better after noise, the middle of all.

    true: numbers of the persons. within: how near, relative to the true number.
    """

    shown: Floats
    true: Floats
    within: float

    @cached_property
    def _ordered(self) -> Floats:
        return np.sort(self.true[~np.isnan(self.true)])

    @cached_property
    def _order(self) -> Ints:
        order = np.argsort(self.shown, kind="stable")
        return np.asarray(order[~np.isnan(self.shown[order])])

    def guesses(self, group: Ints) -> Iterator[Floats]:
        """The middle of the numbers that lie closest to each other, and of all."""
        order = self._order[np.argsort(group[self._order], kind="stable")]
        values, of = self.shown[order], group[order]
        number = np.bincount(of, minlength=int(group.max(initial=-1)) + 1)
        some = np.flatnonzero(number >= FEWEST)
        start = (np.cumsum(number) - number)[some]
        for first, last in (_closest(values, of, start, self.within), (start, start + number[some] - 1)):
            middle = np.full(len(number), np.nan)
            middle[some] = values[(first + last) // 2] / 2 + values[(first + last + 1) // 2] / 2
            yield middle

    def is_near(self, guess: Floats, values: Floats) -> Bools:
        """Whether a guess is right of a number."""
        with np.errstate(invalid="ignore"):  # infinite numbers are near nothing
            return np.asarray(np.abs(guess - values) <= self.within * np.abs(values) * (1 + _ROUNDING))

    def common(self, values: Floats) -> Floats:
        """The share of all persons whose number is near this one."""
        margin = self.within * np.abs(values)
        with np.errstate(invalid="ignore"):
            low = np.searchsorted(self._ordered, values - margin)
            high = np.searchsorted(self._ordered, values + margin, "right")
        return np.asarray((high - low) / max(len(self._ordered), 1))


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
