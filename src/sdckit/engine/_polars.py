"""What narwhals lacks, for Polars."""

from collections.abc import Sequence

import polars as pl


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
