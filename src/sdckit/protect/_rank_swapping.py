"""Rank swapping on every engine: the values of a variable by rank, and whose value each record receives."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random
from sdckit.engine.disk_arrays import DiskArray
from sdckit.engine.joins import join_to_records
from sdckit.engine.numbered_records import numbered_records
from sdckit.engine.ranks import value_ranks
from sdckit.engine.tables import OURS, RECORDS, Table, count_cells, native_module
from sdckit.errors import EngineError
from sdckit.protect._draws import Draws, in_order_of_ids
from sdckit.protect._engine_numbers import new_name
from sdckit.protect._rank_partners import Strata, Windows, groups_of, strata_of
from sdckit.protect._rank_swapping_on_disk import SortedValues, swapped_on_disk
from sdckit.protect._strata import pooled_numbers
from sdckit.protect._strata_on_engine import CODE, STRATUM

MOST = 200_000_000  # ranks whose partners are drawn in the memory of each process
_ID, _X, _AT, _COUNT, _START, _GROUPS, _GROUP, _DRAWN, _TO = (
    f"{OURS}{part}" for part in ("own_id", "x", "at", "count", "start", "groups", "group", "drawn", "to")
)


class Swap(StrEnum):
    """Which ranks may change places."""

    WINDOW = "window"
    GROUPS = "groups"


@dataclass(frozen=True, slots=True)
class Swapping:
    """The method, the largest distance of ranks, and what is drawn: for windows a seed for each variable."""

    method: Swap
    distance: float
    draws: Draws
    seeds: tuple[int, ...]

    def swapped(self, data: Microdata, names: Sequence[str], by: Sequence[str]) -> Microdata:
        """The file with the values of each variable swapped, by strata."""
        if data.engine == "polars":
            return self._in_memory(data, names, _with_strata(data, data.table, by))
        records = numbered_records(data.table, names)
        if records is None:
            return self._on_engine(data, names, _with_strata(data, data.table, by))
        table = random.with_whole_id(_with_strata(data, records.table, by), data.roles.id or "", CODE)
        done, changed, stayed = swapped_on_disk(data, names, records, table, self._on_disk)
        return _logged(data, names, done.to_native(), changed, stayed)

    def _on_disk(self, values: SortedValues, step: int) -> DiskArray:
        if self.method is Swap.WINDOW:
            return values.in_windows(self.distance, self.seeds[step])
        return values.in_groups(self.distance, self.draws, step)

    def _in_memory(self, data: Microdata, names: Sequence[str], table: Table) -> Microdata:
        stratum = frames.gather(table.select(STRATUM))[STRATUM].to_numpy()
        first = in_order_of_ids(data)
        columns, changed, stayed = [], 0, 0
        for step, name in enumerate(names):
            old = data.frame[name]
            ranks = old.gather(first).rank("ordinal").fill_null(0).to_numpy()
            rows = first[np.argsort(ranks, kind="stable")[int((ranks == 0).sum()) :]]
            rows = rows[np.argsort(stratum[rows], kind="stable")]
            order = self._partners(strata_of(stratum[rows]), rows, step)
            source = np.arange(len(old))
            source[rows] = rows[order]
            stayed += int((order == np.arange(len(order))).sum())
            new = old.gather(source)
            changed += int((new != old).sum())
            columns.append(pl.Series(name, new))
        return _logged(data, names, data.frame.with_columns(columns), changed, stayed)

    def _partners(self, strata: Strata, rows: Ints, step: int) -> Ints:
        """For each place the one whose value it receives; rows: those of the places."""
        if self.method is Swap.WINDOW:
            return Windows(self.seeds[step], self.distance, strata).partners()
        group = strata.groups(np.arange(len(rows)), self.distance)
        return np.lexsort((self.draws.codes[rows], self.draws.uniform(step)[rows], group))

    def _on_engine(self, data: Microdata, names: Sequence[str], table: Table) -> Microdata:
        """Ranks by windows of the engine; the value at a place goes to who is at another one."""
        id = data.roles.id or ""
        done, stayed = data.table, 0
        for step, name in enumerate(names):
            ranked = table.select(STRATUM, *dict.fromkeys([id, name]))
            ranked = self._with_partners(_ranked(data, ranked, name), step)
            ranked = ranked.select(STRATUM, _AT, _TO, nw.col(id).alias(_ID), nw.col(name).alias(_X))
            ranked = frames.lazy(native_module(ranked).worked_out(ranked.to_native()))
            same = (nw.col(_AT) == nw.col(_TO)).cast(nw.Int64).sum().alias(_COUNT)
            stayed += int(frames.gather(ranked.select(same))[_COUNT][0] or 0)
            given = ranked.select(
                nw.col(STRATUM).alias(f"{STRATUM}2"),
                nw.col(_TO).alias(f"{_AT}2"),
                nw.col(_X).alias(new_name(step)),
            )
            taken = ranked.select(STRATUM, _AT, _ID).join(
                given, left_on=[STRATUM, _AT], right_on=[f"{STRATUM}2", f"{_AT}2"], how="left"
            )
            done = done.join(taken.select(_ID, new_name(step)), left_on=id, right_on=_ID, how="left")
        differ = [
            (nw.col(name) != nw.col(new_name(j))).cast(nw.Int64).sum().alias(f"{OURS}{j}")
            for j, name in enumerate(names)
        ]
        changed = sum(int(n or 0) for n in frames.gather(done.select(*differ)).row(0))
        frame = done.with_columns(nw.col(new_name(j)).alias(name) for j, name in enumerate(names))
        return _logged(data, names, frame.select(*data.columns).to_native(), changed, stayed)

    def _with_partners(self, ranked: Table, step: int) -> Table:
        """Records with STRATUM, CODE and the place _AT in it, and the place _TO to which their value goes."""
        sizes = count_cells(ranked, [STRATUM], None).sort(STRATUM)
        strata = Strata(tuple(sizes[STRATUM].to_list()), tuple(sizes[RECORDS].to_list()))
        work = self._in_windows if self.method is Swap.WINDOW else self._in_groups
        return work(ranked, sizes.select(STRATUM, pl.col(RECORDS).alias(_COUNT)), strata, step)

    def _in_windows(self, ranked: Table, cells: pl.DataFrame, strata: Strata, step: int) -> Table:
        if sum(strata.sizes) > MOST:
            raise EngineError(
                "rank_swap with the method window draws the partners of all ranks in each worker's memory.",
                given=f"{sum(strata.sizes):,} values",
                allowed=f"at most {MOST:,}",
                hint="Take the method groups.",
            )
        cells = cells.select(STRATUM, pl.Series(_START, strata.starts))
        ranked = join_to_records(ranked, cells, [STRATUM], [_START])  # pairs: it also comes from there
        ranked = ranked.with_columns((nw.col(_START) + nw.col(_AT)).cast(nw.Int64).alias(_X))
        partners = Windows(self.seeds[step], self.distance, strata)
        found = native_module(ranked).with_computed(ranked.to_native(), _X, partners.of, _TO)
        place = (nw.col(_TO) - nw.col(_START)).cast(nw.Int64).alias(_TO)
        return frames.lazy(found).with_columns(place)

    def _in_groups(self, ranked: Table, cells: pl.DataFrame, strata: Strata, step: int) -> Table:
        """Each group by rank and by a keyed number: a value goes to its place in the second order."""
        counts = pl.Series(_GROUPS, [groups_of(n, self.distance) for n in strata.sizes], dtype=pl.Int64)
        ranked = join_to_records(ranked, cells.with_columns(counts), [STRATUM], [_COUNT, _GROUPS])
        group = (nw.col(_AT) * nw.col(_GROUPS) // nw.col(_COUNT)).cast(nw.Int64)
        ranked = self.draws.with_uniform(ranked.with_columns(group.alias(_GROUP)), step, _DRAWN)
        native = native_module(ranked).row_numbers(ranked.to_native(), [STRATUM, _GROUP], [_DRAWN, CODE], _TO)
        start = (nw.col(_GROUP) * nw.col(_COUNT) + nw.col(_GROUPS) - 1) // nw.col(_GROUPS)
        place = (start + nw.col(_TO) - 1).cast(nw.Int64).alias(_TO)
        return frames.lazy(native).with_columns(place)


def _with_strata(data: Microdata, table: Table, by: Sequence[str]) -> Table:
    return join_to_records(table, pooled_numbers(data, by, 0, STRATUM), list(by), [STRATUM])


def _ranked(data: Microdata, table: Table, name: str) -> Table:
    """The records with a value, and their rank in the stratum."""
    table = random.with_whole_id(table.filter(~nw.col(name).is_null()), data.roles.id or "", CODE)
    return value_ranks(table, name, by=[STRATUM], then=[CODE], n=data.height, name=_AT)


def _logged(data: Microdata, names: Sequence[str], frame: object, changed: int, stayed: int) -> Microdata:
    effects = Effects(moves_values=tuple(names))
    return data.with_frame(
        frame, effects=effects, changed=names, values_changed=changed, values_not_moved=stayed
    )
