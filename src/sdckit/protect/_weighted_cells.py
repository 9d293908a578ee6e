"""Key cells with sums of weights that are the same numbers on every engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Codes, Floats, Ints
from sdckit.data.key_cells import key_codes
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.engine.exact_sums import Scale, split
from sdckit.engine.tables import OURS, Table, join_cells

WEIGHT = f"{OURS}w"
HIGH, LOW = f"{WEIGHT}h", f"{WEIGHT}l"  # as `split` names them
_RECORDS, _CELL = f"{OURS}records", f"{OURS}cell"


@dataclass(frozen=True, eq=False)
class WeightedCells:
    """The combinations of keys that occur, missing being a value, in the order of their codes.

    records, high, low: how many records each has, and the sum of their weights as two whole numbers.
    """

    data: Microdata
    combinations: pl.DataFrame
    codes: Codes
    records: Ints
    high: Ints
    low: Ints
    scale: Scale

    def weight(self, high: Ints, low: Ints) -> Floats:
        """Sums of weights from their two whole numbers."""
        bits, exponent = self.scale.bits, self.scale.exponent
        return np.asarray(high * 2.0 ** (exponent - bits) + low * 2.0 ** (exponent - 2 * bits))

    def with_weights(self, table: Table) -> Table:
        """A table of this file's records with columns HIGH and LOW."""
        return split(_weighted(table, self.data.roles.weight), {WEIGHT: self.scale})

    @cached_property
    def of_records(self) -> Ints:
        """The cell of each record, in memory."""
        names = self.combinations.columns
        cells = self.combinations.with_columns(pl.Series(_CELL, np.arange(self.combinations.height)))
        return join_cells(self.data.frame.select(names), cells, names, [_CELL])[_CELL].to_numpy()


def weighted_cells(data: Microdata, keys: Sequence[str]) -> WeightedCells:
    """The cells of a file on any engine, counted in one pass after the largest weight is known."""
    weight = data.roles.weight
    largest = 1.0
    if weight is not None:
        sizes = data.table.select(nw.col(weight).cast(nw.Float64).abs().max().alias(WEIGHT))
        largest = frames.gather(sizes)[WEIGHT][0] or 1.0
    scale = Scale.of(data.height, largest)
    codes = [f"{OURS}k{j}" for j in range(len(keys))]
    table = split(_weighted(data.table, weight), {WEIGHT: scale})
    table = table.select(*(nw.col(k).alias(c) for k, c in zip(keys, codes, strict=True)), HIGH, LOW)
    sums = [nw.len().cast(nw.Int64).alias(_RECORDS), *(nw.col(c).sum().cast(nw.Int64) for c in (HIGH, LOW))]
    cells = frames.gather(table.group_by(*codes).agg(*sums))
    number = key_codes(cells, codes)
    order = np.lexsort(number.T[::-1])
    cells = cells[order]
    return WeightedCells(
        data,
        cells.select(pl.col(c).alias(k) for k, c in zip(keys, codes, strict=True)),
        np.ascontiguousarray(number[order]),
        cells[_RECORDS].to_numpy(),
        cells[HIGH].to_numpy(),
        cells[LOW].to_numpy(),
        scale,
    )


def _weighted(table: Table, weight: str | None) -> Table:
    mass = nw.lit(1.0) if weight is None else nw.col(weight).cast(nw.Float64)
    return table.with_columns(mass.alias(WEIGHT))
