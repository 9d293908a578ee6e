"""The distribution of a variable on an engine: different values, or narrow bins, with their weight.

All that an indicator needs of a variable is in such cells. Bins hold values that differ by a part in 16,384;
where a quantile or a poverty line falls into one, it is replaced by the different values in it, so that
quantiles, shares below a line and what rests on them are exact. Sums over bins are exact, too, as a bin has
the mean of its values; only the differences of values within bins are lost: about 10⁻¹⁰ of a Gini.
"""

from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.engine import frames
from sdckit.engine.tables import OURS, Table
from sdckit.estimate.indicator import DomainSample
from sdckit.estimate.variance import WHOLE

EXACT = 2_000_000  # records: up to here every different value is a cell
FINE = 16_384.0  # bins for each unit of the logarithm
MIDDLE = 20_000_000  # more than any logarithm times FINE

X, Y, WEIGHT, DOMAIN, BIN = (f"{OURS}{part}" for part in ("x", "y", "w", "domain", "bin"))
_SUMS = ("low", "high", "records", "weight", "squares", "amount", "second")


class Second(Enum):
    """What the second variable of a source is."""

    NONE = "none"
    NUMBER = "number"
    GROUP = "group"


@dataclass(frozen=True, eq=False)
class CellSample(DomainSample):
    """The cells of a domain in the order of their values, each as a record.

    squares, records: Σw² and the number of records of each cell. bins: the number of its bin, whose values
    are from `low` to `high`. hits: bins in which a quantile or a line was looked for, collected here.
    """

    squares: Floats = field(default_factory=lambda: np.empty(0))
    records: Floats = field(default_factory=lambda: np.empty(0))
    low: Floats = field(default_factory=lambda: np.empty(0))
    high: Floats = field(default_factory=lambda: np.empty(0))
    bins: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    hits: set[int] = field(default_factory=set)

    @property
    def squared_weight(self) -> float:
        """Σ w² of the records."""
        return float(self.squares.sum())

    @property
    def constant(self) -> bool:
        """Whether all values are equal, also within the cells."""
        return len(self.x) > 0 and bool(self.low.min() == self.high.max())

    @cached_property
    def _before(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.records)])

    def records_upto(self, places: Any) -> Any:
        """How many records the cells before some places have."""
        return self._before[places]

    def place(self, p: float | Floats) -> Any:
        """[r] Where the quantiles are among the cells."""
        found = super().place(p)
        self._hit(np.isin(np.arange(len(self.x)), found))
        return found

    def poverty_line(self) -> Floats:
        """The poverty line of indicators that have one."""
        line = super().poverty_line()
        self._hit((self.low < line[0]) & (line[0] <= self.high))
        return line

    def cut(self, keep: Any) -> "CellSample":
        """The sample with some of its cells only."""
        part = super().cut(keep)
        names = ("squares", "records", "low", "high", "bins")
        return replace(part, **{name: getattr(self, name)[keep] for name in names})  # type: ignore[return-value]

    def _hit(self, cells: Bools) -> None:
        self.hits.update(self.bins[cells & (self.low < self.high)].tolist())


