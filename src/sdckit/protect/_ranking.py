"""Individual ranking: consecutive groups of k of the sorted values of each variable, on every engine."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random
from sdckit.engine.disk_arrays import Array
from sdckit.engine.exact_sums import Scale, split
from sdckit.engine.joins import join_to_records
from sdckit.engine.numbered_records import NumberedRecords, numbered_records
from sdckit.engine.ranks import value_ranks
from sdckit.engine.tables import OURS, RECORDS, Table, count_cells, native_module
from sdckit.protect._draws import in_order_of_ids, require_id
from sdckit.protect._engine_numbers import new_name
from sdckit.protect._groupings import Statistic
from sdckit.protect._numbers import matrix_of
from sdckit.protect._strata import pooled_numbers

_STRATUM, _CODE, _X, _PLACE, _COUNT, _GROUP, _START, _SIZE = (
    f"{OURS}{part}" for part in ("stratum", "id_code", "x", "at", "count", "group", "start", "size")
)
_HIGH, _LOW, _LEAST, _MOST = f"{_X}h", f"{_X}l", f"{OURS}least", f"{OURS}most"


@dataclass(frozen=True, slots=True)
class Ranking:
    """Groups of k neighbours in rank, the last of a stratum with up to 2k−1, and what they become.

    Equal values are in the order of the ids, without ids in that of the file. A mean is made of a sum of
    whole numbers, so that it does not depend on the order of the values; equal values stay as they are.
    """

    k: int
    statistic: Statistic

    def aggregated(self, data: Microdata, names: Sequence[str], by: Sequence[str]) -> Microdata:
        """The file with each number replaced; fewer than k of a stratum are suppressed."""
        scales = [self._scale(data.table, name) for name in names]
        if data.engine == "polars":
            return self._in_memory(data, names, self._with_strata(data, data.table, by), scales)
        require_id(data, "Groups of near values")
        records = numbered_records(data.table, names)
        if records is not None:
            table = self._with_strata(data, records.table, by)
            return self._on_disk(data, names, records, table, scales)
        table = random.with_whole_id(self._with_strata(data, data.table, by), data.roles.id or "", _CODE)
        groups = 0
        for j, (name, scale) in enumerate(zip(names, scales, strict=True)):
            table, formed = self._with_new(data, table, name, new_name(j), scale)
            groups += formed
        id = data.roles.id or ""
        found = table.select(nw.col(id).alias(_CODE), *(new_name(j) for j in range(len(names))))
        found = frames.lazy(native_module(table).worked_out(found.to_native()))
        table = data.table.join(found, left_on=id, right_on=_CODE, how="left")
        return self._put_back(data, names, table, groups)

    def _with_strata(self, data: Microdata, table: Table, by: Sequence[str]) -> Table:
        return join_to_records(table, pooled_numbers(data, by, self.k, _STRATUM), list(by), [_STRATUM])

    def _scale(self, table: Table, name: str) -> Scale:
        largest = nw.col(name).cast(nw.Float64).abs().max().alias(_X)
        return Scale.of(2 * self.k, frames.gather(table.select(largest))[_X][0] or 0.0)

    def _in_memory(
        self, data: Microdata, names: Sequence[str], table: Table, scales: Sequence[Scale]
    ) -> Microdata:
        stratum = frames.gather(table.select(_STRATUM))[_STRATUM].to_numpy()
        first = in_order_of_ids(data)
        x = matrix_of(data, names)
        y, groups = np.full_like(x, np.nan), 0
        for j, scale in enumerate(scales):
            rows = first[~np.isnan(x[first, j])]
            rows = rows[np.argsort(x[rows, j], kind="stable")]
            rows = rows[np.argsort(stratum[rows], kind="stable")] if stratum.any() else rows
            sizes = np.bincount(stratum[rows]) if len(rows) else np.zeros(1, dtype=np.int64)
            rows = rows[sizes[stratum[rows]] >= self.k]
            if len(rows):
                starts, sizes = _groups(sizes[sizes >= self.k], self.k)
                y[rows, j] = np.repeat(self._becomes(x[rows, j], starts, sizes, scale), sizes)
                groups += len(starts)
        columns = [pl.Series(name, y[:, j], nan_to_null=True) for j, name in enumerate(names)]
        changed, gone = (y != x)[~np.isnan(x)].sum(), (np.isnan(y) & ~np.isnan(x)).sum(axis=0)
        return _logged(data, data.frame.with_columns(columns), names, groups, int(changed), gone)

    def _on_disk(
        self,
        data: Microdata,
        names: Sequence[str],
        records: NumberedRecords,
        table: Table,
        scales: Sequence[Scale],
    ) -> Microdata:
        """`table`: the records with their strata."""
        table = random.with_whole_id(table, data.roles.id or "", _CODE)
        new, groups, changed, gone = {}, 0, 0, np.zeros(len(names), dtype=np.int64)
        for j, (name, scale) in enumerate(zip(names, scales, strict=True)):
            new[new_name(j)] = made = records.array(np.float64)
            numbers = table.with_columns(nw.col(name).cast(nw.Float64).alias(_X))
            rows = records.in_order(numbers, _STRATUM, _X, _CODE)
            for grouped in grouped_parts(rows, self.k):
                x = np.ascontiguousarray(grouped.rows["minor"])
                becomes = self._becomes(x, grouped.starts, grouped.sizes, scale)
                values = np.repeat(becomes, grouped.sizes)
                made.values[grouped.rows["at"]] = values
                made.values[grouped.others["at"]] = np.nan
                groups += len(grouped.starts)
                changed += int((values != x).sum()) + len(grouped.others)
                gone[j] += len(grouped.others)
            made.leave()
        done = records.with_arrays(new).with_columns(
            nw.when(~nw.col(name).is_null()).then(nw.col(new_name(j))).alias(name)
            for j, name in enumerate(names)
        )
        done = done.select(*data.columns)
        return _logged(data, done.to_native(), names, groups, changed, gone)

    def _becomes(self, sorted_: Floats, starts: Ints, sizes: Ints, scale: Scale) -> Floats:
        """What each group becomes; `_new_value` in the same steps."""
        least, most = sorted_[starts], sorted_[starts + sizes - 1]
        if self.statistic is Statistic.MEDIAN:
            low, high = sorted_[starts + (sizes - 1) // 2], sorted_[starts + sizes // 2]
            return np.asarray(low + (high - low) / 2)
        scaled = sorted_ * 2.0 ** (scale.bits - scale.exponent)
        high_parts = np.floor(scaled).astype(np.int64)
        low_parts = np.floor((scaled - high_parts.astype(np.float64)) * 2.0**scale.bits).astype(np.int64)
        high, low = (np.add.reduceat(part, starts).astype(np.float64) for part in (high_parts, low_parts))
        upper, lower = _units(scale)
        mean = (high * upper + low * lower) / sizes.astype(np.float64)
        return np.where(least == most, least, np.minimum(np.maximum(mean, least), most))

    def _with_new(
        self, data: Microdata, table: Table, name: str, new: str, scale: Scale
    ) -> tuple[Table, int]:
        """The table with the new values of a variable, and the number of groups."""
        table = table.with_columns(nw.col(name).cast(nw.Float64).alias(_X))
        counts = count_cells(table.filter(~nw.col(_X).is_null()), [_STRATUM], None)
        counts = counts.select(_STRATUM, pl.col(RECORDS).alias(_COUNT))
        table = value_ranks(table, _X, by=[_STRATUM], then=[_CODE], n=data.height, name=_PLACE)
        table = join_to_records(table, counts, [_STRATUM], [_COUNT])
        place, count, last = nw.col(_PLACE), nw.col(_COUNT), nw.col(_COUNT) // self.k - 1
        there = ~nw.col(_X).is_null() & (count >= self.k)
        group = nw.when(place // self.k < last).then(place // self.k).otherwise(last)
        table = table.with_columns(nw.when(there).then(group).alias(_GROUP))
        table = table.with_columns((nw.col(_GROUP) * self.k).alias(_START))
        size = nw.when(nw.col(_GROUP) < last).then(nw.lit(self.k)).otherwise(count - nw.col(_START))
        table = table.with_columns(size.cast(nw.Int64).alias(_SIZE))
        table = self._new_value(split(table, {_X: scale}), new, scale)
        ours = (_X, _HIGH, _LOW, _PLACE, _COUNT, _GROUP, _START, _SIZE, _LEAST, _MOST)
        formed = int((counts[_COUNT] // self.k).sum())
        return table.drop(*ours), formed

    def _new_value(self, table: Table, new: str, scale: Scale) -> Table:
        whole = (_STRATUM, _GROUP)
        if self.statistic is Statistic.MEDIAN:
            at = nw.col(_PLACE) - nw.col(_START)
            ends = {_LEAST: (nw.col(_SIZE) - 1) // 2, _MOST: nw.col(_SIZE) // 2}
            table = table.with_columns(
                nw.when(at == place).then(nw.col(_X)).alias(end) for end, place in ends.items()
            )
            table = table.with_columns(nw.col(end).max().over(*whole) for end in ends)
            low, high = nw.col(_LEAST), nw.col(_MOST)
            found = low + (high - low) * 0.5
        else:
            x, upper, lower = nw.col(_X), *_units(scale)
            sums = [
                nw.col(part).sum().over(*whole).cast(nw.Int64).cast(nw.Float64).alias(part)
                for part in (_HIGH, _LOW)
            ]
            limits = [x.min().over(*whole).alias(_LEAST), x.max().over(*whole).alias(_MOST)]
            table = table.with_columns(*sums, *limits)
            low, high = nw.col(_LEAST), nw.col(_MOST)
            mean = (nw.col(_HIGH) * upper + nw.col(_LOW) * lower) / nw.col(_SIZE).cast(nw.Float64)
            table = table.with_columns(mean.alias(new))
            mean = nw.col(new)
            found = nw.when(mean < low).then(low).otherwise(nw.when(mean > high).then(high).otherwise(mean))
        return table.with_columns(nw.when(~nw.col(_GROUP).is_null()).then(found).alias(new))

    def _put_back(self, data: Microdata, names: Sequence[str], table: Table, groups: int) -> Microdata:
        wanted = []
        for j, name in enumerate(names):
            new, old = nw.col(new_name(j)), nw.col(name).cast(nw.Float64)
            gone = ~old.is_null() & new.is_null()
            wanted.append(gone.cast(nw.Int64).sum().alias(f"gone_{j}"))
            wanted.append((gone | (new != old)).cast(nw.Int64).sum().alias(f"changed_{j}"))
        row = frames.gather(table.select(*wanted)).row(0, named=True)
        gone_by = np.array([int(row[f"gone_{j}"] or 0) for j in range(len(names))])
        changed = sum(int(row[f"changed_{j}"] or 0) for j in range(len(names)))
        done = table.with_columns(nw.col(new_name(j)).alias(name) for j, name in enumerate(names))
        return _logged(data, done.select(*data.columns).to_native(), names, groups, changed, gone_by)


def _groups(sizes: Ints, k: int) -> tuple[Ints, Ints]:
    """Where groups of k begin in strata of these sizes, one behind the other, and how large they are."""
    count = sizes // k
    group = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    starts = np.repeat(np.cumsum(sizes) - sizes, count) + group * k
    return starts, np.diff(np.append(starts, sizes.sum()))


class Grouped(NamedTuple):
    """Sorted rows in groups: where each begins and how large it is. `others` are of strata below k."""

    rows: Array
    starts: Ints
    sizes: Ints
    others: Array


def grouped_parts(parts: Iterable[Array], k: int) -> Iterator[Grouped]:
    """Rows in the order of strata (`major`) and values, some at a time: no group straddles two pieces."""
    rest: Array | None = None
    for part in parts:
        rows = part if rest is None else np.concatenate([rest, part])
        last = int(np.searchsorted(rows["major"], rows["major"][-1]))  # of this stratum there may be more
        stop = last + max((len(rows) - last) // k - 1, 0) * k
        rest = rows[stop:].copy()
        if stop:
            yield _grouped(rows[:stop], k)
    if rest is not None:
        yield _grouped(rest, k)


def _grouped(rows: Array, k: int) -> Grouped:
    first = np.flatnonzero(np.append(True, rows["major"][1:] != rows["major"][:-1]))
    sizes = np.diff(np.append(first, len(rows)))
    enough = sizes >= k
    if enough.all():
        return Grouped(rows, *_groups(sizes, k), rows[:0])
    inside = np.repeat(enough, sizes)
    return Grouped(rows[inside], *_groups(sizes[enough], k), rows[~inside])


def _units(scale: Scale) -> tuple[float, float]:
    """What the two whole numbers are in."""
    return 2.0 ** (scale.exponent - scale.bits), 2.0 ** (scale.exponent - 2 * scale.bits)


def _logged(
    data: Microdata, frame: object, names: Sequence[str], groups: int, changed: int, gone: Ints
) -> Microdata:
    return data.with_frame(
        frame,
        effects=Effects(suppresses=tuple(c for c, n in zip(names, gone, strict=True) if n)),
        groups=groups,
        values_changed=changed,
        values_suppressed=int(gone.sum()),
    )
