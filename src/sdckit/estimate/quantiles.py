"""Quantiles, with the density that their linearisation needs."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.estimate.indicator import TIE, DomainSample, Indicator

_NORMAL = NormalDist()


@dataclass(frozen=True)
class Quantile(Indicator):
    """The first of the ordered values whose cumulated share of weight exceeds p.

    `average`: where a cumulated share equals p exactly, the mean of the two values beside it. Departures:
    none from laeken by default; its manual describes the averaging, its code does not average.
    """

    p: float = 0.5
    average: bool = False
    rests_on_quantile: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """How a row of results calls it."""
        return "median" if self.p == 0.5 else f"quantile {self.p:g}"

    def point(self, sample: DomainSample) -> Floats:
        """[r] The weighted quantiles; nan where nobody has weight."""
        found = sample.x[sample.place(self.p)]
        if self.average:  # the first value whose share reaches p, which is an earlier one only at a tie
            found = (found + sample.x[sample.place(self.p - 2 * TIE)]) / 2
        return np.where(sample.total > 0, found, np.nan)

    def influence(self, sample: DomainSample) -> Floats:
        """−(1[x≤q] − F(q)) / (Σw·f(q))."""
        return quantile_influence(sample, self.p)

    def on_heap(self, sample: DomainSample, whole: DomainSample) -> bool:
        """Whether many records share the value, or one beside it."""
        return heaped(sample, self.p)


def quantile_influence(sample: DomainSample, p: float) -> Floats:
    """Influence on the p-quantile: −(1[x≤q] − F(q)) / (Σw·f(q)); nan where nothing lies above it.

    All x ≤ q would make it 0, as if the largest value of a sample were that of the population. It does not
    vary where the largest value is a heap that holds all quantiles from p − h to p + h, as after top coding.
    """
    value = sample.quantile(p)[0]
    below = sample.x <= value
    if below.all() and not sample.constant:
        h = _bandwidth(sample, p)
        if p + h > 1 or sample.quantile(max(p - h, 0.0))[0] < value:
            return np.full(len(sample.x), np.nan)
    share = float(sample.w[0, below].sum()) / sample.total[0]
    return np.asarray(-(below - share) / (sample.total[0] * density(sample, p)))


def density(sample: DomainSample, p: float) -> float:
    """Density of the distribution at its p-quantile: the slope of F between the quantiles of p ± h.

    h is the bandwidth of Hall & Sheather (1988) for 95 % intervals, with Kish's effective number of records;
    it is doubled until the two quantiles differ, so that heaped values do not give an infinite density.
    """
    p = min(max(p, 0.0), 1.0)
    h = _bandwidth(sample, p)
    while True:
        low, high = max(p - h, 0.0), min(p + h, 1.0)
        gap = float(sample.quantile(high)[0] - sample.quantile(low)[0])
        if gap > 0:
            return float((high - low) / gap)
        if low == 0.0 and high == 1.0:
            return np.inf  # all values are equal: the quantile does not vary
        h *= 2


def density_at(sample: DomainSample, limit: float) -> float:
    """Density of the distribution at a number; 0 where all records have one other value."""
    if sample.constant and sample.x[0] != limit:
        return 0.0
    return density(sample, share_below(sample, limit))


def heaped(sample: DomainSample, p: float) -> bool:
    """Whether one value holds more than half of the weight between the quantiles of p ± h.

    F is then a step there, and no slope says how the quantile varies: hardly at all within the step, by far
    more at its edge. The bandwidth h is that of the density.
    """
    if sample.constant or not sample.total[0] > 0:
        return False
    p = min(max(p, 0.0), 1.0)
    h = _bandwidth(sample, p)
    low, high = max(p - h, 0.0), min(p + h, 1.0)
    last = np.append(sample.x[1:] != sample.x[:-1], True)  # of the records with one value
    steps = np.diff(np.clip(sample.mass[0, last] / sample.total[0], low, high), prepend=low)
    return bool(steps.max() > (high - low) / 2)


def _bandwidth(sample: DomainSample, p: float) -> float:
    """h of Hall & Sheather (1988), for the effective number of records."""
    effective = max(sample.total[0] ** 2 / sample.squared_weight, 1.0)
    at = _NORMAL.inv_cdf(min(max(p, 0.5 / effective), 1 - 0.5 / effective)) if effective > 1 else 0.0
    bell = _NORMAL.pdf(at)
    return float((1.96 ** (2 / 3)) * (1.5 * bell**2 / (2 * at**2 + 1)) ** (1 / 3) * effective ** (-1 / 3))


def share_below(sample: DomainSample, limit: float) -> float:
    """F just below the limit: share of the weight of values smaller than it (one set of weights)."""
    place = int(np.searchsorted(sample.x, limit, side="left"))
    return float(sample.mass[0, place - 1] / sample.total[0]) if place else 0.0
