"""Poverty: the line, the share below it, and how far below they are."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.estimate.indicator import DomainSample, Indicator, PovertyLineIndicator
from sdckit.estimate.means import Mean
from sdckit.estimate.quantiles import Quantile, density_at, heaped, share_below


@dataclass(frozen=True)
class PovertyThreshold(Indicator):
    """The at-risk-of-poverty threshold: `share` of the weighted median or mean. In a domain: of its own."""

    share: float = 0.6
    of: Literal["median", "mean"] = "median"
    label: ClassVar[str] = "poverty_threshold"

    @property
    def smooth(self) -> bool:
        """A share of the mean rests on no quantile."""
        return self.of == "mean"

    def point(self, sample: DomainSample) -> Floats:
        """[r] The thresholds."""
        return self.share * self._middle().point(sample)

    def influence(self, sample: DomainSample) -> Floats | None:
        """`share` times that of the median or mean."""
        moved = self._middle().influence(sample)
        return None if moved is None else self.share * moved

    def on_heap(self, sample: DomainSample, whole: DomainSample) -> bool:
        """Whether the median does."""
        return self._middle().on_heap(sample, whole)

    def _middle(self) -> Indicator:
        return Quantile() if self.of == "median" else Mean()


@dataclass(frozen=True)
class _Poverty(PovertyLineIndicator):
    """The line: `share` of the weighted median (or mean) of the whole file, or a number, `fixed_line`."""

    share: float = 0.6
    of: Literal["median", "mean"] = "median"
    fixed_line: float | None = None

    @property
    def smooth(self) -> bool:
        """With a line of the sample, records jump over it."""
        return self.fixed_line is not None and not self.rests_on_quantile

    def line(self, whole: DomainSample) -> Floats:
        """[r] The line under each set of weights."""
        if self.fixed_line is not None:
            return np.full(len(whole.w), float(self.fixed_line))
        return PovertyThreshold(self.share, self.of).point(whole)

    def on_heap(self, sample: DomainSample, whole: DomainSample) -> bool:
        """Whether the median behind the line does."""
        return self.fixed_line is None and PovertyThreshold(self.share, self.of).on_heap(whole, whole)

    def line_influence(self, whole: DomainSample) -> Floats:
        """Influence of each record of the whole file on the line."""
        moved = PovertyThreshold(self.share, self.of).influence(whole)
        return np.zeros(len(whole.x)) if self.fixed_line is not None or moved is None else moved


@dataclass(frozen=True)
class FosterGreerThorbecke(_Poverty):
    """FGT(α): mean of ((z − x)/z)^α over all, 0 for those at or above the line z.

    α = 0 the share of poor, 1 the mean gap as a share of the line, 2 the mean squared gap (severity). Gaps
    are not defined where somebody is below a line of 0 or less.
    """

    alpha: int = 0
    unit: ClassVar[str] = "share"

    @property
    def for_amounts(self) -> bool:
        """Whether it supposes values of which none is negative."""
        return self.alpha > 0

    @property
    def name(self) -> str:
        """How a row of results calls it."""
        return f"fgt{self.alpha}"

    def point(self, sample: DomainSample) -> Floats:
        """[r] The indices."""
        return np.asarray(np.einsum("ij,ij->i", sample.w, self._gaps(sample)) / sample.total)

    def _gaps(self, sample: DomainSample) -> Floats:
        line = sample.poverty_line()[:, None]
        poor = sample.x < line
        if self.alpha == 0:
            return poor.astype(np.float64)
        gap = np.where(line > 0, 1 - sample.x / line, np.nan)
        return np.asarray(np.where(poor, gap, 0.0) ** self.alpha)

    def on_heap(self, sample: DomainSample, whole: DomainSample) -> bool:
        """Whether the median behind the line does, or for α = 0 the line itself."""
        if super().on_heap(sample, whole):
            return True
        return self.alpha == 0 and heaped(sample, share_below(sample, sample.poverty_line()[0]))

    def influence(self, sample: DomainSample) -> Floats:
        """(gap − FGT)/Σw with the line held fixed."""
        return np.asarray((self._gaps(sample)[0] - self.point(sample)[0]) / sample.total[0])

    def slope(self, sample: DomainSample) -> float:
        """The density at the line for α = 0; α·mean of gap^(α−1)·x/z² else."""
        line = sample.poverty_line()[0]
        if self.alpha == 0:
            return density_at(sample, line)
        poor = sample.x < line
        steep = self.alpha * (1 - sample.x[poor] / line) ** (self.alpha - 1) * sample.x[poor] / line**2
        return float(sample.w[0, poor] @ steep / sample.total[0])


@dataclass(frozen=True)
class PovertyRate(_Poverty):
    """At-risk-of-poverty rate: percent of the weight strictly below the line of the whole file."""

    label: ClassVar[str] = "poverty_rate"
    unit: ClassVar[str] = "percent"

    def point(self, sample: DomainSample) -> Floats:
        """[r] The rates."""
        return 100 * _HEADCOUNT.point(sample)

    def on_heap(self, sample: DomainSample, whole: DomainSample) -> bool:
        """Whether the median behind the line does, or the line itself."""
        return super().on_heap(sample, whole) or _AT_LINE.on_heap(sample, whole)

    def influence(self, sample: DomainSample) -> Floats:
        """100·(1[x<z] − rate)/Σw with the line held fixed."""
        return 100 * _HEADCOUNT.influence(sample)

    def slope(self, sample: DomainSample) -> float:
        """100 times the density at the line."""
        return 100 * _HEADCOUNT.slope(sample)


_HEADCOUNT = FosterGreerThorbecke()
_AT_LINE = FosterGreerThorbecke(fixed_line=0.0)  # a line that rests on no median; the sample brings its own


@dataclass(frozen=True)
class PovertyGap(_Poverty):
    """Relative median poverty gap: 100·(z − median of the poor)/z, with the line z of the whole file."""

    label: ClassVar[str] = "poverty_gap"
    unit: ClassVar[str] = "percent"
    rests_on_quantile: ClassVar[bool] = True

    def point(self, sample: DomainSample) -> Floats:
        """[r] The gaps; nan where nobody is poor, or somebody is below a line of 0 or less."""
        line = sample.poverty_line()
        return np.where(line > 0, 100 * (line - self._median(sample)) / line, np.nan)

    @property
    def for_amounts(self) -> bool:
        """Whether it supposes values of which none is negative."""
        return True

    def on_heap(self, sample: DomainSample, whole: DomainSample) -> bool:
        """Whether the median behind the line does, or that of the poor."""
        half = share_below(sample, sample.poverty_line()[0]) / 2
        return super().on_heap(sample, whole) or (half > 0 and heaped(sample, half))

    def _median(self, sample: DomainSample) -> Floats:
        """[r] The weighted median of those below the line."""
        poor = np.searchsorted(sample.x, sample.poverty_line(), side="left")
        upto = np.where(
            poor > 0, np.take_along_axis(sample.mass, np.maximum(poor - 1, 0)[:, None], 1)[:, 0], 0
        )
        found = sample.quantile(upto / (2 * sample.total))
        return np.where(upto > 0, found, np.nan)

    def influence(self, sample: DomainSample) -> Floats:
        """−100·(influence on the median of the poor)/z with the line held fixed."""
        line, middle = sample.poverty_line()[0], self._median(sample)[0]
        total, poor, below = sample.total[0], sample.x < line, sample.x <= middle
        rate, half = sample.w[0, poor].sum() / total, sample.w[0, below].sum() / total
        steep = density_at(sample, middle)
        return np.asarray(-100 / line * (0.5 * (poor - rate) - (below - half)) / (total * steep))

    def slope(self, sample: DomainSample) -> float:
        """100·(m/z² − m′/z), m′ = f(z)/(2 f(m)): how the median m of the poor follows the line."""
        line, middle = sample.poverty_line()[0], self._median(sample)[0]
        at_line, at_middle = (np.float64(density_at(sample, z)) for z in (line, middle))
        return float(100 * (middle / line**2 - at_line / at_middle / (2 * line)))
