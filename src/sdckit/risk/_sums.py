"""Numbers made of released numbers that give a hidden one: sums, differences, products, ratios of columns."""

from collections.abc import Mapping

import numpy as np

from sdckit._support.arrays import Floats, Ints

SCREENED, FEWER = 250, 100  # records on which all pairs of columns are tried; fewer of many columns
MANY = 100  # columns
ASKED = 200  # records in which pairs of columns should give the very number
HITS = 3  # of these at least
CHUNK = 1_000  # pairs at a time
MOST_COLUMNS = 300  # of numbers that are combined with each other; of more the question stays open
CLEARLY = 0.05  # by how much two columns must be closer to the hidden number than each alone
_OPERATIONS = {"+": np.add, "−": np.subtract, "×": np.multiply, "÷": np.divide}
_HOPELESS = 0.8  # of a standard deviation left by a least-squares fit: no sum will tell the number
_ROUNDS = 8  # of the fit by least absolute deviations
_MATTERS = 1e-3  # of a standard deviation: a column that moves the sum less plays no part in it


def combined(first: Floats, operation: str, second: Floats) -> Floats:
    """Two columns of numbers made one; also many columns at once."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        made: Floats = _OPERATIONS[operation](first, second)
        made[~np.isfinite(made)] = np.nan
    return made


def closeness(made: Floats, ranks: Ints) -> Floats:
    """How nearly a number is a function of each row of `made`: 1 wholly, 0 not at all (Chatterjee, 2021).

    Records are put in the order of the row, and the jumps between the ranks of the number added up.
    """
    order = np.argsort(made, axis=1)
    jumps = np.abs(np.diff(ranks[order], axis=1)).sum(axis=1)
    _, counts = np.unique(ranks, return_counts=True)
    upper = np.cumsum(counts[::-1])[::-1]  # records at or above each rank
    scale = 2.0 * float((counts * upper * (len(ranks) - upper)).sum())
    return 1 - len(ranks) * jumps / scale if scale else np.zeros(len(made))


def likely_pairs(numbers: Mapping[str, Floats], values: Floats, most: int) -> list[tuple[str, str, str]]:
    """The pairs of columns, with what to do with them, that come closest to the hidden number together.

    Only those that come clearly closer than each of the two alone.
    """
    names = list(numbers)
    table = np.array([numbers[n] for n in names])
    # one rank for equal numbers, the highest, as the coefficient asks
    ranks = np.searchsorted(np.sort(values), values, side="right")
    alone = np.maximum(closeness(table, ranks), closeness(-table, ranks))
    pairs = np.column_stack(np.triu_indices(len(names), 1))
    found: list[tuple[float, str, str, str]] = []
    for chunk in np.array_split(pairs, -(-len(pairs) // CHUNK)):
        first, second = chunk.T
        each = np.maximum(alone[first], alone[second])
        for operation in _OPERATIONS:
            close = closeness(combined(table[first], operation, table[second]), ranks)
            good = (close > 0.5) & (close > each + CLEARLY * (1 - each))
            found += [
                (float(c), names[a], operation, names[b])
                for c, a, b in zip(close[good], first[good], second[good], strict=True)
            ]
    found.sort(reverse=True)
    return [(a, operation, b) for _, a, operation, b in found[:most]]


def exact_pairs(
    numbers: Mapping[str, Floats], values: Floats, slack: Floats, most: int
) -> list[tuple[str, str, str]]:
    """The pairs of columns, with what to do with them, that are the hidden number in most records.

    Two columns may be the number in some records only, and each alone need not depend on it: a total of which
    a large part was taken away. So all are tried, whatever stands before them in the file.
    """
    names = list(numbers)
    table = np.array([numbers[n] for n in names])
    found: list[tuple[int, str, str, str]] = []
    for i, first in enumerate(table):
        for operation in _OPERATIONS:
            start = i + 1 if operation in "+×" else 0  # the order of the two does not matter
            made = combined(first, operation, table[start:])
            with np.errstate(invalid="ignore"):
                hits = (np.abs(made - values) <= slack).sum(axis=1)
            if not start:
                hits[i] = 0
            best = np.argsort(-hits, kind="stable")[:most]
            found += [(int(hits[j]), names[i], operation, names[start + j]) for j in best if hits[j] >= HITS]
    found.sort(key=lambda pair: -pair[0])
    return [(a, operation, b) for _, a, operation, b in found[:most]]


def logarithms(values: Floats) -> Floats | None:
    """The logarithms of a column, missing where there is none; None where most values have none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        made = np.where(values > 0, np.log(values), np.nan)
    return made if 2 * np.isfinite(made).sum() > len(made) else None


def can_be_fitted(columns: int, records: int) -> bool:
    """Whether each half of the records is enough for the weights of so many columns."""
    return records >= 4 * columns + 20


def by_weighted_sum(numbers: Mapping[str, Floats], values: Floats, own: str) -> tuple[list[str], Floats]:
    """The columns whose weighted sum is nearest to the hidden number, and the sum for each record.

    The weights come from one half of the records for the other, by least absolute deviations, so that a sum
    that holds for most records is found though some depart from it. A missing number adds nothing. No column
    where the sum is hardly better than the column `own`, the released values of the hidden number.
    """
    size = float(np.abs(values).max(initial=0.0)) or 1.0
    table, names = _scaled(numbers)
    target = values / size
    before = table[:, [n == own for n in names]]
    left, spread = (float(np.std(target - _sum(t, _fitted(t, target, 1)))) for t in (table, before))
    if left > _HOPELESS * spread:
        return [], values
    weights = _fitted(table, target, _ROUNDS)
    moves = np.abs(weights[:-1]) * table.std(axis=0)
    kept = moves > _MATTERS * float(np.std(target))
    chosen = table[:, kept]
    guess = np.empty_like(values)
    half = np.arange(len(values)) % 2 == 0
    for fit in (half, ~half):
        guess[~fit] = size * _sum(chosen[~fit], _fitted(chosen[fit], target[fit], _ROUNDS))
    return [n for n, keep in zip(names, kept, strict=True) if keep], guess


def _scaled(numbers: Mapping[str, Floats]) -> tuple[Floats, list[str]]:
    """One column a number, the largest 1, without those that are 0 everywhere; and their names."""
    table = np.nan_to_num(np.column_stack(list(numbers.values())), nan=0.0, posinf=0.0, neginf=0.0)
    largest = np.abs(table).max(axis=0)
    kept = largest > 0
    return table[:, kept] / largest[kept], [n for n, keep in zip(numbers, kept, strict=True) if keep]


def _sum(table: Floats, weights: Floats) -> Floats:
    return np.asarray(table @ weights[:-1] + weights[-1])


def _fitted(table: Floats, values: Floats, rounds: int) -> Floats:
    """Weights of the columns and, last, a constant: least squares, then least absolute deviations."""
    table = np.column_stack([table, np.ones(len(table))])
    smallest = 1e-6 * float(np.median(np.abs(values))) or 1e-12
    importance = np.ones(len(values))
    weights = np.zeros(table.shape[1])
    for _ in range(rounds):
        weighted = table * importance[:, None]
        products = weighted.T @ table
        ridge = 1e-13 * np.trace(products) * np.eye(len(products))  # some columns are copies of others
        weights = np.linalg.solve(products + ridge, weighted.T @ values)
        importance = 1 / np.maximum(np.abs(values - table @ weights), smallest)
        importance /= importance.max()
    return weights
