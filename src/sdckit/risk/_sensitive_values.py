"""Which sensitive values an intruder finds among the records that share a key combination."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Codes, Ints
from sdckit.data.key_cells import KeyCells, Missing, key_cells, key_codes
from sdckit.data.microdata import Microdata
from sdckit.engine import tables
from sdckit.errors import OptionError

MAX_ROWS = 4_000_000  # of a histogram held at a time, so that memory stays bounded where much matches much
MAX_DENSE_VALUES = 64  # values up to which dense tables of cells by values pay
MAX_ENTRIES = 16_000_000  # of such a table


@dataclass(frozen=True)
class SensitiveValues:
    """The values of one sensitive variable in every key cell.

    cells: the key cells with missing as a category. counts: cell, value (a code in the order of the values,
    −1 for missing) and count, of records or of their weights; only what occurs.
    """

    cells: KeyCells
    counts: pl.DataFrame

    @cached_property
    def overall(self) -> pl.DataFrame:
        """value and count in the whole file, without missing values, in the order of the values."""
        return _summed(self.counts.filter(pl.col("value") >= 0), ["value"]).sort("value")

    def matching(self, missing: Missing) -> Iterator[pl.DataFrame]:
        """Tables like `counts` over the records that match those of a cell; each cell is in one table.

        With the wildcard rule these are all cells that agree wherever neither is missing, otherwise the cell
        itself.
        """
        if missing is not Missing.WILDCARD or not self.cells.incomplete.any():
            yield self.counts
            return
        codes = self.cells.codes
        if self.counts["value"].n_unique() <= MAX_DENSE_VALUES:
            yield from _dense(codes, self.counts)
        else:
            yield from _sparse(codes, self.counts)


def _dense(codes: Codes, counts: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """By tables of cells × values, some values at a time."""
    from sdckit.kernels.wildcard import wildcard_sums

    values, column = np.unique(counts["value"].to_numpy(), return_inverse=True)
    width = max(1, MAX_ENTRIES // len(codes))
    pieces = []
    for first in range(0, len(values), width):
        here = (column >= first) & (column < first + width)
        table = np.zeros((len(codes), min(width, len(values) - first)))
        table[counts["cell"].to_numpy()[here], column[here] - first] = counts["count"].to_numpy()[here]
        found = wildcard_sums(codes, table)
        cell, place = np.nonzero(found)
        pieces.append(
            pl.DataFrame({"cell": cell, "value": values[first + place], "count": found[cell, place]})
        )
    yield pl.concat(pieces)


def _sparse(codes: Codes, counts: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """By joins, one for each missing pattern and set of keys it shares with others."""
    patterns, of_cell = np.unique(codes >= 0, axis=0, return_inverse=True)
    names = [f"k{i}" for i in range(codes.shape[1])]
    numbered = pl.DataFrame(codes, schema=names, orient="row").with_row_index("cell")
    places = numbered.cast(pl.Int64).with_columns(pl.Series("pattern", of_cell.reshape(-1)))
    located = counts.join(places, on="cell")
    for p, present in enumerate(patterns):
        mine = places.filter(pl.col("pattern") == p)
        yield from _joined(mine, located, patterns & present, names)


def _joined(
    mine: pl.DataFrame,
    located: pl.DataFrame,
    common: Bools,
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
    batch = (size.cum_sum() // MAX_ROWS).to_numpy()
    for number in np.unique(batch):
        some = mine.filter(pl.Series(batch == number))
        rows = [_matched(some, side, on, how="inner").select("cell", "value", "count") for on, side in sides]
        yield _summed(pl.concat(rows), ["cell", "value"])


def _matched(cells: pl.DataFrame, side: pl.DataFrame, on: list[str], how: str = "left") -> pl.DataFrame:
    if not on:
        return cells.join(side, how="cross")
    return cells.join(side, on=on, how=how, maintain_order="left")  # type: ignore[arg-type]


def _summed(rows: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    return rows.group_by(by).agg(pl.col("count").sum())


def sensitive_values(
    data: Microdata, keys: Sequence[str], variable: str, *, weighted: bool
) -> SensitiveValues:
    """The values of a sensitive variable by key cell. Numbers and Enum levels keep their order."""
    if variable in keys:
        raise OptionError(
            "A sensitive variable cannot be a key as well.",
            given=variable,
            hint="Whoever knows it as a key learns nothing from it.",
        )
    cells = key_cells(data, keys, Missing.CATEGORY)
    weight = data.roles.weight if weighted else None
    table = tables.count_cells(data.table, [*keys, variable], weight)
    number = cells.combinations.with_columns(pl.Series(tables.OURS, np.arange(len(cells.records))))
    cell = tables.join_cells(table.select(keys), number, list(keys), [tables.OURS])[tables.OURS]
    counts = pl.DataFrame(
        {
            "cell": cell.cast(pl.Int64),
            "value": _codes(table[variable]),
            "count": table[tables.WEIGHT_SUM],
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
