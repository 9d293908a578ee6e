"""Sums and maxima of a product of category channels where a tensor of all combinations would be too large.

A channel is diagonal plus rank one: a key either *agrees* (d) or is *exchanged* (spread · pull). A product
over keys is therefore a sum over the subsets of agreeing keys, and for one subset the persons matter only
through the combination of these keys. Keys are decided one after the other; where one is exchanged, cells
that differ in it alone are merged, so that tables shrink on the way. Blanks are dealt with by pattern: the
keys that are blank in a record.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdckit.kernels.mode_products import TIE, Axis, better

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]

_WORD = 2**62  # combinations of keys are numbered in one integer
_APART = 1e-6  # relative excess below which staying is no better than moving to the same value


class Cells(NamedTuple):
    """Distinct combinations of keys: places along the axes, and the block."""

    places: _Ints  # [cells, axes]
    block: _Ints  # [cells]


class _Key(NamedTuple):
    """One key with codes common to true and shown values, and its chances by code."""

    stride: int
    size: int
    stay: _Floats
    suppressed: _Floats
    spread: _Floats
    pull: _Floats
    moves: bool
    crowded: (
        _Ints  # codes of true values that are more likely to be exchanged for the same value than to stay
    )

    def code(self, packed: _Ints) -> _Ints:
        return packed // self.stride % self.size


class _Table(NamedTuple):
    """Sums and maxima for combinations of keys: all arrays end with the axis of combinations."""

    packed: _Ints  # [N]
    sums: _Floats  # [powers, kinds, N]
    best: _Floats  # [attacks, N]
    held: _Floats  # [attacks, K, N]


class _Pattern(NamedTuple):
    """Records with the same keys blank, and the persons who could have produced them."""

    rows: _Ints  # of the records
    persons: _Ints  # rows of the persons
    blank_chance: _Floats  # [persons] of suppressing just what is blank
    packed: _Ints  # combinations of both, blank keys left out
    person_at: _Ints
    record_at: _Ints
    fixed_chance: _Floats  # [combinations] of staying, over shown keys that never move
    moving: list[_Key]


class Subsets:
    """All patterns of blanks with their combinations of keys."""

    def __init__(self, axes: list[Axis], persons: Cells, records: Cells) -> None:
        self._keys = _keys(axes)
        self._axes = axes
        self.possible = bool(self._keys) and self._combinations(persons, records) < _WORD
        self._persons, self._records = persons, records
        blank = np.zeros(len(records.block), np.int64)
        for v, axis in enumerate(axes):
            blank += (records.places[:, v] == len(axis.pull)).astype(np.int64) << v
        self._blank = blank
        self.patterns = np.unique(blank)

    def _combinations(self, persons: Cells, records: Cells) -> int:
        last = self._keys[-1]
        blocks = max(int(persons.block.max(initial=0)), int(records.block.max(initial=0))) + 1
        return last.stride * last.size * blocks

    @property
    def jobs(self) -> int:
        """How many subsets have to be looked at, over all patterns."""
        total = 0
        for pattern in self.patterns.tolist():
            jobs = 1
            for v, key in enumerate(self._keys):
                if key.moves and not pattern >> v & 1:
                    jobs *= 2 + len(key.crowded)
            total += jobs
        return total

    def expected_records(self, number: _Floats) -> _Floats:
        """Σ over persons of m(y | x), for every record cell; `number` of persons by cell."""
        expected = np.zeros(len(self._records.block))
        for found in self._each():
            start = np.zeros(len(found.packed))
            start += np.bincount(found.person_at, number[found.persons] * found.blank_chance, len(start))
            sums = _spread_out(_only_sums(found.packed, start), found.moving, True).sums[0, 0]
            expected[found.rows] = np.maximum(sums * found.fixed_chance, 0.0)[found.record_at]
        return expected

    def sum_over_records(self, values: _Floats) -> _Floats:
        """Σ over records of their value times m(y | x), for every person cell."""
        total = np.zeros(len(self._persons.block))
        for found in self._each():
            start = np.zeros(len(found.packed))
            start[found.record_at] = values[found.rows]
            sums = _spread_out(_only_sums(found.packed, start), found.moving, False).sums[0, 0]
            total[found.persons] += (sums * found.fixed_chance)[found.person_at] * found.blank_chance
        return total

    def look(
        self, share: _Floats, payload: _Floats, summed: int, powers: int
    ) -> tuple[_Floats, _Floats, _Floats]:
        """What persons see: sums, best and payload of the best, by person cell.

        share [records] is 1/U. sums [summed, persons] of payload · (s + s² + …), best [2, persons] by share
        and by likelihood, held [2, K, persons].
        """
        cells = len(self._persons.block)
        sums, best = np.zeros((summed, cells)), np.zeros((2, cells))
        held = np.zeros((2, len(payload), cells))
        value = np.stack([share, np.ones_like(share)])
        exponents = np.arange(1, powers + 1)[:, None, None]
        for found in self._each():
            size, rows, at = len(found.packed), found.rows, found.record_at
            table = _Table(
                found.packed,
                np.zeros((powers, summed, size)),
                np.zeros((2, size)),
                np.zeros((2, len(payload), size)),
            )
            table.sums[:, :, at] = payload[:summed, rows] * share[rows] ** exponents
            table.best[:, at], table.held[:, :, at] = value[:, rows], payload[:, rows]
            table = _spread_out(table, found.moving, False)
            chance = found.fixed_chance[found.person_at] * found.blank_chance
            who, place = found.persons, found.person_at
            sums[:, who] += (table.sums[:, :, place] * chance**exponents).sum(axis=0)
            larger, with_it = better(
                best[:, None, who],
                held[:, :, who],
                (table.best[:, place] * chance)[:, None],
                table.held[:, :, place],
            )
            best[:, who], held[:, :, who] = larger[:, 0], with_it
        return sums, best, held

    def _each(self) -> Iterator[_Pattern]:
        true = np.stack([self._true_codes(v) for v in range(len(self._keys))])
        for pattern in self.patterns.tolist():
            yield self._pattern(pattern, true)

    def _true_codes(self, v: int) -> _Ints:
        axis = self._axes[v]
        absent = len(axis.pull) + np.cumsum(axis.same < 0) - 1
        return np.where(axis.same < 0, absent, axis.same)[self._persons.places[:, v]]

    def _pattern(self, pattern: int, true: _Ints) -> _Pattern:
        rows = np.flatnonzero(self._blank == pattern)
        keys = [(v, key) for v, key in enumerate(self._keys) if not pattern >> v & 1]
        last = self._keys[-1]
        persons, records = self._persons.block * last.stride * last.size, self._records.block[rows]
        records = records * last.stride * last.size
        chance = np.ones(len(persons))
        for v, key in enumerate(self._keys):
            if pattern >> v & 1:
                chance *= key.suppressed[true[v]]
        fixed = (persons.copy(), records.copy())
        for v, key in keys:
            mine, theirs = true[v] * key.stride, self._records.places[rows, v] * key.stride
            persons, records = persons + mine, records + theirs
            if not key.moves:
                fixed = fixed[0] + mine, fixed[1] + theirs
        able = np.flatnonzero((chance > 0) & _occurs(fixed[0], fixed[1]))
        packed, at = np.unique(np.concatenate([persons[able], records]), return_inverse=True)
        stays = np.ones(len(packed))
        for _, key in keys:
            if not key.moves:
                stays *= key.stay[key.code(packed)]
        moving = sorted((key for _, key in keys if key.moves), key=lambda key: -key.size)
        return _Pattern(rows, able, chance[able], packed, at[: len(able)], at[len(able) :], stays, moving)


def _keys(axes: list[Axis]) -> list[_Key]:
    keys, stride = [], 1
    for axis in axes:
        shown, absent = len(axis.pull), axis.same < 0
        size = shown + int(absent.sum())
        code = np.where(absent, shown + np.cumsum(absent) - 1, axis.same)
        chances = np.zeros((4, max(size, 1)))
        chances[0, code], chances[1, code], chances[2, code] = axis.stay, axis.suppressed, axis.spread
        chances[3, :shown] = axis.pull
        stay, _, spread, pull = chances
        stay[shown:] = 0.0  # released by nobody
        crowded = np.flatnonzero((spread > 0) & (pull > 0) & (stay - spread * pull <= _APART * stay))
        moves = bool(axis.spread.any())
        keys.append(_Key(stride, max(size, 1), stay, chances[1], spread, pull, moves, crowded))
        stride *= max(size, 1)
    return keys


def _occurs(values: _Ints, among: _Ints) -> _Bools:
    """Which values occur among others."""
    distinct = np.unique(among)
    place = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)
    return np.asarray(distinct[place] == values)


def _only_sums(packed: _Ints, values: _Floats) -> _Table:
    """A table without maxima."""
    return _Table(packed, values[None, None], np.zeros((0, len(packed))), np.zeros((0, 0, len(packed))))


def _spread_out(table: _Table, keys: list[_Key], forward: bool) -> _Table:
    """Let each of these keys agree or be exchanged; forward from persons to records, else back."""
    if not keys:
        return table
    key, rest = keys[0], keys[1:]
    code = key.code(table.packed)
    exponents = np.arange(1, len(table.sums) + 1)[:, None, None]
    merging, spreading = (key.spread, key.pull) if forward else (key.pull, key.spread)
    excess = key.stay**exponents - (key.spread * key.pull) ** exponents
    kept = _spread_out(table, rest, forward)
    groups = _Groups.of(table.packed - code * key.stride)
    sums = groups.sums(table.sums * (merging**exponents)[..., code])
    best, held = groups.largest(table.best * merging[code], table.held)
    other = _spread_out(_Table(groups.packed, sums, best, held), rest, forward)
    at = groups.at
    sums = excess[..., code] * kept.sums + (spreading**exponents)[..., code] * other.sums[..., at]
    if not len(table.best):
        return _Table(table.packed, sums, kept.best, kept.held)
    moved, moved_held = other.best[:, at], other.held[:, :, at]
    for value in key.crowded.tolist():
        here = np.flatnonzero(code == value)
        if len(here):  # the same value must not count as an exchange
            best, held = groups.largest(np.where(code == value, 0.0, table.best * merging[code]), table.held)
            no_sums = np.zeros((0, 0, len(groups.packed)))
            others = _spread_out(_Table(groups.packed, no_sums, best, held), rest, forward)
            moved[:, here], moved_held[:, :, here] = others.best[:, at[here]], others.held[:, :, at[here]]
    larger, with_it = better(
        (key.stay[code] * kept.best)[:, None], kept.held, (spreading[code] * moved)[:, None], moved_held
    )
    return _Table(table.packed, sums, larger[:, 0], with_it)


class _Groups(NamedTuple):
    """Combinations that differ in one key alone."""

    packed: _Ints  # [groups]
    order: _Ints  # [N] combinations by group
    first: _Ints  # [groups] where groups begin in this order
    at: _Ints  # [N] group of each combination

    @classmethod
    def of(cls, packed: _Ints) -> "_Groups":
        order = np.argsort(packed, kind="stable")  # runs are sorted already
        ordered = packed[order]
        new = np.diff(ordered, prepend=-1) != 0
        at = np.empty(len(packed), np.int64)
        at[order] = np.cumsum(new) - 1
        first = np.flatnonzero(new)
        return cls(ordered[first], order, first, at)

    def sums(self, values: _Floats) -> _Floats:
        return np.asarray(np.add.reduceat(values[..., self.order], self.first, axis=-1))

    def largest(self, best: _Floats, held: _Floats) -> tuple[_Floats, _Floats]:
        """The largest of each group with the payloads that attain it."""
        if not len(best):
            return best[:, self.first], held[:, :, self.first]
        top = np.maximum.reduceat(best[:, self.order], self.first, axis=-1)
        near = best >= top[:, self.at] * (1 - TIE)
        return top, self.sums(np.where(near[:, None], held, 0.0))
