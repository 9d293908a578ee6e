"""Numeric columns as a matrix, and back into the file."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.data.values import instead_of_numbers
from sdckit.engine import frames
from sdckit.errors import ColumnError
from sdckit.methods.options import Columns, Option

NumbersToChange = Annotated[Columns, Option("Variables", "The numbers to protect.", basic=True)]


def number_columns(data: Microdata, variables: Sequence[str], method: str) -> list[str]:
    """The variables, each once; refused where one does not hold numbers or there is none."""
    names = list(dict.fromkeys(variables))
    schema = frames.schema(data.frame)
    if not names:
        raise ColumnError(f"{method} has no variable to change.", hint="Name them in the option variables.")
    for column in names:
        if not schema[column].is_numeric():
            raise ColumnError(
                f"{method} needs numbers; {column!r} does not hold numbers.",
                given=instead_of_numbers(data.frame, column, schema[column]),
            )
    return names


def matrix_of(data: Microdata, names: Sequence[str]) -> Floats:
    """The columns side by side (n × p), nan where missing."""
    return np.asarray(data.frame.select(pl.col(names).cast(pl.Float64)).to_numpy())


def with_numbers(
    data: Microdata,
    names: Sequence[str],
    before: Floats,
    after: Floats,
    *,
    effects: Effects | None = None,
    whole: bool = True,
    **did: Any,
) -> Microdata:
    """The file with other numbers in these columns, missing for nan; the log says how many changed.

    Columns of whole numbers stay so where all new ones are whole, or with `whole=False` become decimal.
    """
    columns = [pl.Series(c, after[:, j], nan_to_null=True) for j, c in enumerate(names)]
    if whole:
        columns = [_whole(new, data.frame.schema[new.name]) for new in columns]
    changed = (after != before) & ~np.isnan(before)
    return data.with_frame(
        data.frame.with_columns(columns),
        effects=effects,
        values_changed=int(changed.sum()),
        records_touched=int(changed.any(axis=1).sum()),
        **did,
    )


def _whole(column: pl.Series, before: pl.DataType) -> pl.Series:
    """The column in the integer type it was in, unless numbers would lose digits or not fit."""
    if not before.is_integer() or (column != column.floor()).any():
        return column
    found = column.cast(before, strict=False)
    return found if found.null_count() == column.null_count() else column


def location_and_spread(x: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation (n−1) of each column's present values.

    A column without two different values has its own value as the mean, exactly, and a deviation of 0.
    """
    if not len(x):
        return np.zeros(x.shape[1]), np.zeros(x.shape[1])
    # one column after the other, which stays in the processor's cache
    both = np.array([_column_moments(column) for column in x.T]).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _column_moments(column: Floats) -> tuple[float, float]:
    low, high = np.fmin.reduce(column), np.fmax.reduce(column)  # fmin and fmax pass over nan
    if not low < high:
        return float(np.nan_to_num(low)), 0.0
    missing = np.isnan(column)
    if missing.any():
        column = column[~missing]
    scale = max(abs(low), abs(high))  # sums of squares of very large numbers would overflow
    scaled = column / scale
    mean = scaled.mean()
    scaled -= mean
    return float(mean * scale), float(scale * np.sqrt((scaled**2).sum() / (len(scaled) - 1)))


def standardise(x: Floats) -> Floats:
    """Columns with mean 0 and standard deviation 1, missing values apart; constant columns become 0."""
    mean, spread = location_and_spread(x)
    # halves, because the difference of two very large numbers would overflow
    return np.asarray((x / 2 - mean / 2) / np.where(spread > 0, spread, 1.0) * 2)
