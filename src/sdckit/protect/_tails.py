"""Cut the upper or lower tail of numbers: what top and bottom coding share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import floor
from typing import Annotated, Any

import narwhals as nw
import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Floats
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.data.values import text_of
from sdckit.engine import frames
from sdckit.engine.exact_sums import exact_sums
from sdckit.engine.joins import join_to_records
from sdckit.engine.quantiles import order_statistics
from sdckit.engine.tables import OURS, RECORDS, Table, count_cells
from sdckit.methods.options import Option
from sdckit.protect._engine_numbers import native_of, new_name, with_new_numbers
from sdckit.protect._numbers import number_columns

MIN_FOR_MEAN = 3  # a mean of fewer values gives them away
_X, _RANK, _PLACE = f"{OURS}x", f"{OURS}rank", f"{OURS}place"
_THRESHOLD, _NEW = f"{OURS}threshold", f"{OURS}new"


class Replacement(StrEnum):
    """What stands in place of the values that are cut."""

    THRESHOLD = "threshold"
    MEAN = "mean"
    MEDIAN = "median"


TailValue = Annotated[
    float, Option("Threshold", "The number beyond which values are replaced.", basic=True, absent="by share")
]
TailShare = Annotated[
    float,
    Field(gt=0, lt=1),
    Option(
        "Share of values to cut",
        "The threshold leaves at most this share of the present values beyond it.",
        basic=True,
        absent="by value",
    ),
]
TailReplacement = Annotated[
    Replacement | float,
    Option(
        "Replace by",
        "What stands in place of the values beyond the threshold: one of these, or a number.",
        choices={
            "threshold": "the threshold",
            "mean": "the mean of the values beyond it, which keeps totals",
            "median": "the median of the values beyond it",
        },
    ),
]


@dataclass(frozen=True)
class Tail:
    """What the released file has in place of the numbers beyond its thresholds, one for each stratum.

    limits: the values of the columns `by` as text, the threshold and what stands for numbers beyond it.
    """

    limits: tuple[tuple[tuple[str | None, ...], float, float], ...]
    upper: bool
    by: tuple[str, ...] = ()

    def apply(self, data: Microdata, column: str) -> Microdata:
        """The data with this column cut at the released thresholds; other strata keep their numbers."""
        number_columns(data, [column], "top coding" if self.upper else "bottom coding")
        for name in self.by:
            data.require(name)
        kinds = frames.schema(data.frame)
        whole = kinds[column].is_integer() and all(new.is_integer() for _, _, new in self.limits)
        x = value = nw.col(column)
        for stratum, threshold, new in self.limits:
            beyond = x > threshold if self.upper else x < threshold
            for name, text in zip(self.by, stratum, strict=True):
                here = nw.col(name).is_null() if text is None else text_of(name, kinds[name]) == text
                beyond &= here
            value = nw.when(beyond).then(nw.lit(int(new) if whole else new)).otherwise(value)
        table = data.table.with_columns(value.alias(column))
        return data.with_frame(native_of(data, table))


def at_a_value(options: Mapping[str, Any]) -> bool:
    """Whether tails are cut at a given number, and what stands there does not depend on other records."""
    moments = (Replacement.MEAN, Replacement.MEDIAN)
    return options.get("value") is not None and options.get("replacement") not in moments


def cut_tails(
    data: Microdata,
    variables: Sequence[str],
    *,
    method: str,
    value: float | None,
    share: float | None,
    replacement: Replacement | float,
    by: Sequence[str],
    upper: bool,
) -> Microdata:
    """Each variable's values beyond the threshold replaced, stratum by stratum, on any engine."""
    names = number_columns(data, variables, method)
    groups = tuple(f"{OURS}by_{i}" for i in range(len(by)))
    table = data.table
    if by:  # Spark Connect takes no list of no columns
        table = table.with_columns(nw.col(c).alias(g) for c, g in zip(by, groups, strict=True))
    tails = {}
    for j, name in enumerate(names):
        table = table.with_columns(nw.col(name).cast(nw.Float64).alias(new_name(j)))
        ask = _Ask(value, share, replacement, upper, groups)
        limits = _limits(table.select(*groups, nw.col(new_name(j)).alias(_X)), ask)
        table = _cut(table, new_name(j), limits, upper, groups)
        if limits.height:
            tails[name] = Tail(_as_text(data, limits, by, groups), upper, tuple(by))
    given = value if isinstance(replacement, Replacement) else replacement
    kept = replacement not in (Replacement.MEAN, Replacement.MEDIAN)
    alone = value is not None and kept and float(given or 0.0).is_integer()
    effects = Effects(recodes={name: (tail,) for name, tail in tails.items()}, record_by_record=alone)
    thresholds = {} if by else {name: tail.limits[0][1] for name, tail in tails.items()}
    return with_new_numbers(data, names, table, effects=effects, thresholds=thresholds)


@dataclass(frozen=True)
class _Ask:
    """What is to be cut: the options, and the columns of the table that make the strata."""

    value: float | None
    share: float | None
    replacement: Replacement | float
    upper: bool
    by: tuple[str, ...]


