"""Records of our DuckDB connection with a number each: sorted, and given new columns, by arrays on disk.

An engine's windows and joins of all records with all of them take several times as long as this, and more the
less memory there is.
"""

import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Ints
from sdckit.engine import frames
from sdckit.engine.batches import fold_batches
from sdckit.engine.disk_arrays import Array, DiskArray
from sdckit.engine.disk_sort import DiskSort, keys_of, limits_of, parts_for
from sdckit.engine.duckdb_session import connection, same_connection, scratch_path, with_function
from sdckit.engine.duckdb_stages import kept_on_disk
from sdckit.engine.tables import OURS, Table, native_module

SAMPLE = 500  # rows for each part of a sort, from which its limits are taken
BATCH = 500_000  # rows that are brought into memory together

AT = f"{OURS}at"
_WHOLE = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32)  # which 64 bits hold
_NOTHING = np.empty(0)


def numbered_records(table: Table, numbers: Sequence[str]) -> "NumberedRecords | None":
    """The records of a table on disk, numbered; None where that cannot be.

    It can on DuckDB in our connection, where `numbers`, the columns to sort by and to replace, are of types
    that arrays have.
    """
    native = table.to_native()
    if frames.engine_of(native) != "duckdb" or not same_connection(native, connection().sql("select 1")):
        return None
    kinds = table.select(*numbers).collect_schema().values()
    if not all(kind.is_float() or kind in _WHOLE for kind in kinds):
        return None
    kept = kept_on_disk(native, AT)
    return NumberedRecords(frames.lazy(kept), frames.height(kept), scratch_path())


@dataclass(frozen=True, slots=True)
class NumberedRecords:
    """A table of n records with a column AT of the numbers 0 to n − 1."""

    table: Table
    n: int
    folder: Path

    def in_order(self, table: Table, major: str, minor: str, last: str) -> Iterator[Array]:
        """Records with a value in `minor` in the order of three columns of numbers, some at a time.

        `table`: made of the one of these records, with AT. Rows have the fields major, minor, last and at.
        """
        names = dict(zip((major, minor, last, AT), ("major", "minor", "last", "at"), strict=True))
        table = table.select(*names).filter(~nw.col(minor).is_null())
        parts = parts_for(self.n)
        share = min(SAMPLE * parts / self.n, 1.0)
        drawn = native_module(table).sample_rows(table.to_native(), share)
        some = frames.collect(drawn) if parts > 1 else frames.gather(table.head(0))
        sample = {names[c]: some[c].to_numpy() for c in names}
        limits = limits_of(keys_of(sample), parts)
        sort = DiskSort(self.folder, limits, {name: values.dtype for name, values in sample.items()})

        def add(rows: Any) -> npt.NDArray[np.float64]:
            sort.add({names[c]: rows[c].to_numpy() for c in names})
            return _NOTHING

        for _ in fold_batches(table, add, records=BATCH):
            pass
        return sort.sorted_parts()

    def array(self, kind: Any) -> DiskArray:
        """An array of as many zeros as there are records, on disk."""
        return DiskArray(self.folder, self.n, kind)

    def with_arrays(self, arrays: Mapping[str, DiskArray]) -> Table:
        """The records with these columns: whole numbers of 64 bits, or doubles."""
        native = self.table.to_native()
        held = dict(arrays)  # as long as the kept records are, and then the room on the disk is free
        weakref.finalize(native, held.clear).atexit = False
        made = ", ".join(f'{_looked_up(held, name)}({AT}) as "{name}"' for name in arrays)
        return frames.lazy(native.project(f"* exclude ({AT}), {made}"))


def _looked_up(held: Mapping[str, DiskArray], name: str) -> str:
    """A function of SQL that gives the value of an array at a place."""
    double = held[name].values.dtype.kind == "f"
    kind = np.float64 if double else np.int64

    def found(places: Ints) -> Array:
        return held[name].values[places].astype(kind)

    return with_function(found, "double" if double else "bigint")
