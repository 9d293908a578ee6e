"""Records drawn down a tree of two-way tables. It sees tables only, never the data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit.models.private_marginals import NoisyTables

_ROUNDS = 100  # of fitting a table to its margins
_CLOSE = 1e-9  # margins that differ by less, as shares, agree
_SURE = 3.0  # standard deviations: a count below may be noise alone


@dataclass(frozen=True, slots=True)
class MarginalTree:
    """Shares of the categories of each variable, and tables of shares for the pairs of a tree.

    Every table has the shares of its variables as margins, so that it does not matter where drawing starts.
    """

    shares: tuple[Floats, ...]
    pairs: tuple[tuple[int, int], ...]
    tables: tuple[Floats, ...]

    def draw(self, size: int, rng: np.random.Generator) -> Ints:
        """Codes of so many records in random order, one column per variable.

        Within each category of the variable before, the numbers of records follow the table as nearly as
        whole numbers can (systematic sampling), so that chance adds little to the noise in the tables.
        """
        codes = np.full((size, len(self.shares)), -1, dtype=np.int64)
        for start in range(len(self.shares)):
            if codes[0, start] >= 0:
                continue
            codes[:, start] = _spread(self.shares[start], size, rng)
            waiting = [start]
            while waiting:
                parent = waiting.pop()
                for child, table in self._from(parent):
                    if codes[0, child] < 0:
                        codes[:, child] = _given(codes[:, parent], table, self.shares[child], rng)
                        waiting.append(child)
        return codes[rng.permutation(size)]

    def _from(self, variable: int) -> list[tuple[int, Floats]]:
        """The neighbours of a variable in the tree, each with its table, this variable in the rows."""
        found = []
        for (a, b), table in zip(self.pairs, self.tables, strict=True):
            if variable in (a, b):
                found.append((b, table) if variable == a else (a, table.T))
        return found


def marginal_tree(noisy: NoisyTables, rare: Sequence[int | None] = ()) -> MarginalTree:
    """Tables without negative counts whose margins agree.

    The shares of a variable come from its own noisy counts and from the margins of its pairs, each counted by
    the inverse of its variance; then the nearest shares from 0 up that add up to 1. Each table of a pair is
    the nearest without negative counts, fitted to the shares of its two variables. `rare`: for each variable
    a category that stays only where its count is beyond what noise alone gives (3 standard deviations).
    """
    shares = []
    for j, counts in enumerate(noisy.singles):
        mean, variance = counts.astype(np.float64), noisy.single_variance
        for (a, b), table in zip(noisy.pairs, noisy.doubles, strict=True):
            if j in (a, b):
                other = noisy.sizes[b if j == a else a]
                margin, its = table.sum(axis=1 if j == a else 0), other * noisy.double_variance
                mean = (mean * its + margin * variance) / (variance + its)
                variance = variance * its / (variance + its)
        place = rare[j] if rare else None
        open_ = np.ones(len(mean), dtype=np.bool_)
        if place is not None and len(mean) > 1:
            open_[place] = mean[place] > _SURE * np.sqrt(variance)
        share = np.zeros(len(mean))
        share[open_] = nearest_shares(mean[open_] / noisy.total)
        shares.append(share)
    tables = [
        _fitted(nearest_shares(table.ravel() / noisy.total).reshape(table.shape), shares[a], shares[b])
        for (a, b), table in zip(noisy.pairs, noisy.doubles, strict=True)
    ]
    return MarginalTree(tuple(shares), noisy.pairs, tuple(tables))


def nearest_shares(values: Floats) -> Floats:
    """The nearest numbers from 0 up that add up to 1: all lowered by one amount, and cut off at 0.

    >>> nearest_shares(np.array([0.7, 0.5, -0.4])).round(3).tolist()
    [0.6, 0.4, 0.0]
    """
    ordered = np.sort(values)[::-1]
    lowered = (np.cumsum(ordered) - 1) / np.arange(1, len(values) + 1)
    last = np.flatnonzero(ordered > lowered)[-1]
    shares: Floats = np.maximum(values - lowered[last], 0.0)
    shares /= shares.sum()
    return shares


def _fitted(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """The table with these margins (iterative proportional fitting); where it is empty, as if independent."""
    floor = 1e-6 * np.outer(rows, columns)  # so that no row with a share has an empty table
    table = np.where((rows[:, None] > 0) & (columns[None, :] > 0), np.maximum(table, floor), 0.0)
    for _ in range(_ROUNDS):
        table = table * _ratio(rows, table.sum(axis=1))[:, None]
        table = table * _ratio(columns, table.sum(axis=0))[None, :]
        if np.abs(table.sum(axis=1) - rows).max() < _CLOSE:
            break
    return table


def _ratio(wanted: Floats, found: Floats) -> Floats:
    return np.divide(wanted, found, out=np.zeros_like(wanted), where=found > 0)


def _given(parent: Ints, table: Floats, fallback: Floats, rng: np.random.Generator) -> Ints:
    """Categories of the child for records with these categories of the parent."""
    child = np.empty(len(parent), dtype=np.int64)
    for value in np.unique(parent):
        rows = np.flatnonzero(parent == value)
        row = table[value] if table[value].sum() > 0 else fallback
        child[rows] = _spread(row / row.sum(), len(rows), rng)
    return child


def _spread(shares: Floats, size: int, rng: np.random.Generator) -> Ints:
    """So many categories with these shares, in random order: evenly spaced points from a random start."""
    ends = np.cumsum(shares)
    points = (np.arange(size) + rng.random()) / size * ends[-1]
    last = int(np.flatnonzero(shares > 0)[-1])
    return rng.permutation(np.minimum(np.searchsorted(ends, points, side="right"), last))