def _limits(table: Table, ask: _Ask) -> pl.DataFrame:
    """A row for each stratum with values present: the threshold and what stands for values beyond it."""
    table = table.filter(~nw.col(_X).is_null())
    sizes = count_cells(table, ask.by, None).select(*ask.by, pl.col(RECORDS)).filter(pl.col(RECORDS) > 0)
    if ask.value is None:
        above = (sizes[RECORDS] * (ask.share or 0.0) + 1e-9).floor().cast(pl.Int64)  # 0.29 · 100 is below 29
        sizes = sizes.with_columns((sizes[RECORDS] - 1 - above if ask.upper else above).alias(_PLACE))
        limits = _values_at(table, sizes, ask.by, _THRESHOLD)
    else:
        limits = sizes.with_columns(pl.lit(float(ask.value)).alias(_THRESHOLD))
    if not isinstance(ask.replacement, Replacement):
        return limits.with_columns(pl.lit(float(ask.replacement)).alias(_NEW))
    limits = limits.with_columns(pl.col(_THRESHOLD).alias(_NEW))
    if ask.replacement is Replacement.THRESHOLD or not limits.height:
        return limits
    joined = _with_limits(table, limits, ask.by, [_THRESHOLD])
    x, threshold = nw.col(_X), nw.col(_THRESHOLD)
    beyond = joined.filter(x > threshold if ask.upper else x < threshold).select(*ask.by, _X)
    centres = (_means if ask.replacement is Replacement.MEAN else _medians)(beyond, ask.by)
    own = [centres.get(row, None) for row in limits.select(ask.by).rows()] if ask.by else [centres.get(())]
    found = pl.Series(_NEW, own, dtype=pl.Float64)
    return limits.with_columns(found.fill_null(limits[_THRESHOLD]).alias(_NEW))


def _means(beyond: Table, by: Sequence[str]) -> dict[tuple[Any, ...], float]:
    """The mean of the values of each stratum that has enough of them."""
    sums = exact_sums(beyond, [_X], by)
    return {stratum: found.mean for stratum, (found,) in sums.items() if found.n >= MIN_FOR_MEAN}


def _medians(beyond: Table, by: Sequence[str]) -> dict[tuple[Any, ...], float]:
    """The median of the values of each stratum that has enough of them."""
    sizes = count_cells(beyond, by, None).filter(pl.col(RECORDS) >= MIN_FOR_MEAN)
    places = ((pl.col(RECORDS) - 1) // 2, pl.col(RECORDS) // 2)
    ends = [_values_at(beyond, sizes.with_columns(place.alias(_PLACE)), by, _NEW) for place in places]
    low, high = (dict(zip(end.select(by).rows() if by else [()], end[_NEW], strict=False)) for end in ends)
    return {stratum: (value + high[stratum]) / 2 for stratum, value in low.items()}


def _values_at(table: Table, places: pl.DataFrame, by: Sequence[str], name: str) -> pl.DataFrame:
    """The places of strata with the values there, counted from 0 in ascending order, in a column `name`."""
    if not by:
        at = [int(place) for place in places[_PLACE]]
        found = order_statistics(table, _X, at) if at else []
        return places.with_columns(pl.Series(name, found, dtype=pl.Float64))
    ranked = table.with_columns(nw.col(_X).rank("min").over(*by).cast(nw.Int64).alias(_RANK))
    joined = join_to_records(ranked, places, by, [_PLACE])
    best = joined.filter(nw.col(_RANK) <= nw.col(_PLACE) + 1).group_by(*by).agg(nw.col(_X).max().alias(name))
    rows = frames.gather(best).cast({c: places.schema[c] for c in by})
    return places.join(rows, on=list(by), how="inner", nulls_equal=True)


def _cut(table: Table, column: str, limits: pl.DataFrame, upper: bool, by: Sequence[str]) -> Table:
    """The column with values beyond the thresholds replaced."""
    if not limits.height:
        return table
    table = _with_limits(table, limits, by, [_THRESHOLD, _NEW])
    x, threshold = nw.col(column), nw.col(_THRESHOLD)
    value = nw.when(x > threshold if upper else x < threshold).then(nw.col(_NEW)).otherwise(x)
    return table.with_columns(value.alias(column)).drop(_THRESHOLD, _NEW)


def _with_limits(table: Table, limits: pl.DataFrame, by: Sequence[str], columns: Sequence[str]) -> Table:
    """The records with columns of the limits of their strata."""
    if by:
        return join_to_records(table, limits, by, columns)
    return table.with_columns(nw.lit(limits[c][0]).alias(c) for c in columns)


def _as_text(
    data: Microdata, limits: pl.DataFrame, by: Sequence[str], groups: Sequence[str]
) -> tuple[tuple[tuple[str | None, ...], float, float], ...]:
    """The limits with strata as text, in a fixed order."""
    named = frames.lazy(limits.rename(dict(zip(groups, by, strict=True))))
    kinds = named.collect_schema()
    rows = frames.gather(named.select(*(text_of(c, kinds[c]).alias(c) for c in by), _THRESHOLD, _NEW)).rows()
    found = [(tuple(stratum), threshold, new) for *stratum, threshold, new in rows]
    return tuple(sorted(found, key=lambda row: [(text is None, text or "") for text in row[0]]))


def value_below(x: Floats, share: float) -> float:
    """The lowest of the values that at most this share of them are above."""
    above = floor(share * len(x) + 1e-9)  # 0.29 · 100 is a little below 29 in floating point
    place = len(x) - 1 - above
    return float(np.partition(x, place)[place])