@dataclass(frozen=True, eq=False)
class ValueCells:
    """The cells of a source in all domains, in the order of their values.

    table: the records with a value, with the columns X, Y (a second variable), WEIGHT, DOMAIN (a code, −1
    for none) and BIN. second: whether there is a second variable; it is summed up, or tells groups apart.
    """

    table: Table
    second: Second
    cells: pl.DataFrame
    hits: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, table: Table, records: int, second: Second, *, coarse: bool) -> "ValueCells":
        """Cells of the records of a table; `coarse`: one for each domain, where sums are all that counts."""
        table = table.filter(~nw.any_horizontal(nw.col(X).is_null(), nw.col(Y).is_null(), ignore_nulls=False))
        table = table.with_columns((nw.lit(0) if coarse else bin_of(X)).cast(nw.Int64).alias(BIN))
        fine = records <= EXACT and not coarse
        return cls(table, second, _grouped(table, [DOMAIN, X if fine else BIN], second))

    def refined(self) -> "ValueCells":
        """The same with the different values of the bins that were hit in place of these."""
        bins = sorted(self.hits)
        hit = self.cells.filter(pl.col(BIN).is_in(bins))
        ends = hit["low"].min(), hit["high"].max()  # compared faster than the bin of a value is found
        near = self.table.filter((nw.col(X) >= ends[0]) & (nw.col(X) <= ends[1]))
        values = _grouped(near.filter(nw.col(BIN).is_in(bins)), [DOMAIN, X], self.second)
        cells = pl.concat([self.cells.filter(~pl.col(BIN).is_in(bins)), values])
        return ValueCells(self.table, self.second, cells.sort("value", DOMAIN))

    def inside(self, domain: int) -> Bools:
        """[cells] Which of them belong to a domain."""
        if domain == WHOLE:
            return np.ones(self.cells.height, dtype=np.bool_)
        return np.asarray((self.cells[DOMAIN] == domain).to_numpy())

    def sample(self, domain: int) -> CellSample:
        """The cells of a domain as a sample."""
        some = self.cells.filter(self.inside(domain))
        column = {name: some[name].to_numpy() for name in ("value", "other", *_SUMS, BIN)}
        return CellSample(
            column["value"],
            column["weight"][None, :],
            None if self.second is Second.NONE else column["other"],
            None,
            column["squares"],
            column["records"],
            column["low"],
            column["high"],
            column[BIN],
            self.hits,
        )

    @cached_property
    def finder(self) -> "CellFinder":
        """What finds the cells of records."""
        numbered = self.cells.with_row_index("cell").sort("low")
        keys = ["domain", "group"]
        group = pl.col("other") if self.second is Second.GROUP else pl.lit(0.0)
        parts = numbered.select(
            pl.col(DOMAIN).alias("domain"), group.alias("group"), "low", pl.col("cell").cast(pl.Int64)
        ).partition_by(keys, as_dict=True, maintain_order=True)
        return CellFinder(
            {
                (int(d), float(g)): (part["low"].to_numpy(), part["cell"].to_numpy())
                for (d, g), part in parts.items()
            }
        )


@dataclass(frozen=True, slots=True)
class CellFinder:
    """For each domain and group the least values of the cells, in order, and the numbers of these."""

    parts: dict[tuple[int, float], tuple[Floats, Ints]]

    def find(self, x: Floats, domain: Ints, group: Floats) -> Ints:
        """[n] The number of each record's cell, −1 where a value is missing."""
        found = np.full(len(x), -1, dtype=np.int64)
        for (code, one), (low, cell) in self.parts.items():
            mine = (domain == code) & (group == one) & ~np.isnan(x)
            found[mine] = cell[np.maximum(np.searchsorted(low, x[mine], side="right") - 1, 0)]
        return found


def bin_of(column: str) -> nw.Expr:
    """Numbers of bins, in the order of values: those of negative values are negative, that of 0 is 0."""
    x = nw.col(column)
    size = nw.when(x == 0).then(nw.lit(1.0)).otherwise(x.abs())
    code = (size.log() * FINE).floor().cast(nw.Int64) + MIDDLE
    return nw.when(x > 0).then(code).otherwise(nw.when(x < 0).then(-code).otherwise(nw.lit(0)))


def _grouped(table: Table, by: list[str], second: Second) -> pl.DataFrame:
    """A row for each value or bin in each domain, and group: sums over its records."""
    keys = [*by, Y] if second is Second.GROUP else by
    x, y, w = nw.col(X), nw.col(Y), nw.col(WEIGHT)
    staged = table.with_columns(
        (w * w).alias(f"{OURS}ww"), (w * x).alias(f"{OURS}wx"), (w * y).alias(f"{OURS}wy")
    )
    sums = staged.group_by(*keys).agg(
        x.min().alias("low"),
        x.max().alias("high"),
        nw.len().cast(nw.Int64).alias("records"),
        w.sum().alias("weight"),
        nw.col(f"{OURS}ww").sum().alias("squares"),
        nw.col(f"{OURS}wx").sum().alias("amount"),
        nw.col(f"{OURS}wy").sum().alias("second"),
        *([] if BIN in keys else [nw.col(BIN).min()]),
    )
    rows = frames.gather(sums)
    mean = pl.when(pl.col("low") == pl.col("high")).then("low").otherwise(pl.col("amount") / pl.col("weight"))
    other = pl.col(Y) if second is Second.GROUP else pl.col("second") / pl.col("weight")
    wanted = rows.select(
        pl.col(DOMAIN).cast(pl.Int64),
        mean.clip(pl.col("low"), pl.col("high")).alias("value"),
        other.alias("other"),
        *(pl.col(name).cast(pl.Float64) for name in _SUMS),
        pl.col(BIN).cast(pl.Int64),
    )
    return wanted.sort("value", DOMAIN)
