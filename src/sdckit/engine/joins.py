"""A small table's columns carried to the records of a large one, which stays where it is."""

from collections.abc import Sequence

import polars as pl

from sdckit.engine import frames
from sdckit.engine.tables import Table, native_module, refuse_new_columns


def join_to_records(table: Table, cells: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> Table:
    """The records with `columns` of their cell. NULL joins NULL; no such cell gives NULL; lazy.

    Each combination of keys is at most once in `cells`; without keys it is one row, for all records.
    """
    refuse_new_columns(table, columns)
    return frames.lazy(native_module(table).join_null_safe(table.to_native(), cells, keys, columns))
