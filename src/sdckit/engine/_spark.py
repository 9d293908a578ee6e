"""What narwhals lacks, for Spark."""

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import polars.selectors as cs

from sdckit.engine._polars import plain


def string_code(native: Any, column: str, name: str) -> Any:
    """A column `name` with the first 60 bits of the MD5 of the text."""
    from pyspark.sql import functions

    digest = functions.md5(native[column].cast("string"))
    code = functions.conv(functions.substring(digest, 1, 15), 16, 10).cast("bigint")
    return native.withColumn(name, code)


def sample_rows(native: Any, rows: int) -> Any:
    """About this many rows drawn at random, all where there are no more; not the same ones each time."""
    count = native.count()
    return native if count <= rows else native.sample(fraction=rows / count)


def map_strata(
    native: Any,
    by: Sequence[str],
    function: Callable[[pl.DataFrame], pl.DataFrame],
    schema: pl.Schema,
) -> Any:
    """Each stratum in one task."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    result = from_arrow_schema(_arrow(pl.DataFrame(schema=schema)).schema)
    arrow = to_arrow_schema(result)

    def run(stratum: Any) -> Any:
        made = function(pl.DataFrame(pl.from_arrow(stratum)))
        return _arrow(made.select(schema.names()).cast(schema)).cast(arrow)

    return native.groupBy(*by).applyInArrow(run, result)


def _arrow(frame: pl.DataFrame) -> Any:
    """Spark has no unsigned integers."""
    return plain(frame).cast({cs.unsigned_integer(): pl.Int64}).to_arrow()
