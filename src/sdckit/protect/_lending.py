"""Risky records blanked together with others that hide them."""

import numpy as np

from sdckit._support.arrays import Bools, Codes, Floats, Ints
from sdckit.models.cell_risk import cell_risk


class RiskyRecords:
    """The keys of a file while risky records are blanked, some of them together with safe ones.

    The risk of a record is that of its released combination of keys, a blank being a value of its own.
    """

    def __init__(self, codes: Codes, weights: Floats, threshold: float, rng: np.random.Generator) -> None:
        self.original, self.now = codes, codes.copy()
        self.weights, self.threshold, self.rng = weights, threshold, rng

    def mask(self) -> Bools:
        """The values that were blanked."""
        return np.asarray((self.now < 0) & (self.original >= 0))

    def blank(self, keys: list[int], *, last: bool) -> None:
        """Blank some keys in risky records wherever that makes them safe, or on the last try less risky."""
        from sdckit.kernels.suppression.counts import group_rows

        pattern, size, weight = self._patterns()
        risk = cell_risk(size, weight)
        risky = risk[pattern] > self.threshold
        wide = self.now.copy()
        wide[:, keys] = -1
        meeting = group_rows(wide)
        there = (wide == self.now).all(axis=1)  # shown like this already
        order = np.argsort(meeting, kind="stable")
        concerned = np.unique(meeting[risky])
        start = np.searchsorted(meeting[order], concerned)
        end = np.searchsorted(meeting[order], concerned, side="right")
        for a, b in zip(start.tolist(), end.tolist(), strict=True):
            rows = order[a:b]
            moved = rows[risky[rows] | there[rows]]
            lenders = rows[~(risky[rows] | there[rows])]
            lenders = self._may_leave(self.rng.permutation(lenders), pattern, size, weight)
            taken = self._needed(moved, lenders)
            if taken < 0:
                before = float(risk[pattern[moved]].max())
                if not last or self._risk(moved)[-1] >= before:
                    continue
                taken = 0
            chosen = np.concatenate([moved, lenders[:taken]])
            self.now[chosen] = wide[chosen]

    def _patterns(self) -> tuple[Ints, Floats, Floats]:
        from sdckit.kernels.suppression.counts import group_rows

        pattern = group_rows(self.now)
        size = np.bincount(pattern).astype(np.float64)
        return pattern, size, np.bincount(pattern, self.weights).astype(np.float64)

    def _risk(self, rows: Ints) -> Floats:
        """The risk of the first record, the first two, … if they share a combination."""
        return cell_risk(np.arange(1.0, len(rows) + 1), np.cumsum(self.weights[rows]))

    def _needed(self, moved: Ints, lenders: Ints) -> int:
        """How many lenders make the others safe, −1 if all of them do not."""
        risks = self._risk(np.concatenate([moved, lenders]))[len(moved) - 1 :]
        safe = np.flatnonzero(risks <= self.threshold)
        return int(safe[0]) if len(safe) else -1

    def _may_leave(self, rows: Ints, pattern: Ints, size: Floats, weight: Floats) -> Ints:
        """Those that can leave their combinations, one after the other, without making the rest risky."""
        allowed = np.zeros(len(rows), dtype=bool)
        for p in np.unique(pattern[rows]).tolist():
            mine = np.flatnonzero(pattern[rows] == p)
            gone = np.arange(1.0, len(mine) + 1)
            left, left_weight = size[p] - gone, weight[p] - np.cumsum(self.weights[rows[mine]])
            some = left > 0  # the last one stays
            safe = np.zeros(len(mine), dtype=bool)
            safe[some] = cell_risk(left[some], np.maximum(left_weight[some], left[some])) <= self.threshold
            allowed[mine[: int(np.argmin(np.append(safe, False)))]] = True
        return rows[allowed]
