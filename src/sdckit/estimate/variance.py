"""Estimates of indicators in a file, overall and by domain, with variances and confidence intervals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.data.values import texts
from sdckit.estimate.design import Design
from sdckit.estimate.indicator import DomainSample, Indicator, PovertyLineIndicator, Source
from sdckit.estimate.replicates import Replicates

WHOLE = -1  # the domain that is the whole file
ROUNDING = 1e-13  # a standard error that is a smaller share of the number is none
FARTHEST = 5.0  # an interval on the log scale reaches e⁵, about 150 times the number, at most


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its variance and interval; nan where it is not defined.

    centre: where an interval on the log scale stands, None for one that is symmetric about the value.
    """

    value: float
    variance: float
    low: float
    high: float
    degrees: float
    centre: float | None = None


LOST = Estimate(nan, nan, nan, nan, inf)  # a file does not allow it


@dataclass(frozen=True, slots=True)
class SortedSample:
    """One source of a file: values in order, with the places of these records in the file.

    rows: places of all records with a value, in order of the values. by_domain: the same for each domain.
    """

    x: Floats
    other: Floats | None
    rows: Ints
    by_domain: dict[int, Ints]

    def rows_of(self, domain: int) -> Ints:
        """Places of the records of a domain, in order of the values."""
        return self.rows if domain == WHOLE else self.by_domain[domain]

    def sample(self, weights: Floats, domain: int, line: Floats | None = None) -> DomainSample:
        """The records of a domain under weights [r, n] of the whole file."""
        rows = self.rows_of(domain)
        other = None if self.other is None else self.other[rows]
        return DomainSample(self.x[rows], np.take(weights, rows, axis=1), other, line)


def sorted_sample(
    frame: pl.DataFrame, source: Source, domains: Ints, number: int, spellings: Sequence[str]
) -> SortedSample:
    """The columns of a source as numbers, records with a missing value left out.

    `spellings`: all texts that mean the category of the source.
    """
    x, other = _values(frame, source, spellings)
    present = np.isfinite(x) if other is None else np.isfinite(x) & np.isfinite(other)
    order = np.argsort(x, kind="stable")
    rows = order[present[order]]
    own = domains[rows]
    return SortedSample(x, other, rows, {d: rows[own == d] for d in range(number)})


