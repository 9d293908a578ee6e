"""Exact order statistics and weighted quantiles, without a sort and without holding a column in memory.

A sample of the values tells between which two numbers the wanted one lies; one pass over the file counts what
is below this bracket and brings the different values inside. The answer is exact whatever the sample was: a
bracket that does not hold the wanted value, or holds too many values, is moved or narrowed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, inf, nan
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit.engine import frames
from sdckit.engine.exact_sums import Scale, split
from sdckit.engine.tables import OURS, Table, native_module

SAMPLE = 200_000  # values that tell where the bracket lies
LIMIT = 100_000  # different values that one pass may bring into memory
DEVIATIONS = 5.0  # half the width of a bracket, in standard deviations of a sampled rank
EQUAL = Fraction(1, 10**12)  # shares that equal p up to rounding do not exceed it

_X, _W = f"{OURS}x", f"{OURS}w"
_H, _L = f"{_W}h", f"{_W}l"
_GAP, _PLACE = f"{OURS}gap", f"{OURS}place"


@dataclass(frozen=True, slots=True)
class _Search:
    """The smallest value with more than `target` of the mass at or below it is between low and high.

    before, after: about the mass below low and up to high.
    """

    target: Fraction
    low: float
    high: float
    before: Fraction
    after: Fraction
    found: float | None = None


@dataclass(frozen=True, slots=True)
class _Masses:
    """The values present with their mass as two whole numbers, and how to read these."""

    table: Table
    scale: Scale
    n: int
    total: Fraction
    low: float
    high: float
    sample: pl.DataFrame | None = None  # some of the values with their weights, in order


def order_statistics(table: Table, column: str, places: Sequence[int]) -> list[float]:
    """The values at these places, counted from 0, among the present values in ascending order."""
    if frames.engine_of(table.to_native()) == "polars":
        values = np.sort(_values(table, column))
        return [float(values[place]) for place in places]
    return _first_exceeding(_masses(table, [column], None)[0], [Fraction(place) for place in places])


def quantiles(
    table: Table, columns: Sequence[str], probabilities: Sequence[float]
) -> list[list[float | None]]:
    """Unweighted quantiles of columns, linear between order statistics (Hyndman and Fan's type 7).

    With n values the p-quantile is at position (n−1)·p, counted from 0. None without values.
    """
    return [_of_type_7(masses, probabilities) for masses in _masses(table, columns, None)]


def _of_type_7(masses: _Masses, probabilities: Sequence[float]) -> list[float | None]:
    n = masses.n
    if not n:
        return [None] * len(probabilities)
    positions = [(n - 1) * p for p in probabilities]
    places = sorted({place for at in positions for place in (floor(at), min(floor(at) + 1, n - 1))})
    found = _first_exceeding(masses, [Fraction(place) for place in places])
    value = dict(zip(places, found, strict=True))
    ends = [(at - floor(at), value[floor(at)], value[min(floor(at) + 1, n - 1)]) for at in positions]
    return [low + part * (high - low) for part, low, high in ends]


def weighted_quantiles(
    table: Table, columns: Sequence[str], probabilities: Sequence[float], weight: str | None
) -> list[list[float]]:
    """For each column and p the first of the ordered values whose cumulated share of weight exceeds p.

    No averaging. Shares that equal p up to rounding (10⁻¹²) do not exceed it. nan where no value is present.
    """
    return [
        _first_exceeding(masses, [(Fraction(p) + EQUAL) * masses.total for p in probabilities])
        if masses.n
        else [nan] * len(probabilities)
        for masses in _masses(table, columns, weight)
    ]


def _values(table: Table, column: str) -> Floats:
    """The present values of a column that is in memory anyway."""
    values = nw.col(column).cast(nw.Float64).alias(_X)
    return np.asarray(frames.gather(table.select(values).drop_nulls())[_X].to_numpy())


def _masses(table: Table, columns: Sequence[str], weight: str | None) -> list[_Masses]:
    """What is known of each column after three passes over all of them: sizes, totals, a sample."""
    mass = nw.lit(1.0) if weight is None else nw.col(weight)
    names = [f"{_X}{j}" for j in range(len(columns))]
    numbers = (nw.col(c).cast(nw.Float64).alias(x) for c, x in zip(columns, names, strict=True))
    table = table.select(*numbers, mass.cast(nw.Float64).alias(_W))
    table = table.filter(~nw.col(_W).is_null())
    wanted = [nw.len().cast(nw.Int64).alias("n"), nw.col(_W).abs().max().alias("largest")]
    for x in names:
        wanted += [
            nw.col(x).count().cast(nw.Int64).alias(f"{x}n"),
            nw.col(x).min().alias(f"{x}a"),
            nw.col(x).max().alias(f"{x}z"),
        ]
    counts = frames.gather(table.select(*wanted)).row(0, named=True)
    scale = Scale.of(int(counts["n"]), counts["largest"] or 0.0)
    table = split(table, {_W: scale})
    wanted = []
    for x in names:
        here = nw.when(~nw.col(x).is_null())
        wanted += [here.then(nw.col(part)).sum().cast(nw.Int64).alias(x + part) for part in (_H, _L)]
    sums = frames.gather(table.select(*wanted)).row(0, named=True)
    samples = _samples(table, names, int(counts["n"]))
    return [
        _Masses(
            table.select(nw.col(x).alias(_X), _W, _H, _L).filter(~nw.col(_X).is_null()),
            scale,
            int(counts[f"{x}n"]),
            scale.total(sums[x + _H], sums[x + _L]),
            counts[f"{x}a"] or 0.0,
            counts[f"{x}z"] or 0.0,
            samples.get(x),
        )
        for x in names
    ]


def _samples(table: Table, names: Sequence[str], n: int) -> dict[str, pl.DataFrame]:
    """Some of the values of each column with their weights, from one pass; none in memory."""
    native = table.select(*names, _W).to_native()
    if frames.engine_of(native) == "polars" or not n:
        return {}
    some = native if n <= SAMPLE else native_module(table).sample_rows(native, SAMPLE / n)
    rows = frames.gather(frames.lazy(some))
    return {x: rows.select(pl.col(x).alias(_X), _W).drop_nulls(_X).sort(_X) for x in names}


def _first_exceeding(masses: _Masses, targets: Sequence[Fraction]) -> list[float]:
    """For each target the smallest value with more than this mass at or below it; else the largest value."""
    ends = (masses.low, masses.high, Fraction(0), masses.total)
    searches = [_Search(t, *ends, masses.high if t >= masses.total else None) for t in targets]
    whole = frames.engine_of(masses.table.to_native()) == "polars"
    while pending := [i for i, search in enumerate(searches) if search.found is None]:
        ends_now = {(searches[i].low, searches[i].high) for i in pending}
        samples = {} if whole else {ends: _sample(masses, *ends) for ends in ends_now}  # shared: one scan
        brackets = {
            i: (searches[i].low, searches[i].high)
            if whole
            else _bracket(searches[i], samples[searches[i].low, searches[i].high])
            for i in pending
        }
        cells = _cells(masses, list(brackets.values()), limit=None if whole else LIMIT * len(pending))
        below = _below(masses, brackets) if cells is None else _summed(masses, brackets, cells)
        for i, (a, b) in brackets.items():
            searches[i] = _closer(masses, searches[i], (a, b), below[i], cells)
    return [nan if search.found is None else search.found for search in searches]


def _sample(masses: _Masses, low: float, high: float) -> pl.DataFrame:
    """Some of the values between two ends, in order."""
    if masses.sample is not None and (low, high) == (masses.low, masses.high):
        return masses.sample
    here = masses.table.filter((nw.col(_X) >= low) & (nw.col(_X) <= high)).select(_X, _W)
    native = here.to_native()
    share = SAMPLE / max(frames.height(native), 1)
    native = native if share >= 1 else native_module(masses.table).sample_rows(native, share)
    return frames.gather(frames.lazy(native)).sort(_X)


def _bracket(search: _Search, sample: pl.DataFrame) -> tuple[float, float]:
    """Two values, sampled between the ends of a search, with the wanted value in all likelihood between."""
    if not sample.height or search.after <= search.before:
        return search.low, search.high
    x, w = sample[_X].to_numpy(), sample[_W].to_numpy()
    share = min(max(float((search.target - search.before) / (search.after - search.before)), 0.0), 1.0)
    shares = np.cumsum(w) / w.sum()
    effective = float(w.sum() ** 2 / (w * w).sum())  # records of equal weight that would tell as much
    margin = DEVIATIONS * np.sqrt(share * (1 - share) / effective) + 2 / effective
    first, last = np.searchsorted(shares, [share - margin, share + margin])
    a = search.low if share - margin <= 0 else float(x[min(first, len(x) - 1)])
    b = search.high if last >= len(x) else float(x[last])
    return a, b


def _below(masses: _Masses, brackets: dict[int, tuple[float, float]]) -> dict[int, tuple[Fraction, Fraction]]:
    """The mass below each bracket, and up to its end."""
    x = nw.col(_X)
    wanted = []
    for i, (a, b) in brackets.items():
        for part in (_H, _L):
            wanted.append(nw.when(x < a).then(nw.col(part)).sum().cast(nw.Int64).alias(f"{part}a{i}"))
            wanted.append(nw.when(x <= b).then(nw.col(part)).sum().cast(nw.Int64).alias(f"{part}b{i}"))
    row = frames.gather(masses.table.select(*wanted)).row(0, named=True)

    def mass(end: str) -> Fraction:
        return masses.scale.total(row[f"{_H}{end}"], row[f"{_L}{end}"])

    return {i: (mass(f"a{i}"), mass(f"b{i}")) for i in brackets}


def _cells(
    masses: _Masses, brackets: Sequence[tuple[float, float]], limit: int | None
) -> pl.DataFrame | None:
    """The mass of the different values in some brackets, and of all values of each gap between, in order.

    One pass. The values of a gap stand under its place (_GAP): 0 below all brackets, 1 above the first,
    and so on; those in brackets have none. None where there are too many different values.
    """
    x, inside = nw.col(_X), -1
    merged = _merged(brackets)
    ends = [b for _, b in merged]
    gap = nw.lit(len(merged))
    for number, (a, b) in reversed(list(enumerate(merged))):
        gap = nw.when(x <= b).then(nw.lit(inside)).otherwise(gap)
        gap = nw.when(x < a).then(nw.lit(number)).otherwise(gap)
    staged = masses.table.with_columns(gap.cast(nw.Int64).alias(_GAP))
    staged = staged.with_columns(
        nw.when(nw.col(_GAP) == inside).then(x).alias(_X),
        nw.when(nw.col(_GAP) != inside).then(nw.col(_GAP)).alias(_GAP),
    )
    cells = staged.group_by(_X, _GAP).agg(_total(_H), _total(_L))
    rows = frames.gather(cells if limit is None else cells.head(limit + len(ends) + 2))
    if limit is not None and rows.height > limit + len(ends) + 1:
        return None
    place = pl.when(pl.col(_GAP) > 0).then(pl.lit(pl.Series(ends)).gather(pl.col(_GAP) - 1)).otherwise(-inf)
    return rows.with_columns(pl.coalesce(_X, place).alias(_PLACE)).sort(_PLACE, _GAP, nulls_last=False)


def _merged(brackets: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The brackets in order, those that meet made one."""
    found: list[tuple[float, float]] = []
    for a, b in sorted(brackets):
        if found and a <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], b)
        else:
            found.append((a, b))
    return found


