"""Rank swapping in groups of near ranks, on every engine."""

import math
from collections.abc import Sequence

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random
from sdckit.engine.joins import join_to_records
from sdckit.engine.ranks import value_ranks
from sdckit.engine.tables import OURS, RECORDS, Table, count_cells, native_module
from sdckit.protect._draws import Draws, in_order_of_ids
from sdckit.protect._engine_numbers import new_name
from sdckit.protect._strata import pooled_numbers

_STRATUM, _CODE, _ID, _X, _AT, _COUNT, _GROUPS, _GROUP, _DRAWN, _FROM = (
    f"{OURS}{part}"
    for part in ("stratum", "id_code", "own_id", "x", "at", "count", "groups", "group", "drawn", "from")
)


def swap_in_groups(
    data: Microdata, names: Sequence[str], distance: float, by: Sequence[str], draws: Draws
) -> Microdata:
    """The file with the values of each variable shuffled within groups of ranks, by strata."""
    strata = pooled_numbers(data, by, 0, _STRATUM)
    table = join_to_records(data.table, strata, list(by), [_STRATUM])
    work = _in_memory if data.engine == "polars" else _on_engine
    return work(data, names, distance, table, draws)


def groups_of(n: int, distance: float) -> int:
    """Into how many groups n ranks are cut: as few as keep |i−j|/n below the distance, of 2 ranks or more."""
    largest = math.ceil(max(distance, 2 / max(n, 2)) * n - 1e-9)  # 0.07 · 100 is a little above 7
    return min(math.ceil(n / max(largest, 1)), max(n, 1))


def _in_memory(
    data: Microdata, names: Sequence[str], distance: float, table: Table, draws: Draws
) -> Microdata:
    stratum = frames.gather(table.select(_STRATUM))[_STRATUM].to_numpy()
    first = in_order_of_ids(data)
    columns, changed, stayed = [], 0, 0
    for step, name in enumerate(names):
        old = data.frame[name]
        ranks = old.gather(first).rank("ordinal").fill_null(0).to_numpy()
        rows = first[np.argsort(ranks, kind="stable")[int((ranks == 0).sum()) :]]
        rows = rows[np.argsort(stratum[rows], kind="stable")]
        group = _group_numbers(stratum[rows], distance)
        order = np.lexsort((draws.codes[rows], draws.uniform(step)[rows], group))
        source = np.arange(len(old))
        source[rows] = rows[order]
        stayed += int((order == np.arange(len(order))).sum())
        new = old.gather(source)
        changed += int((new != old).sum())
        columns.append(pl.Series(name, new))
    return _logged(data, names, data.frame.with_columns(columns), changed, stayed)


def _group_numbers(stratum: Ints, distance: float) -> Ints:
    """A number for the group of each value; values are sorted by stratum and rank."""
    first = np.flatnonzero(np.append(True, np.diff(stratum) != 0)[: len(stratum)])
    sizes = np.diff(np.append(first, len(stratum)))
    groups = np.array([groups_of(n, distance) for n in sizes.tolist()], dtype=np.int64)
    place = np.arange(len(stratum)) - np.repeat(first, sizes)
    number = place * np.repeat(groups, sizes) // np.repeat(sizes, sizes)
    return np.asarray(number + np.repeat(np.cumsum(groups) - groups, sizes))


def _on_engine(
    data: Microdata, names: Sequence[str], distance: float, table: Table, draws: Draws
) -> Microdata:
    """Two orders of each group, by rank and by a keyed number: who is at a place in one gets the value of
    who is there in the other."""
    id = data.roles.id or ""
    done, stayed = data.table, 0
    for step, name in enumerate(names):
        ranked = _ranked(data, table.select(_STRATUM, *dict.fromkeys([id, name])), name, distance)
        ranked = draws.with_uniform(ranked, step, _DRAWN)
        native = native_module(ranked).row_numbers(
            ranked.to_native(), [_STRATUM, _GROUP], [_DRAWN, _CODE], _FROM
        )
        count, groups = nw.col(_COUNT), nw.col(_GROUPS)
        start = (nw.col(_GROUP) * count + groups - 1) // groups
        ranked = frames.lazy(native).with_columns((start + nw.col(_FROM) - 1).cast(nw.Int64).alias(_FROM))
        ranked = ranked.select(_STRATUM, _AT, _FROM, nw.col(id).alias(_ID), nw.col(name).alias(_X))
        ranked = frames.lazy(native_module(ranked).worked_out(ranked.to_native()))
        same = (nw.col(_AT) == nw.col(_FROM)).cast(nw.Int64).sum().alias(_COUNT)
        stayed += int(frames.gather(ranked.select(same))[_COUNT][0] or 0)
        given = ranked.select(
            nw.col(_STRATUM).alias(f"{_STRATUM}2"),
            nw.col(_FROM).alias(f"{_AT}2"),
            nw.col(_X).alias(new_name(step)),
        )
        taken = ranked.select(_STRATUM, _AT, _ID).join(
            given, left_on=[_STRATUM, _AT], right_on=[f"{_STRATUM}2", f"{_AT}2"], how="left"
        )
        done = done.join(taken.select(_ID, new_name(step)), left_on=id, right_on=_ID, how="left")
    differ = [
        (nw.col(name) != nw.col(new_name(j))).cast(nw.Int64).sum().alias(f"{OURS}{j}")
        for j, name in enumerate(names)
    ]
    changed = sum(int(n or 0) for n in frames.gather(done.select(*differ)).row(0))
    frame = done.with_columns(nw.col(new_name(j)).alias(name) for j, name in enumerate(names))
    return _logged(data, names, frame.select(*data.columns).to_native(), changed, stayed)


def _ranked(data: Microdata, table: Table, name: str, distance: float) -> Table:
    """The records with a value: rank in the stratum, group, and how many values and groups there are."""
    table = table.filter(~nw.col(name).is_null())
    table = random.with_whole_id(table, data.roles.id or "", _CODE)
    sizes = count_cells(table, [_STRATUM], None)
    groups = pl.Series(_GROUPS, [groups_of(n, distance) for n in sizes[RECORDS]], dtype=pl.Int64)
    cells = sizes.select(_STRATUM, pl.col(RECORDS).alias(_COUNT), groups)
    table = value_ranks(table, name, by=[_STRATUM], then=[_CODE], n=data.height, name=_AT)
    table = join_to_records(table, cells, [_STRATUM], [_COUNT, _GROUPS])
    return table.with_columns((nw.col(_AT) * nw.col(_GROUPS) // nw.col(_COUNT)).cast(nw.Int64).alias(_GROUP))


def _logged(data: Microdata, names: Sequence[str], frame: object, changed: int, stayed: int) -> Microdata:
    effects = Effects(moves_values=tuple(names))
    return data.with_frame(frame, effects=effects, values_changed=changed, values_not_moved=stayed)
