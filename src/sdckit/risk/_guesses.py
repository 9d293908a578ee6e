"""Guesses of a hidden value from the other records with the same clue, never from the own record."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints

Column = TypeVar("Column", Bools, Floats, Ints)
FEW, SEVERAL = 2, 5  # other records with the same clue
AGREE = 0.8  # of them have the same value
_LARGEST = 2**62
_SHORT = 2**16


@dataclass(frozen=True, slots=True)
class Truth:
    """The true values of one variable in some records, none of them missing.

    codes: their ranks among all different values, of which there are `size`. values: the same as numbers, for
    a number; None for a category. slack: how far from the value a guess may be, one array a criterion.
    unit, low: whole numbers are `low` plus a multiple of `unit`, and so are guesses of them; 0: not whole.
    repeats: whether values come often enough for the most frequent one to be a guess. order: the records in
    the order of the codes.
    """

    codes: Ints
    size: int
    values: Floats | None = None
    slack: tuple[Floats, ...] = ()
    unit: float = 0.0
    low: float = 0.0
    repeats: bool = True
    order: Ints = field(init=False)

    def __post_init__(self) -> None:
        order = sorted_by(self.codes, self.size, np.arange(len(self.codes)))
        object.__setattr__(self, "order", order)

    @property
    def criteria(self) -> int:
        """In how many ways a guess can be right."""
        return max(1, len(self.slack))

    def take(self, rows: Ints | Bools) -> "Truth":
        """Some of the records."""
        values = None if self.values is None else self.values[rows]
        slack = tuple(s[rows] for s in self.slack)
        return Truth(self.codes[rows], self.size, values, slack, self.unit, self.low, self.repeats)

    def hit(self, guess: Floats) -> list[Bools]:
        """Whether guesses of a number are right, by each criterion; nan never is."""
        assert self.values is not None
        with np.errstate(invalid="ignore", over="ignore"):
            if self.unit:
                guess = self.low + self.unit * np.round((guess - self.low) / self.unit)
            away = np.abs(guess - self.values)
            return [np.asarray(away <= slack) for slack in self.slack]


@dataclass(frozen=True, slots=True)
class Clue:
    """What is released of some records in one column, or in several taken together.

    codes: equal where the clue is equal, in the order of the clue; there are `size`. place: where on the
    number line the clue is, nan where it has no place, as a missing value.
    """

    codes: Ints
    size: int
    place: Floats

    def take(self, rows: Ints | Bools) -> "Clue":
        """The clue of some of the records."""
        return Clue(self.codes[rows], self.size, self.place[rows])

    def beside(self, other: "Clue") -> "Clue":
        """Both clues together, in the order of the other and, where that is equal, of this one."""
        codes, size = joined(other.codes, other.size, self.codes, self.size)
        return Clue(codes, size, self.place)


def joined(first: Ints, sizes: int, second: Ints, size: int) -> tuple[Ints, int]:
    """One code for two, in the order of the first and then of the second."""
    if sizes * size >= _LARGEST:
        first, second = (np.unique(codes, return_inverse=True)[1] for codes in (first, second))
        sizes, size = int(first.max(initial=0)) + 1, int(second.max(initial=0)) + 1
    return first * size + second, sizes * size


def right_guesses(truth: Truth, clue: Clue, *given: Clue) -> list[list[Bools]]:
    """For each criterion the attacks, and for each attack the records whose true value it finds.

    given: further clues, which records must share to be compared, as the released value of the variable.
    """
    groups = _Groups.of(truth, clue, given)
    attacks: list[list[Bools]] = [[] for _ in range(truth.criteria)]
    if truth.values is None or truth.repeats:
        right = groups.by_mode()
        for found in attacks:
            found.append(right)
    if truth.values is not None:
        for found, right in zip(attacks, truth.hit(groups.by_median(truth.values)), strict=True):
            found.append(right)
    return attacks


def confidence(truth: Truth, clue: Clue, *given: Clue) -> Ints:
    """How much a guess can be trusted by what the other records with the same clue say: a small number.

    0: there are none. Else by how many they are, and whether four in five have the same value. The own value
    has no part in it, so that guesses which only happen to be right are not trusted more.
    """
    return _Groups.of(truth, clue, given).trusted()


def sorted_by(codes: Ints, size: int, order: Ints) -> Ints:
    """Records in the order of their codes and, where these are equal, as they were.

    NumPy sorts numbers of 16 bits in linear time, so larger codes are sorted by their lower half first.
    """
    if size > _SHORT * _SHORT:
        return order[np.argsort(codes[order], kind="stable")]
    if size > _SHORT:
        order = order[np.argsort((codes[order] % _SHORT).astype(np.uint16), kind="stable")]
        codes = codes // _SHORT
    return order[np.argsort(codes[order].astype(np.uint16), kind="stable")]


def right_votes(truth: Truth, clue: Clue, votes: Ints) -> Bools:
    """Who is told by the most frequent *released* value of the records with the same clue: no truth needed.

    votes: released values as codes of true ones, −1 where there is none. Ties are wrong. Where no record with
    the same clue has a vote, the nearest votes below and above in the order of the clue have to agree.
    """
    voters = votes >= 0
    if not voters.any():
        return voters
    cells, counts = np.unique(clue.codes[voters] * truth.size + votes[voters], return_counts=True)
    groups, values = cells // truth.size, cells % truth.size
    order = np.lexsort((counts, groups))
    groups, values, counts = groups[order], values[order], counts[order]
    last = np.append(groups[1:] != groups[:-1], [True])
    tied = np.append([False], (groups[1:] == groups[:-1]) & (counts[1:] == counts[:-1]))
    modes = np.where(tied, -1, values)[last]
    voting = groups[last]  # the codes of the clue that have votes, in order
    at = np.searchsorted(voting, clue.codes)
    above = modes[np.minimum(at, len(voting) - 1)]
    below = modes[np.maximum(at - 1, 0)]
    same = voting[np.minimum(at, len(voting) - 1)] == clue.codes
    guess = np.where(same, above, np.where(below == above, above, -1))
    return np.asarray((guess == truth.codes) & ~np.isnan(clue.place))


@dataclass(frozen=True, slots=True)
class _Groups:
    """Records sorted by clue and true value: groups with the same clue, cells with the same value, too."""

    order: Ints  # of the records
    codes: Ints  # true values, sorted
    start: Ints  # of each group
    size: Ints  # of each group
    group: Ints  # of each sorted record
    cell_start: Ints
    below: Ints  # the group just below in the order of the clue; −1 where there is none
    above: Ints
    place: Floats  # of each group

    @classmethod
    def of(cls, truth: Truth, clue: Clue, given: Sequence[Clue]) -> "_Groups":
        n = len(truth.codes)
        order = sorted_by(clue.codes, clue.size, truth.order)
        new_band = np.zeros(max(n - 1, 0), dtype=bool)  # where one of the given clues changes
        for other in given:
            order = sorted_by(other.codes, other.size, order)
        for other in given:
            new_band |= np.diff(other.codes[order]) != 0
        codes = truth.codes[order]
        new_group = np.ones(n, dtype=bool)
        new_group[1:] = new_band | (np.diff(clue.codes[order]) != 0)
        new_cell = new_group.copy()
        new_cell[1:] |= codes[1:] != codes[:-1]
        start = np.flatnonzero(new_group)
        located = clue.place[order[start]]
        linked = ~np.isnan(located[1:]) & ~np.isnan(located[:-1]) & ~new_band[start[1:] - 1]
        numbers = np.arange(len(start))
        below, above = np.full(len(start), -1), np.full(len(start), -1)
        below[1:][linked] = numbers[:-1][linked]
        above[:-1][linked] = numbers[1:][linked]
        return cls(
            order,
            codes,
            start,
            np.diff(start, append=n),
            np.cumsum(new_group) - 1,
            np.flatnonzero(new_cell),
            below,
            above,
            located,
        )

    def by_mode(self) -> Bools:
        """Whether the most frequent value of the others is the own; where there are none, of the neighbours.

        Ties are wrong. A record without others asks the groups just below and above, which have to agree; at
        an end of the order there is only one.
        """
        n = len(self.order)
        count = np.diff(self.cell_start, append=n)
        owner = self.group[self.cell_start]
        heads = np.searchsorted(self.cell_start, self.start)  # each group starts a cell
        most = np.maximum.reduceat(count, heads)
        top = count == most[owner]
        tied = np.add.reduceat(top.astype(np.int64), heads) > 1
        second = np.maximum.reduceat(np.where(top, 0, count), heads)
        right_cell = top & ~tied[owner] & (count - 1 > second[owner])
        right = np.repeat(right_cell, count)

        mode = np.full(len(self.start), -1, dtype=np.int64)
        clear = top & ~tied[owner]
        mode[owner[clear]] = self.codes[self.cell_start[clear]]
        alone = np.flatnonzero(self.size == 1)
        low, high = (_of_neighbours(mode, side[alone]) for side in (self.below, self.above))
        low, high = np.where(low == -2, high, low), np.where(high == -2, low, high)
        own = self.codes[self.start[alone]]
        right[self.start[alone]] = (low == high) & (low == own)
        return self._in_file_order(right)

    def trusted(self) -> Ints:
        """0 for a record without others; else their number in three steps, three more where they agree."""
        count = np.diff(self.cell_start, append=len(self.order))
        owner = self.group[self.cell_start]
        heads = np.searchsorted(self.cell_start, self.start)
        most = np.maximum.reduceat(count, heads)[owner]
        top = count == most
        tied = np.add.reduceat(top.astype(np.int64), heads)[owner] > 1
        second = np.maximum.reduceat(np.where(top, 0, count), heads)[owner]
        largest = np.where(top & ~tied, np.maximum(most - 1, second), most)  # among the others
        others = self.size[owner] - 1
        step = 1 + (others >= FEW) + (others >= SEVERAL)
        agree = largest >= AGREE * others
        return self._in_file_order(
            np.repeat(np.where(others == 0, 0, np.where(agree, 3 + step, step)), count)
        )

    def by_median(self, values: Floats) -> Floats:
        """The median of the others' values; where there are none, what lies between the neighbours' medians.

        Between them a straight line is drawn, so that a linear function of the hidden value tells it exactly.
        """
        x = values[self.order]
        size, start = np.repeat(self.size, self.size), np.repeat(self.start, self.size)
        own = np.arange(len(x)) - start
        middle = ((size - 2) // 2, (size - 1) // 2)  # among the others; the own record is stepped over
        low, high = (np.take(x, start + m + (m >= own), mode="clip") for m in middle)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            guess = low + (high - low) / 2
            medians = x[self.start + (self.size - 1) // 2]
            medians = medians + (x[self.start + self.size // 2] - medians) / 2
            alone = np.flatnonzero(self.size == 1)
            guess[self.start[alone]] = self._between(medians, alone)
        return self._in_file_order(guess)

    def _between(self, medians: Floats, alone: Ints) -> Floats:
        """The value at each lone group's place on the line through the medians of its neighbours."""
        below, above = self.below[alone], self.above[alone]
        low = np.where(below >= 0, medians[below], np.nan)
        high = np.where(above >= 0, medians[above], np.nan)
        width = self.place[above] - self.place[below]
        share = np.where(width > 0, (self.place[alone] - self.place[below]) / width, 0.5)
        share = np.where(np.isfinite(share), share, 0.5)
        inside = low + (high - low) * share
        return np.where(np.isnan(low), high, np.where(np.isnan(high), low, inside))

    def _in_file_order(self, sorted_values: Column) -> Column:
        back = np.empty_like(sorted_values)
        back[self.order] = sorted_values
        return back


def _of_neighbours(mode: Ints, neighbour: Ints) -> Ints:
    """The neighbours' most frequent values; −1 where several are, −2 where there is no neighbour."""
    return np.where(neighbour >= 0, mode[neighbour], -2)
