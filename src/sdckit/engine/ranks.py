"""Places of records in an order drawn at random, or in that of a variable, on engines outside memory."""

from collections.abc import Sequence

import narwhals as nw
import numpy as np
import polars as pl

from sdckit.engine import frames, random, recode
from sdckit.engine.joins import join_to_records
from sdckit.engine.tables import OURS, RECORDS, Table, count_cells, native_module
from sdckit.kernels.secret_numbers import Words

SORTED_TOGETHER = 500_000  # records, about
SAMPLE = 500  # values for each bucket, from which the limits of the buckets are taken
LARGEST = float(np.finfo(np.float64).max)
_CODE, _DRAWN, _BUCKET, _BEFORE, _PLACE = (
    f"{OURS}{part}" for part in ("code", "drawn", "bucket", "before", "place")
)


def secret_ranks(table: Table, *, id: str, n: int, key: Words, name: str) -> Table:
    """The table of n records with different ids and a column `name`: their places 0, 1, … in a secret order.

    The order is that of the secret uniform numbers. These are spread evenly, so that the range is cut into
    buckets that are counted first and sorted one by one: no engine must sort the whole file in one place.
    """
    table = random.with_whole_id(table, id, _CODE)
    table = random.secret_uniform(table, id=_CODE, key=key, name=_DRAWN)
    buckets = max(n // SORTED_TOGETHER, 1)
    table = table.with_columns((nw.col(_DRAWN) * float(buckets)).floor().cast(nw.Int64).alias(_BUCKET))
    table = frames.lazy(native_module(table).worked_out(table.to_native()))  # drawn once, read twice
    return _numbered(table, [], [_DRAWN, _CODE], name).drop(_CODE, _DRAWN)


def value_ranks(
    table: Table, column: str, *, by: Sequence[str], then: Sequence[str], n: int, name: str
) -> Table:
    """The table of n records with a column `name`: places 0, 1, … in the order of a column of numbers.

    Places are those within strata `by`; equal numbers are in the order of the columns `then`, and missing
    ones come last. The range of the numbers is cut into buckets of about the same size by a sample, which
    are counted first and sorted one by one. The sample does not change the places.
    """
    buckets = n // SORTED_TOGETHER
    x = nw.col(column).cast(nw.Float64)
    cuts: list[float] = []
    if buckets > 1:
        values = table.select(x.alias(_DRAWN)).filter(~nw.col(_DRAWN).is_null())
        some = frames.collect(
            native_module(table).sample_rows(values.to_native(), min(SAMPLE * buckets / n, 1.0))
        )
        shares = np.arange(1, buckets) / buckets
        cuts = np.unique(np.quantile(some[_DRAWN].to_numpy(), shares)).tolist() if some.height else []
    if cuts:
        table = table.with_columns(x.alias(_BUCKET))
        breaks = [-LARGEST, *cuts, LARGEST]
        table = recode.intervals(table, _BUCKET, breaks, list(range(len(cuts) + 1)), right=False)
        last = nw.when(nw.col(_BUCKET).is_null()).then(nw.lit(len(cuts) + 1)).otherwise(nw.col(_BUCKET))
        table = table.with_columns(last.cast(nw.Int64).alias(_BUCKET))
    else:
        table = table.with_columns(nw.lit(0).cast(nw.Int64).alias(_BUCKET))
    return _numbered(table, list(by), [column, *then], name)


def _numbered(table: Table, by: list[str], order: list[str], name: str) -> Table:
    """The table with places in the order of buckets and within them of columns, and without the buckets."""
    sizes = count_cells(table, [*by, _BUCKET], None).sort(_BUCKET)
    above = pl.col(RECORDS).cum_sum()
    above = (above.over(by) if by else above) - pl.col(RECORDS)
    before = sizes.with_columns(above.alias(_BEFORE))
    native = native_module(table).row_numbers(table.to_native(), [*by, _BUCKET], order, _PLACE)
    table = join_to_records(frames.lazy(native), before, [*by, _BUCKET], [_BEFORE])
    rank = (nw.col(_BEFORE) + nw.col(_PLACE) - 1).cast(nw.Int64).alias(name)
    return table.with_columns(rank).drop(_BUCKET, _BEFORE, _PLACE)
