"""What an intruder who knows a person's keys learns about a sensitive number, to within a relative error."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit.models._key_cells import KeyCells, key_cells
from sdckit.models._key_looks import TooManyCells, expected, odds
from sdckit.models.attribute_inference import AttributeInference
from sdckit.models.category_channel import CategoryChannel
from sdckit.models.key_pairs import KeyPairs

_ROUNDING = 1e-12
_TIE = 1e-9


def infer_number(
    pairs: KeyPairs,
    true: Floats,
    shown: Floats,
    *,
    within: float,
    rows: Ints | None = None,
    channels: Sequence[CategoryChannel] | None = None,
) -> AttributeInference | TooManyCells:
    """Infer a sensitive number of the persons in `rows` (all, if not given) from their keys.

    q = Σ_j ρ_j·[|z_j − z| ≤ within·|z|], with the posterior ρ of the attack on keys, the released values z_j
    and the person's true value z. The intruder's guess is the number that is within this error of the true
    value with the largest probability. `pairs` has one row a person; nan is missing or blank. Arrays of the
    result are over `rows`. Time grows with rows × record cells: take a sample in large files.
    """
    cells = key_cells(pairs, pairs.channels() if channels is None else channels)
    total = expected(cells, cells.per_person_cell(pairs.count))
    if isinstance(total, TooManyCells):
        return total
    wanted = np.arange(len(true)) if rows is None else rows
    field = _Field.of(pairs, cells, total, true, shown, within)
    figures = np.zeros((5, len(wanted)))
    order = np.argsort(cells.person[wanted], kind="stable")
    last, view = -1, None
    for place in order.tolist():
        person = int(wanted[place])
        if view is None or cells.person[person] != last:
            last = int(cells.person[person])
            view = field.seen_by(last, pairs.complete)
        if not np.isnan(true[person]):
            figures[:, place] = field.judged(person, float(true[person]), view)
    known, without, sure, right, share = figures
    counted = (~np.isnan(true[wanted])).astype(np.float64)
    return AttributeInference(counted, known, without, sure, right, share, field.baseline)


class _View(NamedTuple):
    """What persons with the same keys see of the records of their block."""

    values: Floats  # released numbers, sorted; without most of those that are impossible
    weights: Floats  # odds of these records
    at: Ints  # their places among all records
    blank: float  # odds of the records that show no number
    chance: float  # of being in the file
    best: float  # odds of the records that the best guess covers
    guess: float


class _Field(NamedTuple):
    """Records with their numbers, block by block and in order there."""

    cells: KeyCells
    total: Floats  # [record cells, by block] U
    number: Floats  # [record cells, by block] records
    without_number: Floats  # [record cells, by block] records that show no number
    places: Ints  # [axes; record cells, by block]
    cell_bounds: Ints  # where blocks begin among the record cells
    values: Floats  # [records]
    cell: Ints  # [records]
    bounds: Ints  # where blocks begin among the records
    place: Ints  # [p] where each person's own record is; −1 if it shows no number
    known: Floats  # true numbers of all persons, sorted
    within: float
    baseline: float
    reach: dict[int, Ints]  # of the last block, kept from person to person

    @classmethod
    def of(
        cls, pairs: KeyPairs, cells: KeyCells, total: Floats, true: Floats, shown: Floats, within: float
    ) -> "_Field":
        by_block = np.argsort(cells.records.block, kind="stable")
        rank = np.empty(len(by_block), np.int64)
        rank[by_block] = np.arange(len(by_block))
        kept = np.flatnonzero(pairs.in_file & ~np.isnan(shown))
        block = cells.records.block[cells.record[kept]]
        kept = kept[np.lexsort((shown[kept], block))]
        place = np.full(len(shown), -1)
        place[kept] = np.arange(len(kept))
        known = np.sort(true[~np.isnan(true)])
        best = (_reach(known, within) - np.arange(len(known))).max(initial=0)
        starts = np.arange(cells.blocks + 1)
        return cls(
            cells,
            total[by_block],
            cells.per_record_cell(pairs.count, pairs.in_file)[by_block],
            cells.per_record_cell(pairs.count, pairs.in_file & np.isnan(shown))[by_block],
            np.ascontiguousarray(cells.records.places[by_block].T),
            np.searchsorted(cells.records.block[by_block], starts),
            shown[kept],
            rank[cells.record[kept]],
            np.searchsorted(np.sort(block), starts),
            place,
            known,
            within,
            best / max(len(known), 1),
            {},
        )

    def seen_by(self, person_cell: int, complete: bool) -> _View:
        """Odds of all records of the block, and the best guess."""
        block = int(self.cells.persons.block[person_cell])
        there = slice(self.cell_bounds[block], self.cell_bounds[block + 1])
        share = self._shares(person_cell, there)
        ratio = odds(share)
        chance = 1.0 if complete else min(float(share @ self.number[there]), 1.0)
        first, end = int(self.bounds[block]), int(self.bounds[block + 1])
        weights = ratio[self.cell[first:end] - self.cell_bounds[block]]
        possible = np.flatnonzero(weights)
        at = first + possible
        if 4 * len(possible) < len(weights):
            covers = _reach(self.values[at], self.within)
        else:  # all records of the block: the same for all its persons
            possible, at = np.arange(len(weights)), np.arange(first, end)
            if block not in self.reach:
                self.reach.clear()
                self.reach[block] = _reach(self.values[at], self.within)
            covers = self.reach[block]
        best, guess = _best_guess(self.values[at], weights[possible], covers, self.within)
        blank = float(ratio @ self.without_number[there])
        return _View(self.values[at], weights[possible], at, blank, chance, best, guess)

    def _shares(self, person_cell: int, there: slice) -> Floats:
        """Shares of the record cells of a block; those that are impossible are left alone early."""
        likelihood, left = np.ones(there.stop - there.start), np.arange(there.start, there.stop)
        for v in np.argsort([-axis.released for axis in self.cells.axes], kind="stable").tolist():
            row = self.cells.axes[v].row(int(self.cells.persons.places[person_cell, v]))
            chance = row[self.places[v, left]]
            if row.min() == 0:
                possible = np.flatnonzero(chance)
                left, chance, likelihood = left[possible], chance[possible], likelihood[possible]
            likelihood = likelihood * chance
        share = np.zeros(there.stop - there.start)
        share[left - there.start] = likelihood / np.maximum(self.total[left], 1e-300)
        return share

    def judged(self, person: int, value: float, view: _View) -> Floats:
        """Chance of the true value, the same without the own record, of the guess; right or not; share."""
        low, high = _window(view.values, value, self.within)
        start, end = _window(self.known, value, self.within)
        share = (end - start) / max(len(self.known), 1)
        total = float(view.weights.sum()) + view.blank
        scale = view.chance / total if total > 0 else 0.0
        known = float(view.weights[low:high].sum()) * scale + share * (1 - scale * total)
        # the own record is not subtracted from sums: of huge odds only rounding errors would be left
        others = np.where(view.at == self.place[person], 0.0, view.weights)
        rest = float(others.sum()) + view.blank
        without = float(others[low:high].sum()) / max(rest, 1.0) + share * max(1 - rest, 0.0)
        right = abs(view.guess - value) <= self.within * abs(value) * (1 + _ROUNDING)
        return np.array([known, without, view.best * scale, float(right), share])


def _best_guess(values: Floats, weights: Floats, covers: Ints, within: float) -> tuple[float, float]:
    """The largest weight of records that one guess covers, and the guess; nan if there are none.

    It is the middle of all that cover them: what stands alone is guessed as it is.
    """
    if not len(values):
        return 0.0, np.nan
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    covered = sums[covers] - sums[:-1]
    best = int(np.argmax(covered >= covered.max() * (1 - _TIE)))  # of ties the smallest guess
    lowest, highest = float(values[best]), float(values[covers[best] - 1])
    least, most = highest - within * abs(highest), lowest + within * abs(lowest)
    return float(covered[best]), (least + most) / 2


def _window(values: Floats, value: float, within: float) -> tuple[int, int]:
    """Where sorted values lie within the error of a true one."""
    margin = within * abs(value) * (1 + _ROUNDING)
    low, high = np.searchsorted(values, value - margin), np.searchsorted(values, value + margin, side="right")
    return int(low), int(high)


def _reach(values: Floats, within: float) -> Ints:
    """For each of the sorted values, how many are below the largest that one guess covers with it.

    A guess g is within the error p of all true values from g/(1+p) to g/(1−p) (the other way round below 0).
    """
    ratio = (1 + within) / (1 - within)
    largest = np.where(values > 0, values * ratio, np.where(values < 0, values / ratio, 0.0))
    largest = largest + np.abs(largest) * _ROUNDING
    return np.asarray(np.searchsorted(values, largest, side="right"))
