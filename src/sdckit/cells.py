"""Key cells: the distinct key combinations of a file, counted under one missing-value rule.

Every categorical risk is a formula on this small table; records get theirs by a join at the end.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from sdckit.engine import tables
from sdckit.microdata import Microdata
from sdckit.missing import Missing

Floats = npt.NDArray[np.float64]


def key_cells(
    data: Microdata, keys: Sequence[str], missing: Missing = Missing.WILDCARD, alpha: float = 1.0
) -> pl.DataFrame:
    """One row a key combination: keys, `records`, `weight_sum`, `sample_count` and `population_count`.

    sample_count is f, the number of records an intruder cannot tell apart; population_count is F, the sum
    of their weights. NULL keys follow `missing`; with the wildcard rule an incomplete record adds only
    `alpha` to the counts of other key combinations.
    """
    weight = data.roles.weight
    by = [*keys, weight] if missing is Missing.NOTHING and weight and weight not in keys else list(keys)
    cells = tables.count_cells(data.table, by, weight)
    incomplete = cells.select(pl.any_horizontal(pl.col(k).is_null() for k in keys)).to_series().to_numpy()
    records = cells["records"].cast(pl.Float64).to_numpy()
    weights = cells["weight_sum"].to_numpy()
    if missing is not Missing.NOTHING and (missing is Missing.CATEGORY or not incomplete.any()):
        sample, population = records, weights
    elif missing is Missing.NOTHING:
        sample, population = _exact(cells, keys)
        sample = np.where(incomplete, 1.0, sample)
        population = np.where(incomplete, weights / records, population)
    else:
        from sdckit.kernels.wildcard import wildcard_counts

        sample, population = wildcard_counts(key_codes(cells, keys), records, weights, alpha)
    return cells.with_columns(
        pl.Series("sample_count", sample, dtype=pl.Float64),
        pl.Series("population_count", population, dtype=pl.Float64),
    )


def _exact(cells: pl.DataFrame, keys: Sequence[str]) -> tuple[Floats, Floats]:
    sums = cells.select(
        pl.col("records").sum().over(keys).cast(pl.Float64), pl.col("weight_sum").sum().over(keys)
    )
    return sums["records"].to_numpy(), sums["weight_sum"].to_numpy()


def key_codes(frame: pl.DataFrame, keys: Sequence[str]) -> npt.NDArray[np.int32]:
    """Keys as int32 codes 0, 1, …; missing is −1."""
    codes = frame.select((pl.col(k).rank("dense").cast(pl.Int64) - 1).fill_null(-1) for k in keys)
    return np.ascontiguousarray(codes.to_numpy(), dtype=np.int32)


def per_record(data: Microdata, cells: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Cell columns for every record, under its id; outside Polars the cells, as the records stay there."""
    if data.engine != "polars":
        return cells
    by = [c for c in cells.columns if c in data.columns]
    joined = tables.join_cells(data.frame.select(by), cells, by, columns)
    return joined.select(data.ids(), *columns)
