"""Whether ids tell all records apart, without holding them in memory."""

import narwhals as nw
import numpy as np

from sdckit.engine import frames
from sdckit.engine.batches import fold_batches
from sdckit.engine.tables import OURS, Table

FEW = 1_000_000  # records whose ids an engine counts as quickly
DENSE = 10  # whole numbers in the range of the ids, for each record: with more there is too much to tick off
TICKED = 200_000_000  # whole numbers that are ticked off in one pass, a byte each

_ID = f"{OURS}id"


def tells_apart(table: Table, column: str, n: int) -> bool:
    """Whether a column of n records has a value in each, and no two the same.

    Ids on DuckDB that are whole numbers in a narrow range are ticked off in a list of the range: an engine
    holds all it has seen, forty times as much.
    """
    whole = table.collect_schema()[column].is_integer()
    table = table.select(nw.col(column).alias(_ID))
    id = nw.col(_ID)
    if n > FEW and whole and frames.engine_of(table.to_native()) == "duckdb":
        wanted = id.count().alias("n"), id.min().alias("low"), id.max().alias("high")
        present, low, high = frames.gather(table.select(*wanted)).row(0)
        if present < n or high - low + 1 < n:
            return False
        if high - low < DENSE * n:
            return _ticked(table, int(low), int(high)) == n
    counts = frames.gather(table.select(id.n_unique().alias("different"), id.count().alias("present")))
    return set(counts.row(0)) == {n}


def _ticked(table: Table, low: int, high: int) -> int:
    """How many different whole numbers there are between the two, part after part of the range."""
    found = 0
    for start in range(low, high + 1, TICKED):
        end = min(start + TICKED - 1, high)
        seen = np.zeros(end - start + 1, dtype=bool)
        part = table.filter((nw.col(_ID) >= start) & (nw.col(_ID) <= end))
        part = part.select((nw.col(_ID) - start).cast(nw.Int64))
        for places in fold_batches(part, lambda rows: rows[_ID].to_numpy()):
            seen[places] = True
        found += int(np.count_nonzero(seen))
    return found
