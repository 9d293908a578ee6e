"""Intervals of quantiles from intervals of the distribution function (Woodruff 1952)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.estimate.design import Design
from sdckit.estimate.indicator import DomainSample, Indicator, Source
from sdckit.estimate.replicates import Replicates
from sdckit.estimate.variance import Estimate, SortedSample, Task, estimates, members, student


class QuantileInterval(StrEnum):
    """How the interval of a quantile is made."""

    LINEARISED = "linearised"
    WOODRUFF = "woodruff"
    LOGIT = "logit"
    BETA = "beta"


@dataclass(frozen=True)
class ShareUpTo(Indicator):
    """F(limit): share of the weight of values up to a limit."""

    limit: float
    label: ClassVar[str] = "share up to"
    unit: ClassVar[str] = "share"

    def point(self, sample: DomainSample) -> Floats:
        """[r] The shares."""
        place = int(np.searchsorted(sample.x, self.limit, side="right"))
        found = sample.mass[:, place - 1] if place else np.zeros(len(sample.total))
        return np.asarray(found / sample.total)

    def influence(self, sample: DomainSample) -> Floats:
        """(1[x≤limit] − F)/Σw."""
        return np.asarray(((sample.x <= self.limit) - self.point(sample)[0]) / sample.total[0])


def woodruff(
    tasks: Sequence[Task],
    found: Sequence[Estimate],
    sources: dict[Source, SortedSample],
    design: Design,
    repeated: Replicates | None,
    *,
    kind: QuantileInterval,
    level: float,
) -> list[Estimate]:
    r"""Quantiles with the intervals that the distribution function has at them.

    With :math:`\hat p=\hat F(\hat q)`, its design variance V and ν degrees of freedom, limits of p are

    .. math:: \hat p \pm t_\nu\sqrt V,\qquad
       \mathrm{logit}^{-1}\Big(\mathrm{logit}\,\hat p\pm t_\nu\frac{\sqrt V}{\hat p(1-\hat p)}\Big)

    or, for beta, those of Clopper and Pearson for n* = p̂(1−p̂)/V·(t_{n−1}/t_ν)² records (Korn & Graubard
    1998). The limits of q are the quantiles at these shares, and its variance is ((high − low)/2t)². ν is
    the number of PSUs less strata with records of the domain. There is no interval where all records lie on
    one side of the quantile, unless all values are equal.
    """
    shares = [Task(ShareUpTo(one.value), t.source, t.domain) for t, one in zip(tasks, found, strict=True)]
    below = estimates(shares, sources, design, repeated, level=level)
    made = []
    for task, quantile, share in zip(tasks, found, below, strict=True):
        source = sources[task.source]
        rows = source.rows_of(task.domain)
        sample = source.sample(design.weights[None, :], task.domain)
        within = float(design.degrees_within(members(rows, len(design.weights))))
        degrees = within if repeated is None else min(within, repeated.degrees)
        made.append(_inverted(sample, quantile.value, share, degrees, kind, level))
    return made


def _inverted(
    sample: DomainSample, value: float, share: Estimate, degrees: float, kind: QuantileInterval, level: float
) -> Estimate:
    if not share.variance < np.inf or not (sample.constant or 0 < share.value < 1):
        return Estimate(value, np.nan, np.nan, np.nan, degrees)
    if sample.constant or share.variance == 0:  # or the whole population was observed
        return Estimate(value, 0.0, value, value, degrees)
    p_low, p_high = _limits(share, len(sample.x), degrees, kind, level)
    low, high = (float(sample.quantile(min(max(p, 0.0), 1.0))[0]) for p in (p_low, p_high))
    low, high = min(low, value), max(high, value)
    error = (high - low) / (2 * student(degrees, level))
    return Estimate(value, error**2, low, high, degrees)


def _limits(
    share: Estimate, records: int, degrees: float, kind: QuantileInterval, level: float
) -> tuple[float, float]:
    """The interval of the distribution function."""
    from scipy.special import betaincinv, expit, logit

    p, half = share.value, student(degrees, level) * float(np.sqrt(share.variance))
    if kind is QuantileInterval.LOGIT:
        wide = half / (p * (1 - p))
        return float(expit(logit(p) - wide)), float(expit(logit(p) + wide))
    if kind is QuantileInterval.BETA:
        inflated = (student(records - 1, level) / student(degrees, level)) ** 2
        effective = p * (1 - p) / share.variance * inflated
        tail = (1 - level) / 2
        low = betaincinv(effective * p, effective * (1 - p) + 1, tail)
        return float(low), float(betaincinv(effective * p + 1, effective * (1 - p), 1 - tail))
    return p - half, p + half
