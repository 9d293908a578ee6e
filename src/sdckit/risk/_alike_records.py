"""What records with the same keys mostly show of a sensitive column of which values were changed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.kernels.hashing import distinct_rows
from sdckit.risk._usual_values import BINS, FEWEST, LEARNED, STEPS

LEAST = 0.5  # share of the values shown that are one value, from which on it is the one mostly shown


@dataclass(frozen=True, eq=False)
class AlikeCategories:
    """A sensitive category, of which those of a cell may be the same; codes below `size`, nan is missing.

    Ten values in small files are each too rare to learn what it means that a cell mostly shows them, and all
    of them together are not.
    """

    shown: Floats
    true: Floats
    size: int

    def guesses(self, group: Ints) -> Iterator[Floats]:
        """The most frequent value of each group."""
        shown = np.where(np.isnan(self.shown), -1, self.shown).astype(np.int64)
        most, mode, _ = _modes(group, shown, self.size)
        yield np.where(most > 0, mode, np.nan)

    def is_near(self, guess: Floats, values: Floats) -> Bools:
        """Whether both are the same value."""
        return np.asarray(guess == values)

    def common(self, values: Floats) -> Floats:
        """The share of all persons who have this value."""
        there = ~np.isnan(self.true)
        shares = np.bincount(self.true[there].astype(np.int64), minlength=self.size) / max(there.sum(), 1)
        return np.where(np.isnan(values), 0.0, shares[np.nan_to_num(values).astype(np.int64)])


def mostly_shown(released: Ints, shown: Ints, size: int) -> tuple[Ints, int]:
    """A code for each record by what records with its keys mostly show, and below which number codes are.

    Five records with the keys of a person, nearly all of them ill, tell that this one is ill as well, even if
    the sixth is blank and each was exchanged at random now and then. The code has the value, in which part of
    the records it is shown, and roughly in how many; −1 where nothing is shown mostly, or too rarely to learn
    what it means.

    released: keys of the records [records, keys]. shown: codes below `size`, −1 is blank.
    """
    group = distinct_rows(list(released.T))[1] if released.shape[1] else np.zeros(len(shown), dtype=np.int64)
    most, mode, count = _modes(group, shown, size)
    share = most / np.maximum(count, 1)
    many = np.minimum(np.log2(np.maximum(most, 1)).astype(np.int64), BINS)
    kind = (mode * (STEPS + 1) + (share * STEPS + 1e-9).astype(np.int64)) * (BINS + 1) + many
    kind[(most < FEWEST) | (share < LEAST)] = -1
    kinds, code, records = np.unique(kind[group], return_inverse=True, return_counts=True)
    learned = (records >= LEARNED) & (kinds >= 0)
    return np.where(learned, np.cumsum(learned) - 1, -1)[code], int(learned.sum())


def _modes(group: Ints, shown: Ints, size: int) -> tuple[Ints, Ints, Ints]:
    """Of each group how many show its most frequent value, this value, and how many show any."""
    there = shown >= 0
    pairs, counts = np.unique(group[there] * size + shown[there], return_counts=True)
    order = np.argsort(counts, kind="stable")
    of, value, count = pairs[order] // size, pairs[order] % size, counts[order]
    most, mode = np.zeros((2, int(group.max(initial=0)) + 1), dtype=np.int64)
    most[of], mode[of] = count, value  # the most frequent of a group is written last
    return most, mode, np.bincount(group[there], minlength=len(most))
