"""What the cells of an intruder's keys, or of some of these keys, mostly show of a sensitive column."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.kernels.hashing import distinct_rows
from sdckit.risk._known_values import KnownKeys, LinkedFiles
from sdckit.risk._nearest_guess import Guessed
from sdckit.risk._nearest_records import true_in_released

STEPS = 10  # in which the part of a cell that shows the guess is told apart, up to 1
FEWEST = 2  # records of a cell that show anything
BINS = 3  # by how many show the guess: 1, 2 and 3, 4 to 7, more
SHOWN = 4  # parts of the records that show anything: few, half, most, all
LEARNED = 20  # records or persons at least of whom it is learned how often guesses are right
FEW_KEYS = 6  # all sets of which are tried
WORK = 2e7  # sets times persons up to which all sets of more keys are tried, too
LARGEST = 4  # keys in a set beyond that, but for all of them and all but one
CLEAREST = 10  # sets of each size to which each other key is added
CLEARLY = 4  # power of the share of a cell that has the same value: many doubtful cells are not a clear one
VALUES = 50  # of a sensitive column, where it has more, in bins


class Sensitive(Protocol):
    """A sensitive column; values are numbers or codes, nan is missing."""

    @property
    def shown(self) -> Floats:
        """What the released records show."""

    def guesses(self, group: Ints) -> Iterable[Floats]:
        """For each group of records a value that these may mean, in one or more ways; nan is none."""

    def is_near(self, guess: Floats, values: Floats) -> Bools:
        """Whether guesses are right."""

    def common(self, values: Floats) -> Floats:
        """The share of all persons of whom this value would be right."""


class Usual(NamedTuple):
    """A guess for each person: right or not, where it is trusted, and also without the own record."""

    guess: Floats  # nan where it is not trusted
    right: Bools  # trusted, and true
    without: Bools  # trusted even if the person had not taken part


def usual_values(groups: tuple[Ints, Ints], own: Ints, true: Floats, column: Sensitive, sure: float) -> Usual:
    """For each person what records of their cell mostly show, in cells where that is right.

    A cell is the clearer the larger the part of its values is that are near the guess, the more these are,
    and the fewer records are blank. Guesses are trusted in all cells that are at least so clear in all three
    that they are right for the part `sure` of at least LEARNED persons. Of all such bounds, and all ways to
    guess, those count that give most persons away. What everybody guesses is left out.

    groups: of the records, and of the persons. own: rows of their records, −1 is none.
    """
    of_records, of_persons = groups
    cells = int(max(of_records.max(initial=-1), of_persons.max(initial=-1))) + 1
    there = ~np.isnan(column.shown)
    records = np.bincount(of_records, minlength=cells)
    number = np.bincount(of_records[there], minlength=cells)
    inside = (own >= 0) & (of_records[own] == of_persons)
    none = np.zeros(len(true), dtype=bool)
    found = Usual(np.full(len(true), np.nan), none, none)
    for guess in column.guesses(of_records):
        value = np.append(guess, np.full(cells - len(guess), np.nan))
        value[(number < FEWEST) | (column.common(value) >= sure)] = np.nan
        shows = column.is_near(value[of_records], column.shown)
        near = np.bincount(of_records[shows], minlength=cells)
        counts = [part[of_persons] for part in (near, number, records)]
        mine = value[of_persons]
        right = column.is_near(mine, true)
        clear = _clear(*counts)
        least = _least_clear(clear, ~np.isnan(mine) & ~np.isnan(true), right, sure)
        if least is None:
            continue
        trusted = ~np.isnan(mine) & _reaches(clear, least)
        if (trusted & right).sum() > found.right.sum():
            near_others, number_others = (
                count - (inside & part[own]) for count, part in zip(counts, (shows, there), strict=False)
            )
            others = _reaches(_clear(near_others, number_others, counts[2] - inside), least)
            others &= number_others >= FEWEST
            found = Usual(np.where(trusted, mine, np.nan), trusted & right, trusted & others)
    return found


def infer_usual(files: LinkedFiles, keys: KnownKeys, true: Floats, column: Sensitive, sure: float) -> Guessed:
    """Whose values follow from what records mostly show that agree in the keys, or in some of the keys.

    Whoever knows several keys knows each of them: where one tells the value, the others only make cells so
    small that those values that were exchanged outweigh the true ones. Of all sets the strongest counts.
    """
    known, common = ~np.isnan(true), column.common(true)
    known_keys = true_in_released(keys)
    n = len(true)

    def cells(some: tuple[int, ...]) -> Ints:
        both = [np.append(known_keys[:, j], keys.released[:, j]) for j in some]
        return distinct_rows(both)[1] if both else np.zeros(n + len(keys.released), dtype=np.int64)

    inferred, by_own = np.zeros((2, n), dtype=bool)
    linked = np.flatnonzero(files.own >= 0)
    rows, codes = n + files.own[linked], _codes(true[linked])
    for some in _sets(len(keys.names), n, lambda some: _clarity(codes, cells(some)[rows])):
        group = cells(some)
        usual = usual_values((group[n:], group[:n]), files.own, true, column, sure)
        told = usual.right & (common < sure)
        if told.sum() > inferred.sum():
            inferred, by_own = told, told & ~usual.without
    persons = int(known.sum())
    baseline = float(common[known].max(initial=0.0))
    right = max(baseline, float(inferred.sum()) / max(persons, 1))
    return Guessed(persons, int(inferred.sum()), int(by_own.sum()), right, baseline)


def usual_of_records(
    files: LinkedFiles, keys: KnownKeys, true: Floats, column: Sensitive, sure: float
) -> Floats:
    """For each record what those with its keys mostly show, nan where that is not trusted."""
    n = len(keys.released)
    of_records, present = np.full(n, np.nan), files.own >= 0
    of_records[files.own[present]] = true[present]
    group = distinct_rows([*keys.released.T] or [np.zeros(n, dtype=np.int64)])[1]
    return usual_values((group, group), np.arange(n), of_records, column, sure).guess


def _sets(keys: int, persons: int, clarity: Callable[[tuple[int, ...]], float]) -> Iterator[tuple[int, ...]]:
    """All sets of keys; else all keys, all but one, each alone, and larger sets that make cells clearest."""
    every = range(keys)
    yield tuple(every)
    yield from (some for some in combinations(every, max(keys - 1, 0)) if some)
    if keys <= FEW_KEYS or 2.0**keys * persons <= WORK:
        yield from (some for k in range(1, keys - 1) for some in combinations(every, k))
        return
    kept: list[tuple[int, ...]] = [()]
    for _ in range(LARGEST):
        larger = sorted({tuple(sorted({*some, key})) for some in kept for key in every if key not in some})
        yield from larger
        kept = sorted(larger, key=clarity, reverse=True)[:CLEAREST]


def _codes(values: Floats) -> Ints:
    """A code for each value, where there are many for each part of their range; missing is a value."""
    different, codes = np.unique(values, return_inverse=True)
    return np.asarray(codes * min(VALUES, len(different)) // max(len(different), 1), dtype=np.int64)


def _clarity(codes: Ints, group: Ints) -> float:
    """How clear the cells are, small ones less: what share of the others of a cell has a person's value."""
    size = int(codes.max(initial=0)) + 1
    cells, counts = np.unique(group * size + codes, return_counts=True)
    share = (counts - 1) / (np.bincount(group)[cells // size] + LEARNED)
    return float((counts * share**CLEARLY).sum())


def _clear(near: Ints, number: Ints, records: Ints) -> list[Ints]:
    return [
        (near * STEPS / np.maximum(number, 1) + 1e-9).astype(np.int64),
        np.minimum(np.log2(np.maximum(near, 1)), BINS).astype(np.int64),
        (SHOWN - 1) * number // np.maximum(records, 1),
    ]


def _least_clear(clear: Sequence[Ints], asked: Bools, right: Bools, sure: float) -> tuple[int, ...] | None:
    """The bounds for which of all who are at least so clear the part `sure` is right."""
    kinds = (STEPS + 1, BINS + 1, SHOWN)
    kind = np.ravel_multi_index(tuple(clear), kinds)
    counts = []
    for some in (asked, asked & right):
        count = np.bincount(kind[some], minlength=int(np.prod(kinds))).reshape(kinds)
        for axis in range(len(kinds)):  # all that are at least so clear
            count = np.flip(np.cumsum(np.flip(count, axis), axis), axis)
        counts.append(count)
    enough = (counts[0] >= LEARNED) & (counts[1] >= sure * counts[0])
    if not enough.any():
        return None
    return tuple(int(x) for x in np.unravel_index(np.argmax(np.where(enough, counts[1], 0)), kinds))


def _reaches(clear: Sequence[Ints], least: tuple[int, ...]) -> Bools:
    return np.asarray(np.all([part >= bound for part, bound in zip(clear, least, strict=True)], axis=0))
