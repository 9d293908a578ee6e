"""Household risks added up by DuckDB or Spark; one row for each household size comes back."""

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit.data.key_cells import KeyCells
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.engine.joins import join_to_records
from sdckit.engine.tables import OURS

LEAST = -745.0  # ln of the smallest number: the risk is 1, without an infinity to add up
SMALL = -1e-3  # 1 − exp(s) of smaller numbers would lose digits
_RISK, _SAFE, _SIZE, _FOUND = (f"{OURS}{name}" for name in ("risk", "safe", "size", "found"))


def sizes_on_engine(data: Microdata, cells: KeyCells, risks: Floats, threshold: float) -> pl.DataFrame:
    """Sums over persons for each household size, as in memory; without a number a household of one."""
    household = data.roles.household or ""
    with np.errstate(divide="ignore"):
        safe = np.maximum(np.log1p(-risks), LEAST)
    of_cells = cells.combinations.with_columns(pl.Series(_RISK, risks), pl.Series(_SAFE, safe))
    keys = cells.combinations.columns
    records = data.table.select(*dict.fromkeys([*keys, household]))
    records = join_to_records(records, of_cells, keys, [_RISK, _SAFE])
    records = records.select(nw.col(household).alias(f"{OURS}home"), _RISK, _SAFE)
    unnamed = nw.col(f"{OURS}home").is_null()
    alone = records.filter(unnamed).select(
        nw.lit(1).cast(nw.Int64).alias(_SIZE), nw.col(_RISK), nw.col(_SAFE)
    )
    homes = (
        records.filter(~unnamed)
        .group_by(f"{OURS}home")
        .agg(nw.len().cast(nw.Int64).alias(_SIZE), nw.col(_RISK).sum(), nw.col(_SAFE).sum())
        .select(_SIZE, _RISK, _SAFE)
    )
    found = nw.concat([alone, homes]).with_columns(_at_least_one(nw.col(_SAFE)).alias(_FOUND))
    risk = nw.col(_FOUND)
    sums = found.group_by(_SIZE).agg(
        nw.len().cast(nw.Int64).alias("households"),
        nw.col(_RISK).sum().alias("individual_total"),
        risk.sum().alias("household_total"),
        (risk > threshold).cast(nw.Int64).sum().alias("above"),
        risk.max().alias("highest"),
    )
    rows = frames.gather(sums.rename({_SIZE: "household_size"}))
    number = pl.col("household_size")
    return rows.with_columns(
        (pl.col("households") * number).alias("persons"),
        pl.col("household_total") * number,
        pl.col("above").cast(pl.Int64) * number,
    ).sort("household_size")


def _at_least_one(safe: nw.Expr) -> nw.Expr:
    """1 − exp(s), by its series where s is near 0."""
    near = -safe * (1 + safe / 2 * (1 + safe / 3 * (1 + safe / 4 * (1 + safe / 5))))
    return nw.when(safe > SMALL).then(near).otherwise(1 - safe.exp())
