"""Gender pay gap."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.estimate.indicator import DomainSample, Indicator, Source
from sdckit.estimate.means import Mean
from sdckit.estimate.quantiles import Quantile


@dataclass(frozen=True)
class PayGap(Indicator):
    """1 − (mean of the others)/(mean of the reference group), as a share.

    `group` names the column, `reference` its category that counts as 1 (men, in the gender pay gap); all
    other categories are the others. `statistic="median"` compares medians.
    """

    group: str
    reference: str
    statistic: Literal["mean", "median"] = "mean"
    unit: ClassVar[str] = "share"

    @property
    def name(self) -> str:
        """How a row of results calls it."""
        return "pay_gap" if self.statistic == "mean" else "pay_gap median"

    @property
    def smooth(self) -> bool:
        """A gap of means does not rest on a quantile."""
        return self.statistic == "mean"

    def source(self, variable: str) -> Source:
        """The variable, and 1 in the reference group, 0 in the others beside it."""
        return Source(variable, self.group, self.reference)

    def _centre(self) -> Indicator:
        return Mean() if self.statistic == "mean" else Quantile()

    def on_heap(self, sample: DomainSample, whole: DomainSample) -> bool:
        """Whether the median of one of the groups does."""
        groups = [sample.cut(sample.second_variable() == code) for code in (1, 0)]
        return any(len(one.x) > 0 and self._centre().on_heap(one, one) for one in groups)

    def point(self, sample: DomainSample) -> Floats:
        """[r] The gaps; nan where one of the groups is empty."""
        first, second = (sample.cut(sample.second_variable() == code) for code in (1, 0))
        if not len(first.x) or not len(second.x):
            return np.full(len(sample.w), np.nan)
        return 1 - self._centre().point(second) / self._centre().point(first)

    def influence(self, sample: DomainSample) -> Floats:
        """From the influences on the two centres: −z₂/m₁ + m₂·z₁/m₁²."""
        found = np.zeros(len(sample.x))
        masks = [sample.second_variable() == code for code in (1, 0)]
        samples = [sample.cut(mask) for mask in masks]
        if not all(mask.any() for mask in masks):
            return np.full(len(sample.x), np.nan)
        one, two = (self._centre().point(p)[0] for p in samples)
        for mask, part, factor in zip(masks, samples, (two / one**2, -1 / one), strict=True):
            moved = self._centre().influence(part)
            found[mask] = 0.0 if moved is None else factor * moved
        return found
