"""What narwhals lacks, for Spark."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import polars as pl
import polars.selectors as cs

from sdckit._support.arrays import Ints
from sdckit.engine._polars import plain
from sdckit.kernels.keyed_numbers import keyed_normal, keyed_uniform


def join_null_safe(native: Any, cells: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> Any:
    """Left join in which NULL equals NULL; the cells go to every worker."""
    from pyspark.sql import functions

    codes = [f"__sdckit_key_{i}" for i in range(len(keys))]
    right = cells.select(*(pl.col(k).alias(c) for k, c in zip(keys, codes, strict=True)), *columns)
    other = functions.broadcast(native.sparkSession.createDataFrame(_arrow(right)))
    if not keys:
        return native.crossJoin(other)
    on = [native[key].eqNullSafe(other[code]) for key, code in zip(keys, codes, strict=True)]
    return native.join(other, on, "left").drop(*codes)


def string_code(native: Any, column: str, name: str) -> Any:
    """A column `name` with the first 60 bits of the MD5 of the text."""
    from pyspark.sql import functions

    digest = functions.md5(native[column].cast("string"))
    code = functions.conv(functions.substring(digest, 1, 15), 16, 10).cast("bigint")
    return native.withColumn(name, code)


def with_keyed_numbers(native: Any, column: str, keys: Ints, name: str, *, normal: bool) -> Any:
    """A column `name` of uniform or normal numbers, functions of the whole numbers in a column and of keys.

    A Python function on Arrow batches: the optimiser would put expressions of the rounds into each other
    until memory is full.
    """
    draw = keyed_normal if normal else keyed_uniform

    def drawn(numbers: Ints) -> npt.NDArray[Any]:
        return draw(numbers, keys)

    return with_computed(native, column, drawn, name)


def with_computed(native: Any, column: str, function: Callable[[Ints], npt.NDArray[Any]], name: str) -> Any:
    """A column `name` with what a function makes of the whole numbers in a column; NULL for NULL."""
    from pyspark.sql import functions
    from pyspark.sql.pandas import functions as python
    from pyspark.sql.types import DoubleType, LongType

    series = import_module("pandas").Series
    kind = DoubleType() if function(np.zeros(1, dtype=np.int64)).dtype.kind == "f" else LongType()

    def computed(numbers: Any) -> Any:
        return series(function(numbers.to_numpy()))

    computed.__annotations__ = {"numbers": series, "return": series}  # by which Spark knows what it is
    number, make = native[column], cast("Any", python.pandas_udf)
    found = make(computed, kind)(functions.coalesce(number, functions.lit(0)).cast("bigint"))
    return native.withColumn(name, functions.when(number.isNotNull(), found))


def row_numbers(native: Any, by: Sequence[str], order: Sequence[str], name: str) -> Any:
    """A column `name` with the places 1, 2, … of the rows of each stratum in ascending order of columns."""
    from pyspark.sql import Window, functions

    window = Window.partitionBy(*by).orderBy(*(native[c].asc_nulls_last() for c in order))
    return native.withColumn(name, functions.row_number().over(window).cast("bigint"))


def sample_rows(native: Any, share: float) -> Any:
    """A share of the rows, drawn at random; not the same ones each time."""
    return native.sample(fraction=share)


def lists_of_values(native: Any, columns: Sequence[str]) -> Any:
    """One row with a list of all values of each column, from one pass."""
    from pyspark.sql import functions

    return native.agg(*(functions.collect_list(native[c]).alias(c) for c in columns))


def sorted_rows(native: Any, order: Sequence[str], columns: Sequence[str]) -> Any:
    """Some columns of the rows in ascending order of others, kept by the workers in this order.

    An order in a query would be dropped by the queries around it, and the old one would come back.
    """
    by = [native[c].asc_nulls_last() for c in order]
    return native.orderBy(*by).select(*columns).localCheckpoint()


def worked_out(native: Any) -> Any:
    """The rows of a query kept by the workers, where it would otherwise be run for each that asks."""
    return native.localCheckpoint()


def map_strata(
    native: Any,
    by: Sequence[str],
    function: Callable[[pl.DataFrame], pl.DataFrame],
    schema: pl.Schema,
) -> Any:
    """Each stratum in one task."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    from pyspark.sql.types import StructType, TimestampType

    result = from_arrow_schema(_arrow(pl.DataFrame(schema=schema)).schema)
    utc = pa.timestamp("us", tz="UTC")  # in which workers give times, whatever the zone of the session
    arrow = pa.schema(
        pa.field(one.name, utc)
        if isinstance(one.dataType, TimestampType)
        else to_arrow_schema(StructType([one])).field(0)
        for one in result
    )

    def run(stratum: Any) -> Any:
        made = function(pl.DataFrame(pl.from_arrow(stratum)))
        return _arrow(made.select(schema.names()).cast(schema)).cast(arrow)

    return native.groupBy(*by).applyInArrow(run, result)


def _arrow(frame: pl.DataFrame) -> Any:
    """Spark has no unsigned integers."""
    return plain(frame).cast({cs.unsigned_integer(): pl.Int64}).to_arrow()
