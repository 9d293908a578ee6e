"""The distribution of a variable in two files: values in order, with the share of each file at them."""

from dataclasses import dataclass

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats
from sdckit.engine import frames, tables
from sdckit.estimate import value_cells
from sdckit.estimate.value_cells import BIN, X, bin_of
from sdckit.utility._continuous import NumericPair, Source, cells

_PARTS = ("w", "low", "high", "m", "wx", "away")
_WEIGHT, _LOW, _HIGH, _MASS, _AMOUNT, _AWAY = (f"{tables.OURS}{part}" for part in _PARTS)
_ROUNDING = 1e-12  # of sums of shares


@dataclass(frozen=True, slots=True)
class Distributions:
    """Points in order, shares f and g of the weight at each, and the standard deviation of the original.

    `unseen`: by how much the distribution functions may be farther apart between the points than at them.
    """

    points: Floats
    f: Floats
    g: Floats
    spread: float
    unseen: float


def both_distributions(pair: NumericPair, variable: str) -> Distributions:
    """Of a variable in both files.

    The points are the different values. Files on DuckDB and Spark with more than two million records may
    have as many values, and all would come into memory: their points are narrow bins of values.
    """
    on_engine = frames.engine_of(pair.original[0].to_native()) != "polars"
    if on_engine and max(frames.height(table.to_native()) for table, _ in pair.sources) > value_cells.EXACT:
        return _of_bins(pair, variable)
    x, n, mass = cells(pair.original, variable)
    y, _, mass_y = cells(pair.protected, variable)
    points, places = np.unique(np.concatenate([x, y]), return_inverse=True)
    size = len(points)
    f = np.bincount(places[: len(x)], mass, size) / mass.sum()
    g = np.bincount(places[len(x) :], mass_y, size) / mass_y.sum()
    return Distributions(points, f, g, _spread(x, n, mass), 0.0)


def _of_bins(pair: NumericPair, variable: str) -> Distributions:
    table, weight = pair.original
    moments = tables.moments(table, [variable], weight)
    variance, centre = moments.variance[variable] or 0.0, float(f"{moments.mean[variable] or 0.0:.10g}")
    first, second = pair.of_both(
        ("bins", centre), [variable], lambda source: _binned(source, variable, centre)
    )
    both = first.join(second, on=BIN, how="full", coalesce=True, suffix="_2").sort(BIN)
    f, g = (both[c].fill_null(0.0).to_numpy() for c in (_MASS, f"{_MASS}_2"))
    amounts = sum(both[c].fill_null(0.0).to_numpy() for c in (_AMOUNT, f"{_AMOUNT}_2"))
    low = both.select(pl.min_horizontal(_LOW, f"{_LOW}_2")).to_series().to_numpy()
    high = both.select(pl.max_horizontal(_HIGH, f"{_HIGH}_2")).to_series().to_numpy()
    with np.errstate(invalid="ignore"):
        points = np.clip(np.where(f + g > 0, amounts / (f + g), low), low, high)
    f, g = f / f.sum(), g / g.sum()
    return Distributions(points, f, g, variance**0.5, _unseen(f, g, low < high))


def _binned(source: Source, variable: str, centre: float) -> pl.DataFrame:
    """For each bin the least and the largest value, the sum of weights and that of weighted values.

    Bins are narrow beside the distance from the mean, not from 0: years are far from 0, and all alike.
    """
    table, weight = source
    w = nw.lit(1.0) if weight is None else nw.col(weight)
    table = table.select(nw.col(variable).alias(X), w.alias(_WEIGHT)).filter(~nw.col(X).is_null())
    table = table.with_columns((nw.col(X) - centre).alias(_AWAY))
    table = table.with_columns(bin_of(_AWAY).alias(BIN), (nw.col(X) * nw.col(_WEIGHT)).alias(_AMOUNT))
    found = table.group_by(BIN).agg(
        nw.col(X).min().alias(_LOW),
        nw.col(X).max().alias(_HIGH),
        nw.col(_WEIGHT).sum().alias(_MASS),
        nw.col(_AMOUNT).sum(),
    )
    return frames.gather(found).cast({BIN: pl.Int64, _MASS: pl.Float64, _AMOUNT: pl.Float64})


def _unseen(f: Floats, g: Floats, wide: Bools) -> float:
    """How far the difference may go inside bins of several values beyond the largest at their ends."""
    gap = np.abs(np.cumsum(f) - np.cumsum(g))
    before = np.concatenate([[0.0], gap[:-1]])
    inside = np.where(wide, np.maximum(before, gap) + np.maximum(f, g), 0.0)
    unseen = float(inside.max(initial=0.0) - gap.max(initial=0.0))
    return unseen if unseen > _ROUNDING else 0.0


def _spread(x: Floats, n: Floats, mass: Floats) -> float:
    records = float(n.sum())
    if records < 2:
        return 0.0
    mean = float(np.average(x, weights=mass))
    return float(np.sqrt(records / (records - 1) * np.average((x - mean) ** 2, weights=mass)))
