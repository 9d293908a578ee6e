"""Which columns of two files agree row by row, in a few queries for many columns."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.values import texts

SURE = 5  # standard errors beyond chance
VALUES = 2_000_000  # of one file that are looked at together, so that wide and long files take no more memory


def agreement(first: pl.DataFrame, second: pl.DataFrame) -> dict[str, float | None]:
    """How closely columns of the same names agree row by row, from 0 (no more than by chance) to 1.

    Where a share of the rows is in place and the others are not, it is about that share. None where unknown:
    a column of lists, or with one value only, can show nothing.

    >>> frame = pl.DataFrame({"x": range(40), "y": [1] * 40})
    >>> agreement(frame, frame)
    {'x': 1.0, 'y': None}
    """
    found: dict[str, float | None] = dict.fromkeys(first.columns)
    if first.height < 2:
        return found
    for names in _chunks(first.columns, first.height):
        one, two = _comparable(first.select(names), second.select(names))
        for column, codes in _codes(one, two):
            found[column] = _agrees(codes, first[column], second[column])
    return found


def _chunks(names: Sequence[str], height: int) -> Iterator[Sequence[str]]:
    width = max(1, VALUES // height)
    for start in range(0, len(names), width):
        yield names[start : start + width]


def _comparable(first: pl.DataFrame, second: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The columns that are no lists, in types in which equal values are equal; a missing text is empty."""
    kinds = zip(first.columns, first.dtypes, second.dtypes, strict=True)
    plain: list[str] = []
    other: list[str] = []
    for column, one, two in kinds:
        if not (one.is_nested() or two.is_nested()):
            same = one == two and one not in (pl.Categorical, pl.Enum, pl.Object)
            (plain if same else other).append(column)
    as_text = {c: (texts(first[c]), texts(second[c])) for c in other}
    return (
        pl.DataFrame([*(first[c] for c in plain), *(pair[0] for pair in as_text.values())]),
        pl.DataFrame([*(second[c] for c in plain), *(pair[1] for pair in as_text.values())]),
    )


def _codes(first: pl.DataFrame, second: pl.DataFrame) -> Iterator[tuple[str, Ints]]:
    """For each column the values of both files as numbers 0, 1, …, the second file's in the second row."""
    if not first.width:
        return
    both = pl.concat([first, second])
    written = [c for c, kind in both.schema.items() if kind == pl.String]
    hashed = both.with_columns(pl.col(written).fill_null("")) if written else both
    for column in hashed.select(pl.all().hash()).iter_columns():
        codes = np.unique(column.to_numpy(), return_inverse=True)[1]
        yield column.name, codes.reshape(2, -1)


def _agrees(codes: Ints, first: pl.Series, second: pl.Series) -> float | None:
    """How closely columns with these codes agree, 0 if not far beyond chance; None where one is constant."""
    n, size = codes.shape[1], int(codes.max()) + 1
    counts = [np.bincount(one, minlength=size).astype(np.float64) for one in codes]
    if min(np.count_nonzero(one) for one in counts) < 2:
        return None
    chance = float(counts[0] @ counts[1]) / n**2
    same = float((codes[0] == codes[1]).mean())
    found = [0.0]
    if (same - chance) / np.sqrt(max(chance * (1 - chance), 1 / n) / n) > SURE:
        found.append((same - chance) / (1 - chance))
    if first.dtype.is_numeric() and second.dtype.is_numeric():
        ranks = [x.rank("average").fill_null(0.0).to_numpy() for x in (first, second)]
        together = float(abs(np.corrcoef(ranks[0], ranks[1])[0, 1]))
        found.append(together if together * np.sqrt(n) > SURE else 0.0)
    else:
        found.append(_dependence(codes, counts[0], counts[1]))
    return max(found)


def _dependence(codes: Ints, rows: np.ndarray, columns: np.ndarray) -> float:
    """How closely categories depend on each other: other names for the same thing (chi-squared)."""
    n, size = codes.shape[1], len(rows)
    cells, observed = np.unique(codes[0] * size + codes[1], return_counts=True)
    expected = rows[cells // size] * columns[cells % size] / n
    statistic = float((observed**2 / expected).sum()) - n
    most = [np.count_nonzero(one) - 1 for one in (rows, columns)]
    freedom = most[0] * most[1]
    if statistic <= freedom + SURE * np.sqrt(2 * freedom):
        return 0.0
    return float(np.sqrt((statistic - freedom) / max(n * min(most) - freedom, statistic - freedom)))
