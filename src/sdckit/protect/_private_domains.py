"""The values a variable can have, known without looking at the data: from labels or from the user."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.errors import ColumnError, OptionError

CLASSES = 20  # of a number between two bounds
FINE = 100  # numbers in a class are rounded to about so many different values


@dataclass(frozen=True, slots=True)
class Domain:
    """Classes of numbers (from `starts` up to below `ends`), then categories, then missing.

    Numbers beyond the bounds count as the bounds; anything else that is not among the values counts as
    missing, so that no value of the data decides whether the work goes on.
    """

    column: str
    dtype: pl.DataType
    categories: pl.Series
    starts: Floats
    ends: Floats
    whole: bool

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.starts) + len(self.categories) + 1

    def encode(self, values: pl.Series) -> Ints:
        """The code of each value."""
        codes = np.full(len(values), self.size - 1, dtype=np.int64)
        if len(self.starts):
            x = values.to_physical().cast(pl.Float64).fill_null(math.nan).to_numpy()
            there = ~np.isnan(x)
            place = np.searchsorted(self.starts, x[there], side="right") - 1
            codes[there] = np.clip(place, 0, len(self.starts) - 1)
        if len(self.categories):
            numbers = pl.Series(range(len(self.categories)), dtype=pl.Int64)
            found = values.replace_strict(self.categories, numbers, default=None, return_dtype=pl.Int64)
            named = found.is_not_null().to_numpy()
            codes[named] = len(self.starts) + found.drop_nulls().to_numpy()
        return codes

    def decode(self, codes: Ints, rng: np.random.Generator) -> pl.Series:
        """A value for each code; numbers are drawn evenly from their class."""
        column = pl.Series(self.column, [None] * len(codes), dtype=self.dtype)
        classes = len(self.starts)
        if len(self.categories):
            named = (codes >= classes) & (codes < self.size - 1)
            places = pl.Series(np.where(named, codes - classes, 0)).set(pl.Series(~named), None)
            column = self.categories.gather(places).alias(self.column)
        if classes:
            numbers = codes < classes
            drawn = self._numbers(codes[numbers], rng)
            column = column.scatter(np.flatnonzero(numbers), drawn.cast(self.dtype))
        return column

    def _numbers(self, codes: Ints, rng: np.random.Generator) -> pl.Series:
        low, high = self.starts[codes], self.ends[codes]
        drawn = low + rng.random(len(codes)) * (high - low)
        if self.whole:
            return pl.Series(np.floor(drawn).astype(np.int64))
        decimals = math.floor(2 - math.log10(float((self.ends - self.starts).min())))
        return pl.Series(np.clip(np.round(drawn, decimals), low, high))


def domains(
    data: Microdata,
    columns: Sequence[str],
    values: Mapping[str, Sequence[Any]],
    bounds: Mapping[str, Sequence[Any]],
) -> list[Domain]:
    """The domains of the columns; refused where one is known neither from labels nor from the user."""
    for option, given in (("values", values), ("bounds", bounds)):
        strangers = [c for c in given if c not in columns]
        if strangers:
            raise OptionError(
                f"{option} names a column that is not synthesised.",
                given=join_names(strangers),
                allowed=join_names(columns),
            )
    labels = data.labels.values
    numbers = set(data.roles.numeric)
    kinds = data.frame.schema
    unknown = [
        c
        for c in columns
        if c not in values
        and c not in bounds
        and kinds[c] != pl.Boolean
        and (c in numbers or not labels.get(c))
    ]
    if unknown:
        raise OptionError(
            "Differential privacy needs to know the possible values without looking at the data.",
            given=f"neither value labels nor values or bounds for {join_names(unknown, 8)}",
            allowed='values={"region": ["north", "south"]}, bounds={"income": [0, 10000]}',
            hint="What is said here must not come from the file. Or name fewer variables.",
        )
    return [_domain(data, c, values.get(c), bounds.get(c)) for c in columns]


def _domain(data: Microdata, column: str, named: Sequence[Any] | None, ends: Sequence[Any] | None) -> Domain:
    data.require_categories([column])
    dtype = data.frame.schema[column]
    starts, stops, whole = np.zeros(0), np.zeros(0), dtype.is_integer() or dtype.is_temporal()
    if ends is not None:
        starts, stops = _classes(column, dtype, ends, whole=whole)
    if named is None:
        labelled = list(data.labels.values.get(column, {}))
        named = [False, True] if dtype == pl.Boolean else labelled
    known = _cast(column, dtype, named, "values").unique(maintain_order=True).drop_nulls()
    if ends is not None and len(known):  # of labels, codes such as −9 for no answer are beyond the bounds
        x = known.to_physical().cast(pl.Float64).to_numpy()
        top = stops[-1] if not whole else stops[-1] - 1
        known = known.filter(pl.Series((x < starts[0]) | (x > top)))
    return Domain(column, dtype, known, starts, stops, whole)


def _classes(column: str, dtype: pl.DataType, ends: Sequence[Any], *, whole: bool) -> tuple[Floats, Floats]:
    """Where the classes start, and where they end; of whole numbers the end is not in the class."""
    if not (dtype.is_numeric() or dtype in (pl.Date, pl.Datetime)):
        raise ColumnError(
            f"bounds are for numbers and dates; {column!r} holds neither.",
            given=str(dtype),
            hint="Name them in the option values.",
        )
    limits = _cast(column, dtype, ends, "bounds").to_physical().cast(pl.Float64).to_numpy().copy()
    if len(limits) < 2 or not (np.diff(limits) > 0).all() or not np.isfinite(limits).all():
        raise OptionError(
            f"bounds of {column!r} must be two or more rising numbers.",
            given=join_names(map(str, ends)),
            allowed="[lowest, highest], or the limits of all classes",
        )
    if whole:
        limits[-1] += 1
    if len(limits) == 2:
        low, high = float(limits[0]), float(limits[1])
        number = min(CLASSES, round(high - low)) if whole else CLASSES
        limits = np.linspace(low, high, number + 1)
    if whole:
        limits = np.unique(np.round(limits))
    return limits[:-1], limits[1:]


def _cast(column: str, dtype: pl.DataType, values: Sequence[Any], option: str) -> pl.Series:
    """Values as the column has them."""
    try:
        if dtype.is_temporal():  # a plan has dates as text
            values = [datetime.fromisoformat(v) if isinstance(v, str) else v for v in values]
        return pl.Series(column, list(values), strict=False).cast(dtype)
    except (pl.exceptions.PolarsError, TypeError, ValueError):
        raise OptionError(
            f"{option} of {column!r} do not fit what the column holds.",
            given=join_names(map(str, values)),
            allowed=str(dtype),
        ) from None
