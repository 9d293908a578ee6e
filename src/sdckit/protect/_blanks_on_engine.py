"""Suppressed keys carried to records outside memory: by cells, and in few cells by records drawn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.engine.joins import join_to_records
from sdckit.engine.tables import OURS, Table, native_module
from sdckit.protect._draws import Draws, whole_numbers

if TYPE_CHECKING:  # which brings the compiler along
    from sdckit.kernels.suppression.release import Release

_CELL, _LIMIT, _DRAWN, _CHOSEN = (f"{OURS}{part}" for part in ("cell", "limit", "drawn", "chosen"))
BITS = f"{OURS}bits"


def blanked_on_engine(
    data: Microdata, keys: Sequence[str], cells: pl.DataFrame, release: "Release", draws: Draws
) -> Any:
    """The file with keys suppressed as the release, in drawing order, says of the cells.

    The last part of each cell is what its records get; for the others as many records are drawn by their
    keyed numbers. Of these only the smallest are brought into memory, so many as are needed and some more,
    whatever the number of records in the cell.
    """
    last = np.append(np.diff(release.cell) != 0, True)[: len(release.cell)]
    usual = np.zeros(cells.height, np.int64)
    usual[release.cell[last]] = release.blank[last]
    return carried_to_records(data, keys, cells, usual, _drawn_records(data, cells, release, ~last, draws))


def carried_to_records(
    data: Microdata, keys: Sequence[str], cells: pl.DataFrame, usual: Ints, drawn: pl.DataFrame
) -> Any:
    """The file with the usual blanks (bits) of its cells, and others in the records drawn: id and BITS."""
    touched = np.flatnonzero(usual)
    columns = [f"{OURS}blank_{j}" for j in range(len(keys))]
    blanks = cells[touched].with_columns(_flags(usual[touched], columns))
    table = join_to_records(data.table, blanks, cells.columns, columns)
    own = [f"{OURS}own_{j}" for j in range(len(keys))]
    if drawn.height:
        chosen = drawn.with_columns(pl.lit(value=True).alias(_CHOSEN), *_flags(drawn[BITS].to_numpy(), own))
        table = join_to_records(table, chosen, [data.roles.id or ""], [_CHOSEN, *own])
        table = table.with_columns(
            nw.when(~nw.col(_CHOSEN).is_null()).then(nw.col(a)).otherwise(nw.col(b)).alias(b)
            for a, b in zip(own, columns, strict=True)
        )
    hidden = [nw.col(c).fill_null(value=False) for c in columns]
    shown = [nw.when(~b).then(nw.col(c)).alias(c) for c, b in zip(keys, hidden, strict=True)]
    done = table.with_columns(*shown).select(*data.columns)
    return native_module(done).worked_out(done.to_native())  # or each query would join again


def _flags(blank: Ints, names: Sequence[str]) -> list[pl.Series]:
    """For each key whether it is among the bits."""
    return [pl.Series(name, (blank >> j & 1).astype(bool)) for j, name in enumerate(names)]


def _drawn_records(
    data: Microdata, cells: pl.DataFrame, release: "Release", drawn: Any, draws: Draws
) -> pl.DataFrame:
    """The ids of the records that get another set of blanks than is usual in their cell, and these (bits)."""
    cell, blank, records = release.cell[drawn], release.blank[drawn], release.records[drawn]
    id = data.roles.id or ""
    if not len(cell):
        return pl.DataFrame({id: [], BITS: []})
    need = np.bincount(cell, records, minlength=cells.height)
    size = np.bincount(release.cell, release.records, minlength=cells.height)
    split = np.flatnonzero(need)
    limit = np.minimum((need[split] + 6 * np.sqrt(need[split]) + 12) / size[split], 1.0)
    table = data.table.select(id, *(c for c in cells.columns if c != id))
    while True:
        places = cells[split].with_columns(pl.Series(_CELL, split), pl.Series(_LIMIT, limit))
        found = _candidates(table, places, cells.columns, draws)
        enough = np.bincount(found[_CELL].to_numpy(), minlength=cells.height) >= need
        if enough.all():
            break
        limit = np.where(enough[split], limit, 1.0)  # by bad luck too few: all records of the cell, then
    found = found.with_columns(pl.Series(OURS, whole_numbers(found[id]))).sort(_CELL, _DRAWN, OURS)
    taken = found.filter(pl.int_range(pl.len()).over(_CELL) < pl.Series(need[found[_CELL].to_numpy()]))
    return taken.select(id, pl.Series(BITS, np.repeat(blank, records)))


def _candidates(table: Table, places: pl.DataFrame, columns: Sequence[str], draws: Draws) -> pl.DataFrame:
    """The records of some cells whose keyed numbers are below the limits of the cells."""
    joined = join_to_records(table, places, columns, [_CELL, _LIMIT]).filter(~nw.col(_CELL).is_null())
    drawn = draws.with_uniform(joined, 0, _DRAWN)
    wanted = drawn.filter(nw.col(_DRAWN) <= nw.col(_LIMIT)).select(draws.data.roles.id or "", _CELL, _DRAWN)
    return frames.gather(wanted).with_columns(pl.col(_CELL).cast(pl.Int64))
