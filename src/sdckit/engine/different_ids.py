"""Whether ids tell all records apart, without holding them in memory."""

from dataclasses import dataclass

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
    """Whether a column of n records has a value in each, and no two the same."""
    whole = table.collect_schema()[column].is_integer()
    if n > FEW and whole and frames.engine_of(table.to_native()) == "duckdb":
        found = whole_numbers_in(table, column)
        return found.present == n and found.span >= n and found.different() == n
    table = table.select(nw.col(column).alias(_ID))
    id = nw.col(_ID)
    counts = frames.gather(table.select(id.n_unique().alias("different"), id.count().alias("present")))
    return set(counts.row(0)) == {n}


@dataclass(frozen=True, slots=True)
class WholeNumbers:
    """The whole numbers in a column: how many records have one, the lowest and the highest."""

    table: Table
    present: int
    low: int
    high: int

    @property
    def span(self) -> int:
        """How many whole numbers there are from the lowest to the highest; 0 without any."""
        return self.high - self.low + 1 if self.present else 0

    def different(self) -> int:
        """How many different ones the records have.

        Numbers in a narrow range on DuckDB are ticked off in a list of the range: an engine holds all it has
        seen, forty times as much.
        """
        on_duckdb = frames.engine_of(self.table.to_native()) == "duckdb"
        if on_duckdb and self.present > FEW and self.span <= DENSE * self.present:
            return _ticked(self.table, self.low, self.high)
        return frames.height(self.table.filter(~nw.col(_ID).is_null()).unique().to_native())


def whole_numbers_in(table: Table, column: str) -> WholeNumbers:
    """The whole numbers in a column of such, from one pass."""
    table, id = table.select(nw.col(column).alias(_ID)), nw.col(_ID)
    wanted = id.count().alias("n"), id.min().alias("low"), id.max().alias("high")
    present, low, high = frames.gather(table.select(*wanted)).row(0)
    return WholeNumbers(table, int(present), int(low or 0), int(high or 0))


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