def _summed(
    masses: _Masses, brackets: dict[int, tuple[float, float]], cells: pl.DataFrame
) -> dict[int, tuple[Fraction, Fraction]]:
    """The mass below each bracket, and up to its end, from the cells of all."""
    gap, place = cells[_GAP].is_not_null().to_numpy(), cells[_PLACE].to_numpy()
    found = {}
    for i, (a, b) in brackets.items():
        up_to = np.where(gap, place < b, place <= b)  # a gap that begins at an end lies above it
        found[i] = _mass(masses, cells, place < a), _mass(masses, cells, up_to)
    return found


def _mass(masses: _Masses, cells: pl.DataFrame, rows: Any) -> Fraction:
    some = cells.filter(pl.Series(rows))
    return masses.scale.total(int(some[_H].sum()), int(some[_L].sum()))


def _closer(
    masses: _Masses,
    search: _Search,
    bracket: tuple[float, float],
    below: tuple[Fraction, Fraction],
    inside: pl.DataFrame | None,
) -> _Search:
    """The search ended, or with ends that are nearer to each other."""
    (a, b), (before, up_to) = bracket, below
    if search.target < before:
        return replace(search, high=a, after=before)
    if search.target >= up_to:
        return replace(search, low=b, before=up_to)
    if inside is None:
        return replace(search, low=a, high=b, before=before, after=up_to)
    mass = before
    rows = inside.filter(pl.col(_GAP).is_null() & pl.col(_X).is_between(a, b))
    high, low = rows[_H].cum_sum().to_numpy(), rows[_L].cum_sum().to_numpy()
    first, last = 0, rows.height  # exact numbers, so that not all of them are made
    while first < last:
        middle = (first + last) // 2
        if mass + masses.scale.total(int(high[middle]), int(low[middle])) > search.target:
            last = middle
        else:
            first = middle + 1
    return replace(search, found=float(rows[_X][first]) if first < rows.height else b)


def _total(part: str) -> nw.Expr:
    return nw.col(part).sum().cast(nw.Int64)
