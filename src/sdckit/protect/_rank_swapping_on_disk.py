"""Rank swapping on DuckDB with the values sorted through files."""

from collections.abc import Callable, Iterator, Sequence

import narwhals as nw
import numpy as np

from sdckit.data.microdata import Microdata
from sdckit.engine.disk_arrays import PIECE, DiskArray
from sdckit.engine.disk_sort import DiskSort, limits_of, parts_for
from sdckit.engine.numbered_records import NumberedRecords
from sdckit.engine.tables import Table
from sdckit.protect._draws import Draws
from sdckit.protect._engine_numbers import new_name
from sdckit.protect._rank_partners import Windows, joined, strata_of
from sdckit.protect._strata_on_engine import CODE, STRATUM

SAMPLE = 500  # places for each part of a sort, from which its limits are taken
GOLDEN = 0.6180339887498949  # multiples of it are spread evenly modulo 1


class SortedValues:
    """The present values of a variable by rank, with the numbers and ids of their records, on disk."""

    def __init__(self, records: NumberedRecords, table: Table, stratum: str, name: str, code: str) -> None:
        self._records = records
        self._at, self._code = records.array(np.int64), records.array(np.int64)
        self._x: DiskArray | None = None
        strata = []
        self.n = 0
        for rows in records.in_order(table, stratum, name, code):
            if self._x is None:
                self._x = records.array(rows["minor"].dtype)
            here = slice(self.n, self.n + len(rows))
            self._x.values[here], self._at.values[here] = rows["minor"], rows["at"]
            self._code.values[here] = rows["last"]
            strata.append(strata_of(rows["major"]))
            self.n = here.stop
            self._leave(self._x, self._at, self._code)
        self._strata = joined(strata)

    def in_windows(self, distance: float, seed: int) -> DiskArray:
        """For each place the one whose value it receives."""
        found = self._records.array(np.int64)
        Windows(seed, distance, self._strata).fill(found.values[: self.n])
        found.leave()
        return found

    def in_groups(self, distance: float, draws: Draws, step: int) -> DiskArray:
        """The same: the places of each group in the order of keyed numbers."""
        found = self._records.array(np.int64)
        parts = parts_for(self.n)
        some = self.n * np.arange(parts * SAMPLE) // (parts * SAMPLE)
        group = self._strata.groups(some if self.n else some[:0], distance)
        drawn = np.modf(np.arange(len(group)) * GOLDEN)[0]
        limits = limits_of((group, drawn, np.zeros(len(group), dtype=np.int64)), parts)
        kinds = {"major": np.int64, "minor": np.float64, "last": np.int64, "place": np.int64}
        sort = DiskSort(self._records.folder, limits, kinds)
        for here in self._pieces():
            places, code = np.arange(here.start, here.stop), self._code.values[here]
            drawn = draws.uniform_of(code, step)
            group = self._strata.groups(places, distance)
            sort.add({"major": group, "minor": drawn, "last": code, "place": places})
            self._leave(self._code)
        done = 0
        for rows in sort.sorted_parts():
            found.values[done : done + len(rows)] = rows["place"]
            done += len(rows)
            found.leave()
        return found

    def given(self, partners: DiskArray) -> tuple[DiskArray, int, int]:
        """The new values by the numbers of the records, how many changed and how many kept their place."""
        x = self._x or self._records.array(np.float64)
        new = self._records.array(x.values.dtype)
        changed = stayed = 0
        for here in self._pieces():
            source = partners.values[here]
            values = x.values[source]
            new.values[self._at.values[here]] = values
            changed += int((values != x.values[here]).sum())
            stayed += int((source == np.arange(here.start, here.stop)).sum())
            self._leave(x, partners, self._at)  # but not `new`, which is written to all over
        self._leave(new)
        return new, changed, stayed

    def _pieces(self) -> Iterator[slice]:
        for start in range(0, self.n, PIECE):
            yield slice(start, min(start + PIECE, self.n))

    def _leave(self, *arrays: DiskArray | None) -> None:
        for array in arrays:
            if array is not None:
                array.leave()


def swapped_on_disk(
    data: Microdata,
    names: Sequence[str],
    records: NumberedRecords,
    table: Table,
    partners: Callable[[SortedValues, int], DiskArray],
) -> tuple[Table, int, int]:
    """The records with each variable's values swapped; how many changed, and how many kept their place.

    `table`: the records with STRATUM and CODE. `partners`: of the sorted values of the variable at a place.
    """
    new, changed, stayed = {}, 0, 0
    for step, name in enumerate(names):
        values = SortedValues(records, table, STRATUM, name, CODE)
        new[new_name(step)], moved, kept = values.given(partners(values, step))
        changed, stayed = changed + moved, stayed + kept
    kinds = table.collect_schema()
    columns = [
        nw.when(~nw.col(name).is_null()).then(nw.col(new_name(j))).cast(kinds[name]).alias(name)
        for j, name in enumerate(names)
    ]
    return records.with_arrays(new).with_columns(*columns).select(*data.columns), changed, stayed
