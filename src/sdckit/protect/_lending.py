"""Risky records blanked together with others that hide them, decided on cells and on few records."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from math import ceil
from typing import Any

import numpy as np

from sdckit._support.arrays import Bools, Codes, Floats, Ints
from sdckit.models.cell_risk import cell_risk
from sdckit.protect._weighted_cells import WeightedCells


def _no_numbers() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass
class Records:
    """Single records: what each is known by, its place in a drawn order, cell, blanks (bits) and weight.

    record: the number by which the caller knows it. code: its id as a whole number, which decides where two
    drew the same.
    """

    record: Ints = field(default_factory=_no_numbers)
    code: Ints = field(default_factory=_no_numbers)
    cell: Ints = field(default_factory=_no_numbers)
    high: Ints = field(default_factory=_no_numbers)
    low: Ints = field(default_factory=_no_numbers)
    blank: Ints = field(default_factory=_no_numbers)
    drawn: Floats = field(default_factory=lambda: np.zeros(0))

    def __getitem__(self, which: Any) -> "Records":
        return Records(*(getattr(self, f.name)[which] for f in fields(self)))

    def with_more(self, other: "Records") -> "Records":
        """These and others."""
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return Records(*(np.concatenate(pair) for pair in pairs))


# For a limit of each cell (0 where none are wanted), the number of the step and the records drawn before:
# the other records of the cells whose numbers are below the limits.
Fetch = Callable[[Floats, int, Records], Records]
# The numbers that records with these codes draw in a step.
Draw = Callable[[Ints, int], Floats]


class RiskyCells:
    """The cells of a file while risky ones are blanked, some of them together with records of safe ones.

    The risk of a record is that of its released combination of keys, a blank being a value of its own. All
    records of a cell have the same blanks (`blank`), but for the `singles`, which were drawn from it.
    """

    def __init__(self, cells: WeightedCells, threshold: float, fetch: Fetch, draw: Draw) -> None:
        self.cells, self.threshold, self.fetch, self.draw = cells, threshold, fetch, draw
        self.blank = np.zeros(len(cells.codes), dtype=np.int64)
        self.left = [cells.records.copy(), cells.high.copy(), cells.low.copy()]  # of each cell, in one piece
        self.singles = Records()
        self.steps = 0

    def blank_keys(self, keys: int, *, last: bool) -> None:
        """Blank some keys (bits) in risky records wherever that makes them safe, or at last less risky."""
        parts = _Parts.of(self)
        risk = cell_risk(*parts.sums(parts.pattern))
        wide = self.shown(parts.cell, parts.blank | keys)
        meeting = _groups(wide)
        risky = risk[parts.pattern] > self.threshold
        moved = risky | (wide == parts.shown).all(axis=1)  # or shown like this already
        concerned = np.zeros(meeting.max(initial=-1) + 1, dtype=bool)
        concerned[meeting[risky]] = True
        moved &= concerned[meeting]
        lending = concerned[meeting] & ~moved
        together = parts.sums(meeting, moved)
        lenders, enough = self._lenders(parts, meeting, lending, together, concerned)
        if last:  # better than nothing
            before = np.zeros(len(concerned))
            np.maximum.at(before, meeting[moved], risk[parts.pattern[moved]])
            alone = np.ones(len(concerned))
            alone[concerned] = cell_risk(together[0][concerned], together[1][concerned])
            enough |= concerned & (alone < before)
        self._move(parts, moved & enough[meeting], lenders, keys)
        self.steps += 1

    def _lenders(
        self, parts: "_Parts", meeting: Ints, lending: Bools, together: tuple[Floats, Floats], wanted: Bools
    ) -> tuple[Records, Bools]:
        """The records to take along, and in which meetings they are enough, each with as few as possible.

        Records are asked for in the order of their numbers, not many more than will be needed; where these do
        not suffice, more of them.
        """
        size, weight = parts.sums(meeting, lending)
        need = _likely_need(together, size, weight, self.threshold)
        limit = np.minimum((need + 6 * np.sqrt(need) + 12) / np.maximum(size, 1), 1.0)
        taken, enough = Records(), np.zeros(len(wanted), dtype=bool)
        wanted = wanted.copy()
        bulk = len(self.blank)  # the first parts are cells, the others single records
        while wanted.any():
            of_cell = np.zeros(bulk)
            here = np.flatnonzero((lending & wanted[meeting])[:bulk])
            of_cell[here] = limit[meeting[here]]
            found = self.fetch(of_cell, self.steps, self.singles)
            found.blank = self.blank[found.cell]
            part = np.concatenate([found.cell, bulk + np.arange(len(self.singles.cell))])
            singles = self.singles[:]
            singles.drawn = self.draw(singles.code, self.steps)
            found = found.with_more(singles)
            near = (lending & wanted[meeting])[part] & (found.drawn <= limit[meeting[part]])
            chosen, hidden = self._enough(parts, found[near], part[near], meeting, together)
            taken, enough = taken.with_more(chosen), enough | (hidden & wanted)
            wanted &= ~hidden & (limit < 1)
            limit = np.minimum(8 * limit, 1.0)
        return taken, enough

    def _enough(
        self, parts: "_Parts", found: Records, part: Ints, meeting: Ints, together: tuple[Floats, Floats]
    ) -> tuple[Records, Bools]:
        """Of these lenders the first that make those moved safe, and in which meetings they do."""
        size, weight = together
        hidden = np.zeros(len(size), dtype=bool)
        some = size > 0
        hidden[some] = cell_risk(size[some], weight[some]) <= self.threshold
        order = np.lexsort((found.code, found.drawn, meeting[part]))
        allowed = self._may_leave(parts, found, part)[order] & ~hidden[meeting[part[order]]]
        order = order[allowed]
        place = meeting[part[order]]
        count, high, low = (
            _running(x[order], place) for x in (np.ones_like(found.cell), found.high, found.low)
        )
        risks = cell_risk(size[place] + count, weight[place] + self.cells.weight(high, low))
        safe = risks <= self.threshold
        first = np.full(len(size), np.iinfo(np.int64).max)
        np.minimum.at(first, place[safe], count[safe])
        hidden[place[safe]] = True
        return found[order[hidden[place] & (count <= first[place])]], hidden

    def _may_leave(self, parts: "_Parts", found: Records, part: Ints) -> Bools:
        """Those that can leave their combinations, one after the other, without making the rest risky."""
        order = np.lexsort((found.code, found.drawn, parts.pattern[part]))
        pattern = parts.pattern[part[order]]
        size, weight = parts.sums(parts.pattern)
        gone, high, low = (
            _running(x[order], pattern) for x in (np.ones_like(found.cell), found.high, found.low)
        )
        left, left_weight = size[pattern] - gone, weight[pattern] - self.cells.weight(high, low)
        some = left > 0  # the last one stays
        safe = np.zeros(len(order), dtype=bool)
        safe[some] = cell_risk(left[some], np.maximum(left_weight[some], left[some])) <= self.threshold
        allowed = np.zeros(len(order), dtype=bool)
        allowed[order] = _running((~safe).astype(np.int64), pattern) == 0
        return allowed

    def _move(self, parts: "_Parts", moved: Bools, lenders: Records, keys: int) -> None:
        bulk = len(self.blank)
        self.blank[moved[:bulk]] |= keys
        self.singles.blank[moved[bulk:]] |= keys
        again = np.isin(self.singles.record, lenders.record)
        self.singles.blank[again] |= keys
        new = lenders[~np.isin(lenders.record, self.singles.record)]
        for left, of_one in zip(self.left, (np.ones_like(new.cell), new.high, new.low), strict=True):
            np.subtract.at(left, new.cell, of_one)
        new.blank = new.blank | keys
        self.singles = self.singles.with_more(new)

    def shown(self, cell: Ints, blank: Ints) -> Codes:
        """The codes that records of cells show with these blanks (bits)."""
        bits = np.arange(self.cells.codes.shape[1], dtype=np.int64)
        return np.where(blank[:, None] >> bits & 1, np.int32(-1), self.cells.codes[cell])

    def released(self) -> "Released":
        """What the file is like now."""
        parts = _Parts.of(self)
        risk = cell_risk(*parts.sums(parts.pattern))
        before = cell_risk(self.cells.records.astype(np.float64), self._weights()) > self.threshold
        gone = (parts.shown < 0) & (self.cells.codes[parts.cell] >= 0)
        touched = gone.any(axis=1)
        return Released(
            suppressed=(gone * parts.records[:, None]).sum(axis=0),
            touched=int(parts.records[touched].sum()),
            lent=int(parts.records[touched & ~before[parts.cell]].sum()),
            above_before=int(self.cells.records[before].sum()),
            above_after=int(parts.records[risk[parts.pattern] > self.threshold].sum()),
        )

    def _weights(self) -> Floats:
        return self.cells.weight(self.cells.high, self.cells.low)


@dataclass(frozen=True)
class Released:
    """Values suppressed by key, records touched and lent, and how many were and are above the threshold."""

    suppressed: Ints
    touched: int
    lent: int
    above_before: int
    above_after: int


@dataclass(frozen=True)
class _Parts:
    """Cells, as far as they are in one piece, and behind them the single records; pattern: shown alike."""

    cells: WeightedCells
    cell: Ints
    blank: Ints
    records: Ints
    high: Ints
    low: Ints
    shown: Codes
    pattern: Ints

    @classmethod
    def of(cls, state: RiskyCells) -> "_Parts":
        one = state.singles
        cell = np.concatenate([np.arange(len(state.blank)), one.cell])
        blank = np.concatenate([state.blank, one.blank])
        alone = (np.ones_like(one.cell), one.high, one.low)
        records, high, low = (np.concatenate(pair) for pair in zip(state.left, alone, strict=True))
        shown = state.shown(cell, blank)
        return cls(state.cells, cell, blank, records, high, low, shown, _groups(shown))

    def sums(self, group: Ints, which: Bools | None = None) -> tuple[Floats, Floats]:
        """For each group how many records its parts have, or some of them, and the sum of their weights."""
        found = []
        for values in (self.records, self.high, self.low):
            total = np.zeros(group.max(initial=-1) + 1, dtype=np.int64)
            np.add.at(total, group, values if which is None else np.where(which, values, 0))
            found.append(total)
        return found[0].astype(np.float64), self.cells.weight(found[1], found[2])


def _groups(codes: Codes) -> Ints:
    from sdckit.kernels.suppression.counts import group_rows

    return group_rows(codes)


def _running(values: Ints, group: Ints) -> Ints:
    """Sums up to here within groups, whose rows stand together."""
    total = np.cumsum(values)
    first = np.flatnonzero(np.append(True, np.diff(group) != 0)[: len(group)])
    before = np.repeat(total[first] - values[first], np.diff(np.append(first, len(group))))
    return np.asarray(total - before)


def _likely_need(together: tuple[Floats, Floats], size: Floats, weight: Floats, threshold: float) -> Floats:
    """How many lenders of average weight make the records of each meeting safe: never above 1/threshold."""
    moved, moved_weight = together
    mean = weight / np.maximum(size, 1.0)
    need = np.zeros(len(moved))
    open_ = np.flatnonzero((moved > 0) & (size > 0))
    for more in range(ceil(1 / threshold) + 1):
        risks = cell_risk(moved[open_] + more, moved_weight[open_] + more * mean[open_])
        need[open_] = more
        open_ = open_[risks > threshold]
        if not len(open_):
            break
    return need
