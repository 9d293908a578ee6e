"""Which sensitive values an intruder finds among the records that share a key combination."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from sdckit.cells import Ints, KeyCells, key_cells, key_codes
from sdckit.engine import tables
from sdckit.errors import OptionError
from sdckit.microdata import Microdata
from sdckit.missing import Missing

ROWS = 4_000_000  # of a histogram held at a time, so that memory stays bounded where much matches much


@dataclass(frozen=True)
class SensitiveValues:
    """The values of one sensitive variable in every key cell.

    cells: the key cells with missing as a category. counts: cell, value (a code in the order of the values,
    −1 for missing), records, mass (sum of weights); only what occurs.
    """

    cells: KeyCells
    counts: pl.DataFrame

    @cached_property
    def overall(self) -> pl.DataFrame:
        """value and mass in the whole file, without missing values, in the order of the values."""
        present = self.counts.filter(pl.col("value") >= 0)
        return present.group_by("value").agg(pl.col("mass").sum()).sort("value")

    def matching(self, missing: Missing) -> Iterator[pl.DataFrame]:
        """Tables like `counts` over the records that match those of a cell; each cell is in one table.

        With the wildcard rule these are all cells that agree wherever neither is missing, otherwise the cell
        itself. Cells are matched once per pair of missing patterns.
        """
        if missing is not Missing.WILDCARD or not self.cells.incomplete.any():
            yield self.counts
            return
        codes = key_codes(self.cells.combinations, self.cells.combinations.columns)
        patterns, of_cell = np.unique(codes >= 0, axis=0, return_inverse=True)
        names = [f"k{i}" for i in range(codes.shape[1])]
        numbered = pl.DataFrame(codes, schema=names, orient="row").with_row_index("cell")
        places = numbered.cast(pl.Int64).with_columns(pl.Series("pattern", of_cell.reshape(-1)))
        located = self.counts.join(places, on="cell")
        for p, present in enumerate(patterns):
            mine = places.filter(pl.col("pattern") == p)
            yield from _joined(mine, located, patterns & present, names)


def _joined(
    mine: pl.DataFrame,
    located: pl.DataFrame,
    common: np.ndarray[tuple[int, int], np.dtype[np.bool_]],
    names: Sequence[str],
) -> Iterator[pl.DataFrame]:
    """What the cells `mine` (one pattern) match; `common` has the keys they share with each pattern."""
    sides = []
    size = pl.zeros(mine.height, dtype=pl.Int64, eager=True)
    for shared in np.unique(common, axis=0):
        on = [name for name, use in zip(names, shared, strict=True) if use]
        alike = [int(q) for q in np.flatnonzero((common == shared).all(axis=1))]
        side = _summed(located.filter(pl.col("pattern").is_in(alike)), [*on, "value"])
        sides.append((on, side))
        found = side.group_by(on).len() if on else side.select(pl.len())
        size += _matched(mine, found, on)["len"].fill_null(0).cast(pl.Int64)
    batch = (size.cum_sum() // ROWS).to_numpy()
    for number in np.unique(batch):
        some = mine.filter(pl.Series(batch == number))
        rows = [_matched(some, side, on, how="inner").select(*COLUMNS) for on, side in sides]
        yield _summed(pl.concat(rows), ["cell", "value"])


COLUMNS = ("cell", "value", "records", "mass")


def _matched(cells: pl.DataFrame, side: pl.DataFrame, on: list[str], how: str = "left") -> pl.DataFrame:
    if not on:
        return cells.join(side, how="cross")
    return cells.join(side, on=on, how=how, maintain_order="left")  # type: ignore[arg-type]


def _summed(rows: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    return rows.group_by(by).agg(pl.col("records").sum(), pl.col("mass").sum())


def sensitive_values(data: Microdata, keys: Sequence[str], variable: str) -> SensitiveValues:
    """The values of a sensitive variable by key cell. Numbers and Enum levels keep their order."""
    if variable in keys:
        raise OptionError(
            "A sensitive variable cannot be a key as well.",
            given=variable,
            hint="Whoever knows it as a key learns nothing from it.",
        )
    cells = key_cells(data, keys, Missing.CATEGORY)
    table = tables.count_cells(data.table, [*keys, variable], data.roles.weight)
    number = cells.combinations.with_columns(pl.Series(tables.OURS, np.arange(len(cells.records))))
    cell = tables.join_cells(table.select(keys), number, list(keys), [tables.OURS])[tables.OURS]
    counts = pl.DataFrame(
        {
            "cell": cell.cast(pl.Int64),
            "value": _codes(table[variable]),
            "records": table[tables.RECORDS],
            "mass": table[tables.WEIGHT_SUM],
        }
    )
    return SensitiveValues(cells, counts)


def _codes(column: pl.Series) -> Ints:
    if isinstance(column.dtype, pl.Enum):
        column = column.to_physical()
    return key_codes(column.alias("value").to_frame(), ["value"])[:, 0].astype(np.int64)


def variables_to_protect(sensitive: Sequence[str]) -> tuple[str, ...]:
    """The sensitive variables, at least one and each once."""
    if not sensitive:
        raise OptionError("sensitive must name at least one variable.", given="none")
    return tuple(dict.fromkeys(sensitive))
