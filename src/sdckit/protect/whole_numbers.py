"""New numbers in place of old ones, whole where both are whole."""

import numpy as np
import polars as pl

from sdckit.arrays import Floats


def in_place_of(before: pl.Series, values: Floats) -> pl.Series:
    """The column with other numbers, missing for nan; decimal where an integer type would lose digits."""
    new = pl.Series(before.name, values).fill_nan(None)
    if not before.dtype.is_integer():
        return new
    present = values[~np.isnan(values)]
    return new.cast(before.dtype, strict=False) if (present == np.floor(present)).all() else new
