"""What narwhals lacks, for Polars."""

from collections.abc import Callable, Sequence
from hashlib import md5
from typing import Any

import numpy.typing as npt
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.kernels.keyed_numbers import keyed_normal, keyed_uniform


def join_null_safe(
    native: pl.LazyFrame, cells: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> pl.LazyFrame:
    """Left join in which NULL equals NULL."""
    wanted = cells.select(*keys, *columns)
    if not keys:  # one cell; a cross join would not keep the order of the records
        return native.with_columns(pl.lit(wanted[c][0], wanted.schema[c]).alias(c) for c in columns)
    return native.join(
        wanted.lazy(), on=list(keys), how="left", nulls_equal=True, maintain_order="left", validate="m:1"
    )


def string_code(native: pl.LazyFrame, column: str, name: str) -> pl.LazyFrame:
    """A column `name` with the first 60 bits of the MD5 of the text."""
    text = native.select(pl.col(column).cast(pl.String)).collect().to_series()
    distinct = text.drop_nulls().unique()
    codes = [int(md5(value.encode(), usedforsecurity=False).hexdigest()[:15], 16) for value in distinct]
    coded = text.replace_strict(distinct, pl.Series(codes, dtype=pl.Int64), default=None)
    return native.with_columns(coded.cast(pl.Int64).alias(name))


def with_keyed_numbers(
    native: pl.LazyFrame, column: str, keys: Ints, name: str, *, normal: bool
) -> pl.LazyFrame:
    """A column `name` of uniform or normal numbers, functions of whole numbers in a column and of keys."""
    numbers = native.select(column).collect().to_series()
    drawn = (keyed_normal if normal else keyed_uniform)(numbers.fill_null(0).to_numpy(), keys)
    here = pl.when(pl.col(column).is_not_null()).then(pl.Series(name, drawn))
    return native.with_columns(here.alias(name))


def with_computed(
    native: pl.LazyFrame, column: str, function: Callable[[Ints], npt.NDArray[Any]], name: str
) -> pl.LazyFrame:
    """A column `name` with what a function makes of the whole numbers in a column; NULL for NULL."""
    numbers = native.select(column).collect().to_series()
    made = pl.Series(name, function(numbers.fill_null(0).to_numpy()))
    return native.with_columns(pl.when(pl.col(column).is_not_null()).then(made).alias(name))


def lists_of_values(native: pl.LazyFrame, columns: Sequence[str]) -> pl.LazyFrame:
    """One row with a list of all values of each column."""
    return native.select(pl.col(columns).drop_nulls().implode())


def map_strata(
    native: pl.LazyFrame,
    by: Sequence[str],
    function: Callable[[pl.DataFrame], pl.DataFrame],
    schema: pl.Schema,
) -> pl.DataFrame:
    """Strata in the order of their first record."""
    frame = native.collect()
    strata = frame.partition_by(by, maintain_order=True) if by else [frame] if frame.height else []
    parts = [function(stratum).select(schema.names()).cast(schema) for stratum in strata]
    return pl.concat(parts) if parts else pl.DataFrame(schema=schema)


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Categories as text: an Enum would arrive as a type of its own."""
    return frame.cast({pl.Enum: pl.String, pl.Categorical: pl.String})
