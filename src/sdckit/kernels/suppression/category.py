"""Local suppression when a missing value is a category of its own: merge small groups of equal rows."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sdckit.kernels.suppression.counts import Codes, Ints, Words, cell_words, distinct_rows
from sdckit.kernels.suppression.options import Floats, sets_by_size

MAX_STEPS = 16  # how finely "cheap merges first" is followed when sets have many different prices


class _Merger:
    """Cells (distinct rows) and how many of their records were moved to which set of missing columns."""

    def __init__(self, codes: Codes, k: int, cost: Floats) -> None:
        first, group = distinct_rows(codes)
        # sorted by value: the outcome must not follow the order of rows
        order = np.lexsort(codes[first].T)
        self.group = np.argsort(order)[group]
        self.k, self.cost = k, cost
        self.cells = codes[first[order]]
        self.words = cell_words(self.cells + np.int32(1), 1)
        self.blank = cell_words(np.zeros((1, codes.shape[1]), np.int32), 1)[0]
        self.left = np.bincount(self.group)
        self.open = self.left < k
        self.moves: list[tuple[int, int, list[int]]] = []  # cell, how many records, columns
        safe = ~self.open
        prints = _sums(self.words, np.arange(codes.shape[1]))
        self.settled = dict(zip(prints[safe].tolist(), self.left[safe].tolist(), strict=True))

    def merge(self, columns: list[int], limit: float) -> None:
        """Blank `columns` in every class of small cells where that costs at most `limit` per small record.

        A class lacking records to reach k takes them from larger cells that have more than k.
        """
        kept = np.setdiff1d(np.arange(len(self.cost)), columns)
        small = np.flatnonzero(self.open)
        prints, inverse = np.unique(_sums(self.words[small], kept), return_inverse=True)
        price = (self.cells[:, columns] >= 0) @ self.cost[columns]
        targets = (prints + self.blank[columns].sum(dtype=np.uint64)).tolist()
        there = np.array([self.settled.get(target, 0) for target in targets])
        size = np.bincount(inverse, self.left[small])
        pays = np.bincount(inverse, self.left[small] * price[small])
        lacking = np.maximum(0, self.k - size - there).astype(np.int64)
        spare = np.flatnonzero(~self.open & (self.left > self.k) & (price > 0))
        spare_prints = _sums(self.words[spare], kept)
        at = np.minimum(np.searchsorted(prints, spare_prints), len(prints) - 1)
        spare, at = spare[prints[at] == spare_prints], at[prints[at] == spare_prints]
        surplus = np.bincount(at, self.left[spare] - self.k, minlength=len(prints))
        # donors pay the full price: they have values where small cells may already have none
        total = pays + lacking * float(self.cost[columns].sum())
        accepted = (surplus >= lacking) & (total <= limit * size)
        for cell, c in zip(spare.tolist(), at.tolist(), strict=True):
            if accepted[c] and lacking[c]:
                lacking[c] -= self._move(
                    cell, min(int(lacking[c]), int(self.left[cell]) - self.k), columns, targets[c]
                )
        for cell, c in zip(small.tolist(), inverse.tolist(), strict=True):
            if accepted[c]:
                self.open[cell] = False
                self._move(cell, int(self.left[cell]), columns, targets[c])

    def _move(self, cell: int, records: int, columns: list[int], target: int) -> int:
        self.moves.append((cell, records, columns))
        self.left[cell] -= records
        self.settled[target] = self.settled.get(target, 0) + records
        return records

    def mask(self) -> npt.NDArray[np.bool_]:
        """The moves as cells of the original rows: earlier rows of a cell move first."""
        mask = np.zeros((len(self.group), len(self.cost)), np.bool_)
        order = np.argsort(self.group, kind="stable")
        at = np.searchsorted(self.group[order], np.arange(len(self.left)))
        for cell, records, columns in self.moves:
            mask[np.ix_(order[at[cell] : at[cell] + records], np.array(columns))] = True
            at[cell] += records
        return mask


def _sums(words: Words, columns: Ints) -> Words:
    return np.asarray(words[:, columns].sum(axis=1, dtype=np.uint64))


def suppress_by_category(
    codes: Codes, k: int, cost: Floats, progress: Callable[[int], None] | None
) -> npt.NDArray[np.bool_]:
    """Cells to set missing so that all groups of equal rows (missing = a value) have at least k records.

    Greedy: small cells are merged by blanking the columns in which they differ, cheapest per record first.
    Every class of rows equal on the untouchable columns (infinite cost) must have k records.
    """
    merger = _Merger(codes, k, cost)
    sets = sorted(sets_by_size(cost), key=lambda pair: pair[1])
    prices = np.unique([price for _, price in sets])
    if len(prices) > MAX_STEPS:
        prices = np.unique(np.quantile(prices, np.linspace(0, 1, MAX_STEPS), method="higher"))
    for limit in [*prices.tolist(), np.inf]:
        if progress is not None:
            progress(int(merger.left[merger.open].sum()))
        for columns, price in sets:
            if price > limit or not merger.open.any():
                break
            merger.merge(list(columns), limit)
    current = np.where(merger.mask(), np.int32(-1), codes)
    _blank_rest(current, k, np.flatnonzero(np.isfinite(cost)))
    if (current < 0).all():
        _keep_one(current, codes, k, cost)
    if progress is not None:
        progress(0)
    return (current < 0) & (codes >= 0)


def _blank_rest(codes: Codes, k: int, columns: Ints) -> None:
    """Make one group of all that is still too small, with records of other groups where it lacks some.

    Only columns in which these records differ are blanked. The others come from groups with more than k
    records, else a whole group joins; records without any value left are the first to join.
    """
    first, group = distinct_rows(codes)
    size = np.bincount(group, minlength=len(first))
    bare = codes[first]
    bare[:, columns] = -1
    _, alike = distinct_rows(bare)
    for c in np.unique(alike[size < k]):
        mine = np.flatnonzero(alike == c)
        mine = mine[np.lexsort((*codes[first[mine]].T, size[mine]))]
        rows = np.flatnonzero(np.isin(group, mine[size[mine] < k]))
        large = mine[size[mine] >= k]
        nothing_left = [g for g in large if (codes[first[g]] == bare[g]).all()]
        if len(rows) < k and nothing_left:
            rows = np.append(rows, np.flatnonzero(group == nothing_left[0]))
        for spared in (k, 0):
            for g in large:
                free = np.setdiff1d(np.flatnonzero(group == g), rows)
                taken = min(k - len(rows), len(free) - spared) if spared else len(free)
                if len(rows) < k and taken > 0:
                    rows = np.append(rows, free[:taken])
        differ = columns[(codes[np.ix_(rows, columns)] != codes[rows[0], columns]).any(axis=0)]
        codes[np.ix_(rows, differ)] = -1


def _keep_one(current: Codes, codes: Codes, k: int, cost: Floats) -> None:
    """Give back the dearest value that at least k records share, where greed has left none at all.

    The records that stay blank must be k, too, unless there are none.
    """
    n = len(codes)
    best, kept = 0.0, (np.empty(0, np.int64), 0)
    for j in range(codes.shape[1]):
        for value in np.unique(codes[codes[:, j] >= 0, j]):
            rows = np.flatnonzero(codes[:, j] == value)
            rows = rows if len(rows) == n else rows[: n - k]
            if len(rows) >= k and len(rows) * cost[j] > best:
                best, kept = len(rows) * cost[j], (rows, j)
    rows, j = kept
    current[rows, j] = codes[rows, j]
