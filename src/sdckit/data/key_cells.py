"""Key cells: the distinct key combinations of a file, counted under one missing-value rule.

Every categorical risk is a formula on this small table; records get theirs by a join at the end.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sdckit._support.arrays import Bools, Codes, Floats, Ints
from sdckit.data.microdata import Microdata
from sdckit.engine import tables
from sdckit.kernels.hashing import pack


class Missing(StrEnum):
    """The three rules, the same in every measure that counts.

    wildcard: a missing value matches any value, both ways (an intruder cannot rule the record out).
    category: missing is a category of its own.
    nothing: a record with a missing key matches only itself (most cautious).
    """

    WILDCARD = "wildcard"
    CATEGORY = "category"
    NOTHING = "nothing"


@dataclass(frozen=True)
class KeyCells:
    """One entry a key combination, in no set order.

    combinations: the key values. records, weights: how many records are in the cell, and the sum of their
    weights. sample (f) and population (F): how many records an intruder cannot tell apart from one of this
    cell, and the sum of their weights; they differ from the former where missing keys match others.
    """

    data: Microdata
    combinations: pl.DataFrame
    records: Ints
    weights: Floats
    sample: Floats
    population: Floats

    @cached_property
    def incomplete(self) -> Bools:
        """Which combinations have a missing key."""
        return has_missing(self.combinations)

    @cached_property
    def codes(self) -> Codes:
        """The key values as codes 0, 1, …, a column for each column of `combinations`; missing is −1."""
        return key_codes(self.combinations, self.combinations.columns)

    @cached_property
    def of_records(self) -> Ints:
        """The cell of each record, in the order of the records (in memory only)."""
        names = self.combinations.columns
        number = pl.Series(tables.OURS, np.arange(self.combinations.height))
        cells = self.combinations.with_columns(number)
        return tables.join_cells(self.data.frame.select(names), cells, names, [tables.OURS])[
            tables.OURS
        ].to_numpy()

    def count(self, which: Bools) -> int:
        """The number of records in some of the cells."""
        return int(self.records[which].sum())

    def parts(self, **columns: npt.NDArray[Any]) -> pl.DataFrame:
        """Columns given by cell, laid out by record under its id; by cell where records are out of memory.

        A key named like one of the columns has "(key)" behind its name.
        """
        if self.data.engine != "polars":
            ours = {"records": self.records, **columns}
            return self.combinations.rename(_other_names(self.combinations.columns, ours)).with_columns(
                pl.Series(name, values) for name, values in ours.items()
            )
        laid = [pl.Series(name, values[self.of_records]) for name, values in columns.items()]
        return pl.DataFrame([self.data.ids(beside=columns), *laid])


def key_cells(
    data: Microdata, keys: Sequence[str], missing: Missing = Missing.WILDCARD, alpha: float = 1.0
) -> KeyCells:
    """The key cells of a file. NULL keys follow `missing`.

    With the wildcard rule an incomplete record adds `alpha` to the counts of other key combinations.
    Microdata never change, so the cells are kept with them and counted once for all measures.
    """
    asked = ("key_cells", tuple(keys), missing, alpha)
    return data.cached(asked, lambda: _key_cells(data, keys, missing, alpha))


def combinations_of(data: Microdata, columns: Sequence[str]) -> pl.DataFrame:
    """The combinations of columns that occur, with their records and weights, counted once for all."""
    wanted, weight = tuple(columns), data.roles.weight
    return data.cached(("combinations", wanted), lambda: tables.count_cells(data.table, wanted, weight))


def _key_cells(data: Microdata, keys: Sequence[str], missing: Missing, alpha: float) -> KeyCells:
    by = _grouped_by(data, keys, missing)
    table = combinations_of(data, by)
    records, weights = table[tables.RECORDS].to_numpy(), table[tables.WEIGHT_SUM].to_numpy()
    plain = missing is Missing.CATEGORY or (by == list(keys) and not any(table[k].null_count() for k in keys))
    codes = None if plain else key_codes(table, keys)  # which takes longer than the count
    counted = _counted(codes, records, weights, missing, alpha)
    return KeyCells(data, table.select(by), records, weights, *counted)


def fewer_keys(cells: KeyCells, keys: Sequence[str], missing: Missing, alpha: float = 1.0) -> KeyCells:
    """The cells of a subset of the keys, added up from those of all: the records are not touched again."""
    by = _grouped_by(cells.data, keys, missing)
    codes = cells.codes[:, [cells.combinations.columns.index(c) for c in by]]
    _, first, cell = np.unique(pack(codes), return_index=True, return_inverse=True)
    records = np.bincount(cell, cells.records).astype(np.int64)
    weights = np.bincount(cell, cells.weights).astype(np.float64)
    counted = _counted(codes[first][:, : len(keys)], records, weights, missing, alpha)
    return KeyCells(cells.data, cells.combinations.select(by)[first], records, weights, *counted)


def _grouped_by(data: Microdata, keys: Sequence[str], missing: Missing) -> list[str]:
    """The keys, and the weight where each record's own is needed."""
    weight = data.roles.weight
    if missing is Missing.NOTHING and weight is not None and weight not in keys:
        return [*keys, weight]
    return list(keys)


def _counted(
    codes: Codes | None, records: Ints, weights: Floats, missing: Missing, alpha: float
) -> tuple[Floats, Floats]:
    """Sample and population: the records that an intruder cannot tell apart, and the sum of their weights."""
    sample = records.astype(np.float64)
    if codes is None or missing is Missing.CATEGORY:
        return sample, weights
    incomplete = (codes < 0).any(axis=1)
    if missing is Missing.NOTHING:
        sample, population = _summed(codes, records, weights)
        return np.where(incomplete, 1.0, sample), np.where(incomplete, weights / records, population)
    if not incomplete.any():
        return sample, weights
    from sdckit.kernels.wildcard import wildcard_counts

    return wildcard_counts(codes, sample, weights, alpha)


def _other_names(keys: Sequence[str], ours: Collection[str]) -> dict[str, str]:
    """For each key named like a column of ours, a name that nothing has."""
    names = {}
    for key in (k for k in keys if k in ours):
        names[key] = f"{key} (key)"
        while names[key] in keys:
            names[key] += " (key)"
    return names


def has_missing(frame: pl.DataFrame) -> Bools:
    """Which rows have a missing value."""
    return frame.select(pl.any_horizontal(pl.all().is_null())).to_series().to_numpy()


def _summed(codes: Codes, records: Ints, weights: Floats) -> tuple[Floats, Floats]:
    """Counts of exactly the same keys, where cells are split by weight."""
    cell = np.unique(pack(codes), return_inverse=True)[1]
    sample, population = (np.bincount(cell, values).astype(np.float64) for values in (records, weights))
    return sample[cell], population[cell]


def key_codes(frame: pl.DataFrame, keys: Sequence[str]) -> Codes:
    """Keys as int32 codes 0, 1, …; missing is −1."""
    codes = [_codes(frame[k]) for k in keys]
    return np.ascontiguousarray(np.column_stack(codes), dtype=np.int32)


def _codes(column: pl.Series) -> Ints:
    if column.null_count() == len(column):
        return np.full(len(column), -1, dtype=np.int64)
    kind = column.dtype
    plain = column.cast(pl.String) if kind in (pl.Categorical, pl.Enum, pl.Boolean) else column
    return (plain.rank("dense").cast(pl.Int64) - 1).fill_null(-1).to_numpy()
