"""Kernels that need all records of a stratum: stratum by stratum, in memory and on engines."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random
from sdckit.engine.joins import join_to_records
from sdckit.engine.strata import map_strata
from sdckit.engine.tables import OURS, RECORDS, Table, count_cells, native_module
from sdckit.errors import EngineError
from sdckit.protect import _blocks
from sdckit.protect._draws import in_order_of_ids, require_id
from sdckit.protect._strata import pooled_numbers

STRATUM, CODE = f"{OURS}stratum", f"{OURS}id_code"
_ID, _SAID = f"{OURS}own_id", f"{OURS}said"

# Of a stratum, its records in the order of the ids, and its number: new columns, and what is to be added up.
Kernel = Callable[[pl.DataFrame, int], tuple[list[pl.Series], dict[str, Any]]]


def strata_by_ids(data: Microdata, by: Sequence[str], smallest: int) -> list[tuple[int, Ints]]:
    """The number of each stratum and its rows in memory in the order of the ids; small strata are pooled."""
    first = in_order_of_ids(data)
    if not by:
        return [(0, first)]
    numbers = pooled_numbers(data, by, smallest, STRATUM)
    table = frames.gather(join_to_records(data.table, numbers, list(by), [STRATUM]).select(STRATUM))
    stratum = table[STRATUM].to_numpy()[first]
    order = np.argsort(stratum, kind="stable")
    ends = np.flatnonzero(np.diff(stratum[order])) + 1
    return [(int(stratum[rows[0]]), first[rows]) for rows in np.split(order, ends) if len(rows)]


def strata_table(
    data: Microdata, columns: Mapping[str, nw.Expr], by: Sequence[str], smallest: int, what: str
) -> Table:
    """Some columns of records outside memory, with the number of their stratum (STRATUM) and id (CODE)."""
    require_id(data, what)
    return numbered_table(data, columns, by, pooled_numbers(data, by, smallest, STRATUM))


def numbered_table(
    data: Microdata, columns: Mapping[str, nw.Expr], by: Sequence[str], numbers: pl.DataFrame
) -> Table:
    """The same with given numbers of the strata."""
    id = data.roles.id or ""
    table = join_to_records(data.table, numbers, list(by), [STRATUM])
    table = random.with_whole_id(table, id, CODE)
    named = [column.alias(name) for name, column in columns.items()]
    return table.select(STRATUM, CODE, nw.col(id).alias(_ID), *named)


def refuse_large(data: Microdata, table: Table, by: Sequence[str], instead: str) -> None:
    """Refuse strata that do not fit into memory; `instead` is another way."""
    most = int(count_cells(table, [STRATUM], None)[RECORDS].to_numpy().max(initial=0))
    if most > _blocks.LARGEST:
        raise EngineError(
            f"Records are brought into memory stratum by stratum, and one has {most:,}.",
            given=f"by={list(by)} on {data.engine}",
            allowed=f"strata of at most {_blocks.LARGEST:,} records",
            hint=f"Name more columns in by, or {instead}.",
        )


def mapped(
    data: Microdata, records: Table, table: Table, kernel: Kernel, made: Mapping[str, pl.DataType]
) -> tuple[Table, list[dict[str, Any]]]:
    """The records with the columns that a kernel makes of each stratum of `strata_table`, and what it said.

    Rows come to the kernel in the order of the ids, so that it makes the same of them wherever they are. What
    it said is in the order of the strata.
    """
    id = data.roles.id or ""
    kind = frames.gather(table.select(_ID).head(0)).schema[_ID]
    schema = {_ID: kind, **made, _SAID: pl.String()}
    found = map_strata(table, [STRATUM], partial(_of_stratum, kernel=kernel), schema)
    done = frames.lazy(native_module(table).worked_out(found))
    said = frames.gather(done.select(_SAID).filter(~nw.col(_SAID).is_null()))[_SAID]
    everything = sorted((json.loads(text) for text in said), key=lambda one: int(one[STRATUM]))
    return records.join(done.drop(_SAID), left_on=id, right_on=_ID, how="left"), everything


def _of_stratum(stratum: pl.DataFrame, kernel: Kernel) -> pl.DataFrame:
    """What a kernel makes of a stratum, under its ids; what it says is in the first row."""
    stratum = stratum.sort(CODE)
    number = int(stratum[STRATUM][0])
    columns, said = kernel(stratum, number)
    text = [json.dumps({STRATUM: number, **said}), *[None] * (stratum.height - 1)]
    return pl.DataFrame([stratum[_ID], *columns, pl.Series(_SAID, text, dtype=pl.String)])
