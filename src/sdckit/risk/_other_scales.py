"""Files of new records in other scales: under other names, in other units, and by ratios of their numbers."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sdckit._support.arrays import Bools, Floats

MOST_RATIOS = 10  # of pairs of numbers
OTHER = 0.25  # by which distributions differ in columns that were renamed, or are in other units


def in_other_words(people: Floats, records: Floats, nominal: Bools) -> Bools:
    """The columns whose distribution is another: largest difference of numbers, total variation of codes."""
    found = np.zeros(people.shape[1], dtype=np.bool_)
    for j in range(people.shape[1]):
        mine, theirs = (x[~np.isnan(x)] for x in (people[:, j], records[:, j]))
        if not len(mine) or not len(theirs):
            continue
        values = np.unique(np.concatenate([mine, theirs]))
        ranks = [np.searchsorted(np.sort(x), values, "right") / len(x) for x in (mine, theirs)]
        apart = np.abs(np.diff(ranks[0] - ranks[1], prepend=0.0)).sum() / 2
        found[j] = (apart if nominal[j] else np.abs(ranks[0] - ranks[1]).max()) > OTHER
    return found


def by_own_scale(
    people: Floats, records: Floats, others: Floats, nominal: Bools, columns: Bools
) -> tuple[Floats, Floats, Floats]:
    """People, records and others, in some columns each file by its own distribution: names do not matter.

    A category is the rank of its frequency, the most frequent first; a number its place among all numbers.
    Others are put where the people of the original have their values: between two of them. So records are
    moved by up to two places, else those of files of the same length would stand exactly where people do.
    """
    made = people.copy(), records.copy(), others.copy()
    aside = np.random.default_rng(1).uniform(-2, 2, records.shape) / max(len(records), 1)
    for j in np.flatnonzero(columns):
        place = _by_frequency if nominal[j] else _by_place
        made[0][:, j] = place(people[:, j], people[:, j])
        made[1][:, j] = place(records[:, j], records[:, j]) + (0.0 if nominal[j] else aside[:, j])
        made[2][:, j] = place(people[:, j], others[:, j])
    return made


def _by_frequency(file: Floats, values: Floats) -> Floats:
    """For values the rank of their frequency in a file, equal ones sharing a rank; 0 for values it lacks."""
    known, counts = np.unique(file, return_counts=True)
    ranks = np.unique(-counts, return_inverse=True)[1] + 1.0
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[at] == values, ranks[at], 0.0)


def _by_place(file: Floats, values: Floats) -> Floats:
    """For values their place in the distribution of a file, from 0 to 1."""
    known = np.sort(file[~np.isnan(file)])
    ranks = [np.searchsorted(known, values, side) for side in ("left", "right")]
    return np.where(np.isnan(values), np.nan, (ranks[0] + ranks[1]) / (2 * max(len(known), 1)))


def by_ratios(
    numbers: Sequence[Sequence[Floats]], names: Sequence[str], *, dates: bool
) -> tuple[list[list[Floats]], list[str]]:
    """Ratios of two numbers, of dates the days between them: one factor or shift a record changes neither.

    numbers: a column of each file, for each variable.
    """
    made, labels = [], []
    for a, b in list(combinations(range(len(names)), 2))[:MOST_RATIOS]:
        with np.errstate(divide="ignore", invalid="ignore"):
            columns = [x - y if dates else x / y for x, y in zip(numbers[a], numbers[b], strict=True)]
        plain = [np.where(np.isfinite(column), column, np.nan) for column in columns]
        made.append([_by_place(plain[0], column) for column in plain])
        labels.append(f"{names[a]} {'−' if dates else '÷'} {names[b]}")
    return made, labels
