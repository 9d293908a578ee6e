"""Places of records in an order drawn at random, on engines outside memory."""

import narwhals as nw
import polars as pl

from sdckit.engine import frames, random
from sdckit.engine.joins import join_to_records
from sdckit.engine.tables import OURS, RECORDS, Table, count_cells, native_module

SORTED_TOGETHER = 500_000  # records, about
_CODE, _DRAWN, _BUCKET, _BEFORE, _PLACE = (
    f"{OURS}{part}" for part in ("code", "drawn", "bucket", "before", "place")
)


def keyed_ranks(table: Table, *, id: str, n: int, seed: int, step: int, name: str) -> Table:
    """The table of n records with different ids and a column `name`: their places 0, 1, … in a keyed order.

    The order is that of the keyed uniform numbers. These are spread evenly, so that the range is cut into
    buckets that are counted first and sorted one by one: no engine must sort the whole file in one place.
    """
    table = random.with_whole_id(table, id, _CODE)
    table = random.uniform(table, id=_CODE, seed=seed, step=step, name=_DRAWN)
    buckets = max(n // SORTED_TOGETHER, 1)
    table = table.with_columns((nw.col(_DRAWN) * float(buckets)).floor().cast(nw.Int64).alias(_BUCKET))
    sizes = count_cells(table, [_BUCKET], None).sort(_BUCKET)
    before = sizes.with_columns((pl.col(RECORDS).cum_sum() - pl.col(RECORDS)).alias(_BEFORE))
    native = native_module(table).row_numbers(table.to_native(), [_BUCKET], [_DRAWN, _CODE], _PLACE)
    table = join_to_records(frames.lazy(native), before, [_BUCKET], [_BEFORE])
    rank = (nw.col(_BEFORE) + nw.col(_PLACE) - 1).cast(nw.Int64).alias(name)
    return table.with_columns(rank).drop(_CODE, _DRAWN, _BUCKET, _BEFORE, _PLACE)