def _values(frame: pl.DataFrame, source: Source, spellings: Sequence[str]) -> tuple[Floats, Floats | None]:
    def numbers(column: str) -> Floats:
        return np.asarray(frame[column].cast(pl.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)

    def member(column: str) -> Floats:
        inside = texts(frame[column]).is_in(list(spellings))
        return np.asarray(inside.cast(pl.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)

    if source.other is None:
        return numbers(source.variable) if source.category is None else member(source.variable), None
    second = numbers(source.other) if source.category is None else member(source.other)
    return numbers(source.variable), second


@dataclass(frozen=True, slots=True)
class Task:
    """One row of results: an indicator of a source in a domain."""

    indicator: Indicator
    source: Source
    domain: int


def points(tasks: Sequence[Task], sources: dict[Source, SortedSample], weights: Floats) -> Floats:
    """[r, tasks] Every task under weights [r, n]."""
    samples: dict[Any, DomainSample] = {}
    lines: dict[Any, Floats] = {}

    def sample(source: Source, domain: int) -> DomainSample:
        if (source, domain) not in samples:
            samples[source, domain] = sources[source].sample(weights, domain)
        return samples[source, domain]

    found = np.full((len(weights), len(tasks)), np.nan)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for i, task in enumerate(tasks):
            part = sample(task.source, task.domain)
            if not len(part.x):
                continue
            if isinstance(task.indicator, PovertyLineIndicator):
                key = (task.source, task.indicator)
                if key not in lines:
                    lines[key] = task.indicator.line(sample(task.source, WHOLE))
                part = with_line(part, lines[key])
            found[:, i] = task.indicator.point(part)
    return found


def with_line(part: DomainSample, line: Floats) -> DomainSample:
    """The sample with a poverty line; what was cumulated stays known."""
    lined = replace(part, line=line)
    lined.__dict__.update({k: v for k, v in part.__dict__.items() if k in ("mass", "total", "amount")})
    return lined


def linearised(task: Task, sources: dict[Source, SortedSample], weights: Floats) -> Floats | None:
    """[n] w·z, whose design variance is that of the indicator; None where there is no formula.

    A record outside the domain, or without a value, has 0: it still counts in the design.
    """
    source, indicator = sources[task.source], task.indicator
    part = source.sample(weights[None, :], task.domain)
    whole = source.sample(weights[None, :], WHOLE)
    scores = np.zeros(len(weights))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if isinstance(indicator, PovertyLineIndicator):
            part = with_line(part, indicator.line(whole))
            scores[source.rows] = indicator.influence_by_line(part, whole)
        influence = indicator.influence(part)
    if influence is None:
        return None
    rows = source.rows_of(task.domain)
    scores[rows] += influence
    return scores * weights


@np.errstate(divide="ignore", invalid="ignore", over="ignore")  # huge numbers have no finite variance
def estimates(
    tasks: Sequence[Task],
    sources: dict[Source, SortedSample],
    design: Design,
    repeated: Replicates | None,
    *,
    level: float = 0.95,
    percentile: bool = False,
) -> list[Estimate]:
    """Every task with its variance: by linearisation, or from replicate weights where they are given."""
    values = points(tasks, sources, design.weights[None, :])[0]
    centres = [_centre(t, sources, design) for t in tasks]
    if repeated is None:
        degrees = float(design.degrees_of_freedom)
        variances = [_taylor(t, sources, design) for t in tasks]
        each = zip(values, variances, centres, strict=True)
        return [interval(v, s, degrees, level, centre=c) for v, s, c in each]
    none = np.empty((0, len(tasks)))  # the jackknife has no replicate where every stratum has one unit
    drawn = np.concatenate([none, *(points(tasks, sources, chunk) for chunk in repeated)])
    found = []
    for i, (value, centre) in enumerate(zip(values, centres, strict=True)):
        column = drawn[:, i]
        known = np.isfinite(column)
        variance = float(repeated.covariance(column[:, None], values[i : i + 1])[0, 0])
        inside = members(sources[tasks[i].source].rows_of(tasks[i].domain), len(design.weights))
        if repeated.given is None and not has_variance(tasks[i], inside, design):
            variance, known = nan, np.zeros_like(known)
        one = interval(value, variance, repeated.degrees, level, centre=centre)
        if percentile and known.any():
            low, high = np.quantile(column[known], [(1 - level) / 2, (1 + level) / 2])
            one = Estimate(one.value, one.variance, float(low), float(high), repeated.degrees)
        found.append(one)
    return found


def _centre(task: Task, sources: dict[Source, SortedSample], design: Design) -> float | None:
    part = sources[task.source].sample(design.weights[None, :], task.domain)
    found = task.indicator.centre(part) if len(part.x) else None
    return None if found is None else float(found[0])


def _taylor(task: Task, sources: dict[Source, SortedSample], design: Design) -> float:
    rows = sources[task.source].rows_of(task.domain)
    inside = members(rows, len(design.weights))
    if not len(rows) or not has_variance(task, inside, design):
        return np.nan
    if is_constant(task.indicator, sources[task.source].sample(design.weights[None, :], task.domain)):
        return 0.0
    scores = linearised(task, sources, design.weights)
    return np.nan if scores is None else design.variance(scores, inside)


def has_variance(task: Task, inside: Bools, design: Design) -> bool:
    """Whether the design can say how an estimate varies: not where all its records are of one PSU."""
    return task.indicator.grows_with_weight or not design.within_one_unit(inside)


def is_constant(indicator: Indicator, sample: DomainSample) -> bool:
    """Whether the weights do not matter, as all values are equal: rounding must not become a variance."""
    fixed = not indicator.grows_with_weight and not isinstance(indicator, PovertyLineIndicator)
    return fixed and sample.other is None and sample.constant


def members(rows: Ints, n: int) -> Bools:
    """[n] Which records of a file are among the rows."""
    inside = np.zeros(n, dtype=np.bool_)
    inside[rows] = True
    return inside


def interval(
    value: float, variance: float, degrees: float, level: float, *, centre: float | None = None
) -> Estimate:
    """value ± t·√variance, or about a centre on the log scale: centre·exp(± t·√variance/value).

    Degrees of freedom may be infinite. A ratio that is not positive, or too uncertain for the log scale, has
    the symmetric interval.
    """
    if not np.isfinite(value):
        return Estimate(float(value), nan, nan, nan, degrees)
    if np.sqrt(variance) <= ROUNDING * abs(value):
        variance = 0.0
    half = student(degrees, level) * np.sqrt(variance)
    if centre is not None and 0 < centre < inf and 0 < value < inf and half < FARTHEST * value:
        times = np.exp(half / value)
        low, high = min(centre / times, value), max(centre * times, value)  # of few records they are apart
        return Estimate(float(value), float(variance), float(low), float(high), degrees, centre)
    return Estimate(float(value), float(variance), float(value - half), float(value + half), degrees)


def student(degrees: float, level: float) -> float:
    """Two-sided quantile of Student's t."""
    from scipy.special import ndtri, stdtrit

    p = (1 + level) / 2
    return float(ndtri(p) if np.isinf(degrees) else stdtrit(degrees, p))
