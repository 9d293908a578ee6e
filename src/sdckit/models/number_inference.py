"""What an intruder who knows a person's keys learns about a sensitive number."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.kernels.hashing import pack
from sdckit.models._key_cells import key_cells
from sdckit.models._key_looks import Carried, TooManyCells, look, odds
from sdckit.models.category_channel import CategoryChannel
from sdckit.models.key_pairs import KeyPairs

BLOCK = 4_000_000  # pairs of a target and a key combination that are looked at together


@dataclass(frozen=True, slots=True, eq=False)
class NumberInference:
    """The intruder's probability that a sensitive number lies near the true one; arrays over the targets."""

    targets: Ints
    chance: Floats  # probability of a value near the true one
    without_own: Floats  # the same if the person's own record were not in the file
    baseline: Floats  # share of all released numbers that lie near the true one

    def is_inferred(self, sure: float) -> Bools:
        """Whose number he is so sure of, though it is not as common as that."""
        return np.asarray((self.chance >= sure - 1e-9) & (self.baseline < sure))

    def is_inferred_by_own_record(self, sure: float) -> Bools:
        """Of whom he would not be so sure, had they not taken part."""
        return np.asarray(self.is_inferred(sure) & (self.without_own < sure - 1e-9))


def infer_number(
    pairs: KeyPairs,
    true: Floats,
    shown: Floats,
    within: float,
    targets: Ints,
    channels: Sequence[CategoryChannel],
) -> NumberInference | TooManyCells:
    """Infer a sensitive number from the keys: the posterior weight of records that show a number near it.

    `pairs` has one row a person; `true` is the person's number, `shown` that of the own record; nan is
    missing. Near is within the part `within` of the true value. Targets without a number are left out.
    """
    targets = targets[np.isfinite(true[targets])]
    in_file = pairs.in_file & np.isfinite(shown)
    cells = key_cells(pairs, channels)
    records = cells.per_record_cell(pairs.count, pairs.in_file)
    looks = look(
        cells, Carried(cells.per_person_cell(pairs.count), records, records[None, :], 1, pairs.complete)
    )
    if isinstance(looks, TooManyCells):
        return looks
    _, first, group = np.unique(
        pack(np.ascontiguousarray(pairs.y[pairs.in_file], dtype=np.int32)),
        return_index=True,
        return_inverse=True,
    )
    rows = np.flatnonzero(pairs.in_file)
    released = pairs.y[rows[first]]  # the distinct released key combinations
    expected = looks.expected[cells.record[rows[first]]]
    groups = np.full(len(true), -1)
    groups[rows] = group
    sizes = np.bincount(group, minlength=len(first)).astype(np.float64)
    values = _Sorted.of(groups[in_file], shown[in_file], len(first))
    chance, without = np.empty(len(targets)), np.empty(len(targets))
    step = max(1, BLOCK // max(len(first), 1))
    for start in range(0, len(targets), step):
        some = targets[start : start + step]
        likely = np.ones((len(some), len(first)))
        for v, channel in enumerate(channels):
            likely *= channel.likelihood(pairs.x[some, v][:, None], released[None, :, v])
        share = np.divide(likely, expected, out=np.zeros_like(likely), where=(likely > 0) & (expected > 0))
        weight = odds(np.minimum(share, 1.0))
        near = values.near(true[some], within)
        total, right = (weight * sizes).sum(axis=1), (weight * near).sum(axis=1)
        base = _baseline(values, true[some], within)
        chance[start : start + step] = np.where(total > 0, right / np.maximum(total, 1e-300), base)
        mine = np.maximum(groups[some], 0)
        own = np.where(groups[some] >= 0, weight[np.arange(len(some)), mine], 0.0)
        is_near = np.abs(shown[some] - true[some]) <= within * np.abs(true[some])
        rest, left = total - own, right - np.where(is_near, own, 0.0)
        without[start : start + step] = np.where(rest > 1e-9 * total, left / np.maximum(rest, 1e-300), base)
    return NumberInference(targets, chance, without, _baseline(values, true[targets], within))


@dataclass(frozen=True, slots=True, eq=False)
class _Sorted:
    """Released numbers, sorted within each group."""

    start: Ints
    values: Floats
    all: Floats

    @classmethod
    def of(cls, group: Ints, values: Floats, number: int) -> "_Sorted":
        order = np.lexsort((values, group))
        start = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=number))])
        return cls(start, values[order], np.sort(values))

    def near(self, true: Floats, within: float) -> Floats:
        """How many records of each group lie near each of these values."""
        found = np.zeros((len(true), len(self.start) - 1))
        low, high = true - within * np.abs(true), true + within * np.abs(true)
        for g in range(len(self.start) - 1):
            part = self.values[self.start[g] : self.start[g + 1]]
            found[:, g] = np.searchsorted(part, high, side="right") - np.searchsorted(part, low, side="left")
        return found


def _baseline(values: _Sorted, true: Floats, within: float) -> Floats:
    low, high = true - within * np.abs(true), true + within * np.abs(true)
    count = np.searchsorted(values.all, high, side="right") - np.searchsorted(values.all, low, side="left")
    return np.asarray(count / max(len(values.all), 1))
