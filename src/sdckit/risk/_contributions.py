"""Cells of a magnitude table: how their totals are made up of the contributions of units."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

CELL, UNIT, VALUE, W, WEIGHTED = "cell", "unit", "value", "weight", "weighted"


@dataclass(frozen=True, slots=True)
class Units:
    """What contributes to which cell.

    cell: the number of each record's cell. unit: equal for records of one holding, different otherwise.
    weight: how many units of the population a record stands for.
    """

    cell: pl.Series
    unit: pl.Series
    weight: pl.Series

    def cells(self, values: pl.Series, n: int) -> pl.DataFrame:
        """One row per cell with a value: `contributors`, `total`, `largest`, `second`, `top` (of n), `rest`.

        A unit's contribution is the absolute value of the sum over its records, and its weight the mean
        weight of these values, within the weights that its records have. A contribution of weight w is that
        of w units of this size; where weights are not whole numbers, the largest unit takes what it lacks
        from the next contribution. `rest` is what remains of the total without the two largest. Contributors
        are units whose contribution is not 0.
        """
        columns = zip((CELL, UNIT, VALUE, W), (self.cell, self.unit, values, self.weight), strict=True)
        records = pl.DataFrame([column.alias(name) for name, column in columns]).drop_nulls(VALUE)
        records = records.with_columns((pl.col(VALUE) * pl.col(W)).alias(WEIGHTED))
        units = records.group_by(CELL, UNIT).agg(
            pl.col(VALUE, WEIGHTED).sum().abs(), pl.col(W).min().alias("least"), pl.col(W).max().alias("most")
        )
        # within the weights of its records: values of both signs may leave next to nothing to divide by
        mean = pl.when(pl.col(VALUE) > 0).then(pl.col(WEIGHTED) / pl.col(VALUE)).otherwise(pl.col("least"))
        units = units.with_columns(mean.clip(pl.col("least"), pl.col("most")).alias(W))
        units = units.with_columns((pl.col(WEIGHTED) / pl.col(W)).alias(VALUE))
        units = units.sort(CELL, VALUE, W, descending=[False, True, True])
        before = (pl.col(W).cum_sum() - pl.col(W)).over(CELL)

        def top(number: int) -> pl.Expr:
            part = (number - before).clip(lower_bound=0.0)
            return (pl.min_horizontal(part, pl.col(W)) * pl.col(VALUE)).alias(f"top_{number}")

        steps = [top(number) for number in sorted({1, 2, n})]
        found = (
            units.with_columns(steps)
            .group_by(CELL)
            .agg(
                (pl.col(VALUE) > 0).sum().cast(pl.Int64).alias("contributors"),
                (pl.col(W) * pl.col(VALUE)).sum().alias("total"),
                *(pl.col(f"top_{number}").sum() for number in sorted({1, 2, n})),
            )
        )
        return found.sort(CELL).select(
            CELL,
            "contributors",
            "total",
            pl.col("top_1").alias("largest"),
            (pl.col("top_2") - pl.col("top_1")).clip(lower_bound=0.0).alias("second"),
            pl.col(f"top_{n}").alias("top"),
            (pl.col("total") - pl.col("top_2")).clip(lower_bound=0.0).alias("rest"),
        )


def numbered_cells(frame: pl.DataFrame, by: Sequence[str]) -> tuple[pl.Series, list[str]]:
    """The cell of each record, in the order of the values, and the names of the cells; missing is a value."""
    keys = [str(i) for i in range(len(by))]
    columns = pl.DataFrame([frame[b].alias(k) for b, k in zip(by, keys, strict=True)])
    cells = columns.unique().sort(keys, nulls_last=True).with_row_index(CELL)
    found = columns.join(cells, on=keys, how="left", nulls_equal=True, maintain_order="left")[CELL]
    texts = (cells[k].cast(pl.String).fill_null("missing") for k in keys)
    return found.cast(pl.Int64), [" × ".join(names) for names in zip(*texts, strict=True)]


def numbered_units(holding: pl.Series | None, records: int) -> pl.Series:
    """A number for each unit: records with the same holding share it, those without one stand alone."""
    alone = pl.Series(np.arange(records))
    if holding is None:
        return alone
    shared = holding.cast(pl.String).rank("dense").cast(pl.Int64) + records
    return shared.fill_null(alone)
