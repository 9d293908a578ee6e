"""What the measures of continuous variables share: both files made comparable, matrices, quantiles."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import narwhals as nw
import numpy as np

from sdckit._support.arrays import Floats
from sdckit.data.common_columns import common_numeric, lost_columns
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import PROTECTED, match_records
from sdckit.engine import frames, tables
from sdckit.engine import quantiles as brackets
from sdckit.utility._variables import require_named

T = TypeVar("T")
Source = tuple[tables.Table, str | None]  # the variables as numbers, and the name of the weight beside them

_WEIGHT = f"{tables.OURS}weight"
_HUGE = 1e100  # squares and fourth powers of larger numbers, or of 1 / _HUGE, leave floating point


@dataclass(frozen=True, slots=True)
class NumericPair:
    """The numeric variables of both files, with what had to be said about them.

    Variables with extreme numbers are divided by `scale`, a power of two and the same in both files, so that
    moments do not overflow; it is 1 for all others. `largest` is the largest absolute number after that.
    """

    variables: tuple[str, ...]
    original: Source
    protected: Source
    scale: dict[str, float]
    largest: dict[str, float]
    notes: tuple[str, ...]
    lost: tuple[str, ...]  # what the original would have allowed to compare
    files: tuple[Microdata, Microdata]

    def of_both(self, what: Hashable, variables: Sequence[str], find: Callable[[Source], T]) -> tuple[T, T]:
        """What `find` says of some variables in each file: kept, and found once where no step changed them.

        what: the name of what is found, with all options that it depends on.
        """
        key = self._key(what, variables)
        found = self.files[0].cached(key, lambda: find(self.original))
        if not self._changed(variables):
            return found, found
        return found, self.files[1].cached(key, lambda: find(self.protected))

    def of_each(
        self, what: Hashable, find: Callable[[Source, Sequence[str]], Sequence[T]]
    ) -> tuple[list[T], list[T]]:
        """The same for each variable by itself: of the protected file only those that may have changed."""
        every, changed = self.variables, self._changed(self.variables)
        before = self.files[0].cached(self._key(what, every), lambda: find(self.original, every))
        first = dict(zip(every, before, strict=True))
        if not changed:
            return list(before), list(before)
        after = self.files[1].cached(self._key(what, changed), lambda: find(self.protected, changed))
        second = first | dict(zip(changed, after, strict=True))
        return list(before), [second[c] for c in every]

    def _key(self, what: Hashable, variables: Sequence[str]) -> Hashable:
        return (what, *variables, *(self.scale[c] for c in variables))

    def _changed(self, variables: Sequence[str]) -> list[str]:
        """The variables whose values, or weights, may differ between the files."""
        first, second = self.files
        weights = [data.roles.weight for data in self.files]
        beside = [w for w in weights if w is not None]
        if weights[0] != weights[1]:
            return list(variables)
        return [c for c in variables if not second.has_values_of(first, [c, *beside])]

    @property
    def sources(self) -> tuple[Source, Source]:
        """The original, then the protected file."""
        return self.original, self.protected

    @property
    def weighted(self) -> bool:
        """Whether either file has weights."""
        return self.original[1] is not None or self.protected[1] is not None


@dataclass(frozen=True, slots=True)
class Matrices:
    """Covariances (in the units of `scale`) and correlations of both files, over complete cases of each."""

    variables: tuple[str, ...]
    covariance: tuple[Floats, Floats]
    correlation: tuple[Floats, Floats]
    notes: tuple[str, ...]
    lost: tuple[str, ...]


def numeric_pair(original: Microdata, protected: Microdata, variables: Sequence[str]) -> NumericPair:
    """The variables that are numbers with at least one value present in both files."""
    require_named(protected, variables)
    chosen, notes = common_numeric(original, protected, list(dict.fromkeys(variables)))
    reach = _reaches(original, protected, chosen)
    empty = [c for c in chosen if any(r[c] is None for r in reach)]
    if empty:
        notes += (f"No value present in one of the files, left out: {', '.join(empty)}.",)
    good = tuple(c for c in chosen if c not in empty)
    lost = lost_columns(original, protected, variables, numeric=True)
    lost += tuple(c for c in empty if reach[0][c] is not None)
    if not good:
        notes += ("No variable has numbers in both files.",)
    size = {c: max(float(r[c] or 0.0) for r in reach) for c in good}
    scale = {c: _power_of_two(s) for c, s in size.items()}
    first, second = (_source(data, good, scale) for data in (original, protected))
    return NumericPair(
        good,
        first,
        second,
        scale,
        {c: s / scale[c] for c, s in size.items()},
        notes,
        lost,
        (original, protected),
    )


def _reaches(
    original: Microdata, protected: Microdata, columns: Sequence[str]
) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """The largest absolute number of each column in both files."""
    before = original.cached(("reach", *columns), lambda: _reach(original, columns))
    changed = [c for c in columns if not protected.has_values_of(original, [c])]
    return before, before | protected.cached(("reach", *changed), lambda: _reach(protected, changed))


def _reach(data: Microdata, columns: Sequence[str]) -> dict[str, float | None]:
    """The largest absolute number of each column; None where all are missing."""
    if not columns:
        return {}
    wanted = [
        nw.col(c).cast(nw.Float64).abs().max().alias(f"{tables.OURS}{i}") for i, c in enumerate(columns)
    ]
    return dict(zip(columns, frames.gather(data.table.select(*wanted)).row(0), strict=True))


def _power_of_two(size: float) -> float:
    if size == 0 or 1 / _HUGE < size < _HUGE:
        return 1.0
    return 2.0 ** math.frexp(size)[1] if size < 2.0**1000 else 2.0**1000


def scaled_moments(data: Microdata, columns: Sequence[str]) -> tuple[tables.Moments, dict[str, float]]:
    """Moments of the columns, each divided by a power of two that keeps squares of extreme numbers finite."""
    scale = {c: _power_of_two(float(size or 0.0)) for c, size in _reach(data, columns).items()}
    table, weight = _source(data, columns, scale)
    return tables.moments(table, columns, weight), scale


def _source(data: Microdata, columns: Sequence[str], scale: dict[str, float]) -> Source:
    numbers = [(nw.col(c).cast(nw.Float64), scale[c], c) for c in columns]
    wanted = [(x if s == 1.0 else x / s).alias(c) for x, s, c in numbers]
    weight = data.roles.weight
    if weight is not None:
        wanted.append(nw.col(weight).cast(nw.Float64).alias(_WEIGHT))
    return (data.table.select(*wanted) if wanted else data.table), None if weight is None else _WEIGHT


def record_sums(
    original: Microdata, protected: Microdata, variables: Sequence[str], means: Mapping[str, float] = {}
) -> dict[str, float]:
    """Weighted sums over records, for the i-th variable under names that end in i, in one pass.

    moved |x−y|, square (x−y)², share |x−y|/|x| where x is not 0; pairs and usable: the weight of the pairs
    behind them. missing, zero: the number of pairs with a missing value, and with x = 0. total: all weight.
    blanked |x−mean| of the x whose y is missing, for variables with one of the `means`.
    """
    weight = original.roles.weight
    w = nw.lit(1.0) if weight is None else nw.col(weight).cast(nw.Float64)
    places = range(len(variables))
    staged = match_records(original, protected, variables).select(
        w.alias("w"),
        *(nw.col(c).cast(nw.Float64).alias(f"x{i}") for i, c in enumerate(variables)),
        *(nw.col(c + PROTECTED).cast(nw.Float64).alias(f"y{i}") for i, c in enumerate(variables)),
    )
    staged = staged.with_columns(
        *((nw.col(f"x{i}") - nw.col(f"y{i}")).abs().alias(f"d{i}") for i in places),
        *(nw.when(nw.col(f"x{i}") != 0).then(nw.col(f"x{i}").abs()).alias(f"a{i}") for i in places),
    ).with_columns(*((nw.col(f"d{i}") / nw.col(f"a{i}")).alias(f"r{i}") for i in places))
    mass, wanted = nw.col("w"), [nw.col("w").sum().alias("total")]
    for i, c in enumerate(variables):
        d, r = nw.col(f"d{i}"), nw.col(f"r{i}")
        if c in means:
            away = (nw.col(f"x{i}") - means[c]).abs() * mass
            wanted.append(nw.when(nw.col(f"y{i}").is_null()).then(away).sum().alias(f"blanked{i}"))
        zero = (nw.col(f"x{i}") == 0) & ~nw.col(f"y{i}").is_null()
        wanted += [
            (d * mass).sum().alias(f"moved{i}"),
            (d * d * mass).sum().alias(f"square{i}"),
            (r * mass).sum().alias(f"share{i}"),
            nw.when(~d.is_null()).then(mass).sum().alias(f"pairs{i}"),
            nw.when(~r.is_null()).then(mass).sum().alias(f"usable{i}"),
            d.is_null().cast(nw.Int64).sum().alias(f"missing{i}"),
            nw.when(zero).then(nw.lit(1)).otherwise(nw.lit(0)).sum().alias(f"zero{i}"),
        ]
    row = frames.gather(staged.select(*wanted)).row(0, named=True)
    return {name: float(v or 0.0) for name, v in row.items()}


def complete(source: Source, variables: Sequence[str]) -> tables.Table:
    """The records in which none of the variables is missing."""
    return source[0].filter(~nw.any_horizontal(*(nw.col(c).is_null() for c in variables), ignore_nulls=False))


def left_out(pair: NumericPair) -> tuple[str, ...]:
    """A note on the records that are not complete; none where all are."""
    if not pair.variables:
        return ()
    return _incomplete(
        [
            [frames.height(table.to_native()) for table in (complete(source, pair.variables), source[0])]
            for source in pair.sources
        ]
    )


def matrices(pair: NumericPair) -> Matrices:
    """Covariance and correlation matrices of the variables that vary in both files."""
    (first, *counts), (second, *more) = pair.of_both(
        "covariance",
        pair.variables,
        lambda source: tables.complete_covariance(source[0], pair.variables, source[1]),
    )
    notes = pair.notes + _incomplete([counts, more])
    nothing = np.empty((0, 0))
    if not pair.variables or math.isnan(first[0, 0]) or math.isnan(second[0, 0]):
        short = ("A file has fewer than two complete records.",) if pair.variables else ()
        return Matrices((), (nothing, nothing), (nothing, nothing), notes + short, pair.lost)
    # Rounding leaves a constant column with a variance of the order of (1e-16 · its size)².
    floor = np.array([(1e-12 * pair.largest[c]) ** 2 for c in pair.variables])
    varied = np.diag(first) > floor
    varies = varied & (np.diag(second) > floor)
    flat = [c for c, v in zip(pair.variables, varies, strict=True) if not v]
    if flat:
        notes += (f"Does not vary in one of the files, left out: {', '.join(flat)}.",)
    lost = pair.lost + tuple(c for c, v in zip(pair.variables, varied, strict=True) if v and c in flat)
    kept = tuple(c for c in pair.variables if c not in flat)
    cut = np.ix_(varies, varies)
    first, second = first[cut], second[cut]
    return Matrices(kept, (first, second), (correlation(first), correlation(second)), notes, lost)


def _incomplete(counts: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """A note on the records that are not complete; none where all are."""
    (kept, whole), (kept2, whole2) = counts
    if kept == whole and kept2 == whole2:
        return ()
    return (
        f"Records with a missing number are not in the matrices: {whole - kept:,} of {whole:,} original and "
        f"{whole2 - kept2:,} of {whole2:,} protected records.",
    )


def correlation(covariance: Floats) -> Floats:
    """The correlation matrix of a covariance matrix with a positive diagonal."""
    spread = np.sqrt(np.diag(covariance))
    r = np.clip(covariance / np.outer(spread, spread), -1.0, 1.0)
    np.fill_diagonal(r, 1.0)
    return np.asarray(r, dtype=np.float64)


def cells(source: Source, variable: str) -> tuple[Floats, Floats, Floats]:
    """The distinct values of a variable in order, with the records and the sum of weights of each.

    Missing values are left out. This is all of the distribution that any measure of one variable needs.
    """
    table, weight = source
    wanted = [nw.col(variable).alias("value")] + ([] if weight is None else [nw.col(weight).alias("w")])
    counted = tables.count_cells(table.select(*wanted), ["value"], None if weight is None else "w")
    counted.columns = ["value", "n", "mass"]
    counted = counted.drop_nulls("value").sort("value")
    value, n, mass = (np.asarray(counted[c].to_numpy(), dtype=np.float64) for c in counted.columns)
    return value, n, mass


def quantiles(
    source: Source, variables: Sequence[str], probabilities: Sequence[float], *, weighted: bool
) -> list[list[float]]:
    """For each variable quantiles of the values present: as in `weighted_quantiles`, else of type 7.

    On DuckDB and Spark by brackets: different values of a column may be as many as records.
    """
    table, weight = source
    if frames.engine_of(table.to_native()) != "polars":
        if weighted:
            return brackets.weighted_quantiles(table, variables, probabilities, weight)
        return [_or_nan(found) for found in brackets.quantiles(table, variables, probabilities)]
    if weighted:
        parts = (cells(source, variable) for variable in variables)
        return [weighted_quantiles(value, mass, probabilities) for value, _, mass in parts]
    return [_or_nan(tables.quantiles(table, variable, probabilities)) for variable in variables]


def _or_nan(found: Sequence[float | None]) -> list[float]:
    return [math.nan if q is None else q for q in found]


def weighted_quantiles(value: Floats, mass: Floats, probabilities: Sequence[float]) -> list[float]:
    """The first of the ordered values whose cumulated share of weight exceeds p; no averaging.

    Shares that equal p up to rounding do not exceed it.
    """
    share = np.cumsum(mass) / mass.sum()
    places = np.searchsorted(share, np.asarray(probabilities) + 1e-12, side="right")
    return [float(q) for q in value[np.minimum(places, len(value) - 1)]]
