"""Strata inside a protection step."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.engine.tables import OURS, RECORDS, Table, count_cells
from sdckit.errors import ColumnError

Rows = Ints


def strata(data: Microdata, by: Sequence[str]) -> list[Rows]:
    """The row numbers of each stratum, NULL being one of them; one stratum of all rows without `by`."""
    if not by:
        return [np.arange(data.height)]
    numbered = data.frame.select(by).with_row_index(OURS)
    rows = numbered.group_by(list(by), maintain_order=True).agg(OURS)[OURS]
    return [np.asarray(r.to_numpy(), dtype=np.int64) for r in rows]


def pooled_numbers(data: Microdata, by: Sequence[str], smallest: int, name: str) -> pl.DataFrame:
    """The strata of the records of a file, as `pooled_cells`."""
    return pooled_cells(data.table, by, smallest, name)


def pooled_cells(table: Table, by: Sequence[str], smallest: int, name: str) -> pl.DataFrame:
    """The strata of a table on any engine with a number each in a column `name`; small ones share one.

    If those below the size are still too few together, the smallest other one joins them, of equal ones the
    first by text.
    """
    cells = count_cells(table, list(by), None)
    if not by:
        return pl.DataFrame({name: [0]}, schema={name: pl.Int64})
    try:
        order = cells.select(pl.col(RECORDS), *(pl.col(c).cast(pl.String).alias(c) for c in by))
    except pl.exceptions.InvalidOperationError as error:  # lists, durations, bytes
        raise ColumnError(
            "Strata are made of values that can be written as text.",
            given=join_names(f"{c} ({cells.schema[c]})" for c in by),
            allowed="text, numbers, dates, true or false",
        ) from error
    cells = cells[order.with_row_index(OURS).sort(RECORDS, *by, nulls_last=True)[OURS]]
    sizes = cells[RECORDS].to_numpy()
    pooled = sizes < smallest
    if pooled.any() and sizes[pooled].sum() < smallest and not pooled.all():
        pooled[int(np.argmin(pooled))] = True
    numbers = np.where(pooled, 0, np.arange(1, len(sizes) + 1))
    return cells.select(*by, pl.Series(name, numbers, dtype=pl.Int64))


def pooled_strata(data: Microdata, by: Sequence[str], smallest: int) -> list[Rows]:
    """The same with strata below a size pooled into one, or into the smallest other where still too small."""
    found = strata(data, by)
    large = sorted((r for r in found if len(r) >= smallest), key=len)
    small = [r for r in found if len(r) < smallest]
    if not small:
        return found
    pool = np.concatenate(small)
    if len(pool) < smallest and large:
        pool = np.concatenate([pool, large.pop(0)])
    return [*large, pool]
