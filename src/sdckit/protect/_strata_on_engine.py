"""Kernels that need all records of a stratum: stratum by stratum, in memory and on engines."""

from collections.abc import Callable, Sequence
from functools import partial

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random
from sdckit.engine.joins import join_to_records
from sdckit.engine.strata import map_strata
from sdckit.engine.tables import OURS, RECORDS, Table, count_cells, native_module
from sdckit.errors import EngineError
from sdckit.protect._draws import in_order_of_ids, require_id
from sdckit.protect._engine_numbers import new_name
from sdckit.protect._strata import pooled_numbers

LARGEST = 1_000_000  # records of a stratum that is brought into memory
GROUPS = f"{OURS}groups"
_STRATUM, _CODE, _ID = (f"{OURS}{part}" for part in ("stratum", "id_code", "own_id"))

# New numbers [records, variables] for those of a stratum, in the order of the ids, and how many groups.
Kernel = Callable[[Floats], tuple[Floats, int]]


def strata_by_ids(data: Microdata, by: Sequence[str], smallest: int) -> list[Ints]:
    """The rows in memory of each stratum in the order of the ids; strata below a size are pooled."""
    first = in_order_of_ids(data)
    if not by:
        return [first]
    numbers = pooled_numbers(data, by, smallest, _STRATUM)
    table = frames.gather(join_to_records(data.table, numbers, list(by), [_STRATUM]).select(_STRATUM))
    stratum = table[_STRATUM].to_numpy()[first]
    order = np.argsort(stratum, kind="stable")
    ends = np.flatnonzero(np.diff(stratum[order])) + 1
    return [first[rows] for rows in np.split(order, ends) if len(rows)]


def numbers_by_strata(
    data: Microdata, names: Sequence[str], by: Sequence[str], smallest: int, kernel: Kernel
) -> Table:
    """The table with columns `new_name(0)`, … that a kernel makes of each stratum, and GROUPS, to be summed.

    Outside memory only. Rows come to the kernel in the order of the ids, so that it makes the same of them
    wherever they are.
    """
    require_id(data, "Groups of near values")
    id = data.roles.id or ""
    numbers = pooled_numbers(data, by, smallest, _STRATUM)
    table = join_to_records(data.table, numbers, list(by), [_STRATUM])
    most = int(count_cells(table, [_STRATUM], None)[RECORDS].to_numpy().max(initial=0))
    if most > LARGEST:
        raise EngineError(
            f"Records are brought into memory stratum by stratum, and one has {most:,}.",
            given=f"by={list(by)} on {data.engine}",
            allowed=f"strata of at most {LARGEST:,} records",
            hint="Name more columns in by, or take the method individual_ranking, which needs no strata.",
        )
    table = random.with_whole_id(table, id, _CODE)
    columns = [nw.col(c).cast(nw.Float64).alias(f"{OURS}x{j}") for j, c in enumerate(names)]
    table = table.select(_STRATUM, _CODE, nw.col(id).alias(_ID), *columns)
    kind = frames.gather(table.select(_ID).head(0)).schema[_ID]
    made = {new_name(j): pl.Float64() for j in range(len(names))}
    schema = {_ID: kind, **made, GROUPS: pl.Int64()}
    found = map_strata(table, [_STRATUM], partial(_mapped, kernel=kernel, count=len(names)), schema)
    found = native_module(table).worked_out(found)
    return data.table.join(frames.lazy(found), left_on=id, right_on=_ID, how="left")


def _mapped(stratum: pl.DataFrame, kernel: Kernel, count: int) -> pl.DataFrame:
    """What a kernel makes of a stratum, under its ids."""
    stratum = stratum.sort(_CODE)
    x = stratum.select(pl.col(f"{OURS}x{j}").fill_null(np.nan) for j in range(count)).to_numpy()
    y, groups = kernel(np.array(x, dtype=np.float64))
    columns = [pl.Series(new_name(j), y[:, j], nan_to_null=True) for j in range(count)]
    counted = pl.Series(GROUPS, np.append(groups, np.zeros(len(y) - 1)), dtype=pl.Int64)
    return pl.DataFrame([stratum[_ID], *columns, counted])
