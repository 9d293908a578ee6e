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
    ratio, chance, last = np.zeros(0), 1.0, -1
    for place in order.tolist():
        person = int(wanted[place])
        if cells.person[person] != last:
            last = int(cells.person[person])
            ratio, chance = field.odds_of(last, pairs.complete)
        figures[:, place] = field.judged(person, float(true[person]), ratio, chance)
    counted = (~np.isnan(true[wanted])).astype(np.float64)
    known, without, sure, right, share = figures
    return AttributeInference(counted, known, without, sure, right, share, field.baseline)


class _Field(NamedTuple):
    """Released numbers in their order, and what is needed to look at them with one person's keys."""

    cells: KeyCells
    total: Floats  # [record cells] U
    number: Floats  # [record cells] records
    without_number: Floats  # [record cells] records that do not show a number
    by_block: Ints  # record cells by block
    bounds: Ints  # where blocks begin there
    values: Floats  # released numbers, sorted
    cell: Ints  # their record cells
    ends: Ints  # how far a guess that covers a value from below reaches
    place: Ints  # [p] the place of each person's own record among the sorted; −1 if it has no number
    known: Floats  # true numbers of all persons, sorted
    within: float
    baseline: float

    @classmethod
    def of(
        cls, pairs: KeyPairs, cells: KeyCells, total: Floats, true: Floats, shown: Floats, within: float
    ) -> "_Field":
        kept = np.flatnonzero(pairs.in_file & ~np.isnan(shown))
        kept = kept[np.argsort(shown[kept], kind="stable")]
        place = np.full(len(shown), -1)
        place[kept] = np.arange(len(kept))
        known = np.sort(true[~np.isnan(true)])
        best = (_reach(known, within) - np.arange(len(known))).max(initial=0)
        by_block = np.argsort(cells.records.block, kind="stable")
        bounds = np.searchsorted(cells.records.block[by_block], np.arange(cells.blocks + 1))
        return cls(
            cells,
            total,
            cells.per_record_cell(pairs.count, pairs.in_file),
            cells.per_record_cell(pairs.count, pairs.in_file & np.isnan(shown)),
            by_block,
            bounds,
            shown[kept],
            cells.record[kept],
            _reach(shown[kept], within),
            place,
            known,
            within,
            best / max(len(known), 1),
        )

    def odds_of(self, person_cell: int, complete: bool) -> tuple[Floats, float]:
        """Odds of all record cells, and the chance that such a person is in the file."""
        block = self.cells.persons.block[person_cell]
        there = self.by_block[self.bounds[block] : self.bounds[block + 1]]
        likelihood = np.ones(len(there))
        for v, axis in enumerate(self.cells.axes):
            row = axis.row(int(self.cells.persons.places[person_cell, v]))
            likelihood *= row[self.cells.records.places[there, v]]
        share = likelihood / np.maximum(self.total[there], 1e-300)
        ratio = np.zeros(len(self.total))
        ratio[there] = odds(share)
        chance = 1.0 if complete else min(float(share @ self.number[there]), 1.0)
        return ratio, chance

    def judged(self, person: int, value: float, ratio: Floats, chance: float) -> Floats:
        """Chances of the true value with and without the own record, and of the guess; right or not; share."""
        if np.isnan(value):
            return np.zeros(5)
        low, high = _window(self.values, value, self.within)
        start, end = _window(self.known, value, self.within)
        share = (end - start) / max(len(self.known), 1)
        weights, blank = ratio[self.cell], float(ratio @ self.without_number)
        total = float(weights.sum()) + blank
        scale = chance / total if total > 0 else 0.0
        known = float(weights[low:high].sum()) * scale + share * (1 - scale * total)
        sure, right = self._guessed(weights, value)
        own = self.place[person]
        if own >= 0:
            weights[own] = 0.0  # not subtracted from sums: of huge odds only rounding errors would be left
        inside, others = float(weights[low:high].sum()), float(weights.sum()) + blank
        without = inside / max(others, 1.0) + share * max(1 - others, 0.0)
        return np.array([known, without, sure * scale, right, share])

    def _guessed(self, weights: Floats, value: float) -> tuple[float, float]:
        """Weight of the records that the best guess covers, and whether it covers the true value."""
        if not len(weights):
            return 0.0, 0.0
        sums = np.concatenate([[0.0], np.cumsum(weights)])
        reached = sums[self.ends] - sums[:-1]
        best = int(reached.argmax())
        lowest = self.values[best]
        guess = lowest * (1 + self.within) if lowest > 0 else lowest * (1 - self.within)
        return float(reached[best]), float(abs(guess - value) <= self.within * abs(value) * (1 + _ROUNDING))


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
