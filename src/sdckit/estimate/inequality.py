"""Gini coefficient and quintile share ratio."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.estimate.indicator import DomainSample, Indicator
from sdckit.estimate.quantiles import heaped

Ties = Literal["whole", "split"]
STEP = 1e-9  # whole numbers of records up to rounding


@dataclass(frozen=True)
class Gini(Indicator):
    r"""Gini coefficient in percent.

    .. math:: G = 100\left[\frac{2\sum_i w_i x_i \sum_{j\le i} w_j - \sum_i w_i^2 x_i}
              {\sum w_i \sum w_i x_i} - 1\right], \quad x_1 \le x_2 \le …

    0: all have the same. 100: one has all. Above 100 is possible when some values are negative; where all
    together are 0 or less, it is not defined. Ties do not matter: this is
    Σ_{i<j} w_i w_j |x_i − x_j| / (Σw Σwx).
    """

    label: ClassVar[str] = "gini"
    unit: ClassVar[str] = "percent"

    @property
    def for_amounts(self) -> bool:
        """Whether it supposes values of which none is negative."""
        return True

    def point(self, sample: DomainSample) -> Floats:
        """[r] The coefficients."""
        if sample.constant:  # exactly, as rounding would not be the same in two files
            return np.where(sample.amount > 0, 0.0, np.nan)
        ranks = 2 * sample.mass
        ranks -= sample.w
        ranks *= sample.w
        found = 100 * (np.einsum("ij,j->i", ranks, sample.x) / (sample.total * sample.amount) - 1)
        return np.where(sample.amount > 0, found, np.nan)

    def influence(self, sample: DomainSample) -> Floats:
        """100·[Σ_j w_j|x_i − x_j| / (Σw Σwx) − G/Σw − G x_i/Σwx], G as a share."""
        w, x = sample.w[0], sample.x
        total, amount = sample.total[0], sample.amount[0]
        share = self.point(sample)[0] / 100
        held = np.cumsum(w * x)
        distances = x * (2 * sample.mass[0] - w - total) + amount - (2 * held - w * x)
        return np.asarray(100 * (distances / (total * amount) - share / total - share * x / amount))


@dataclass(frozen=True)
class ShareRatio(Indicator):
    """S80/S20: what the richest fifth has, as a multiple of what the poorest fifth has.

    Σ_{x > q(upper)} wx / Σ_{x ≤ q(lower)} wx with the quantiles of the domain itself. Not defined where the
    poorest have 0 or less together.

    `ties`: those who have just the value of a quantile count as the poorer side ("whole", as in laeken), or
    with the part of their weight that makes the groups a fifth of all weight ("split", the Lorenz curve).
    Rounded incomes move "whole" by what happens to be tied at the two quantiles, and "split" hardly.
    """

    lower: float = 0.2
    upper: float = 0.8
    ties: Ties = "whole"
    unit: ClassVar[str] = "ratio"

    @property
    def for_amounts(self) -> bool:
        """Whether it supposes values of which none is negative."""
        return True

    @property
    def name(self) -> str:
        """How a row of results calls it."""
        name = f"s{100 * self.upper:g}s{100 * self.lower:g}"
        return name if self.ties == "whole" else f"{name} split"

    @property
    def smooth(self) -> bool:
        """Split, it changes steadily with every weight."""
        return self.ties == "split"

    def point(self, sample: DomainSample) -> Floats:
        """[r] The ratios."""
        return self._ratio(*self._amounts(sample, self.ties))

    @staticmethod
    def _ratio(rich: Floats, poor: Floats) -> Floats:
        return np.where(poor > 0, rich / poor, np.nan)

    def on_heap(self, sample: DomainSample, whole: DomainSample) -> bool:
        """Whether many records share the value at which the groups are cut, and all go to one side."""
        return self.ties == "whole" and (heaped(sample, self.lower) or heaped(sample, self.upper))

    def centre(self, sample: DomainSample) -> Floats:
        """[r] The ratios without the record that steps over each quantile.

        The poor group of a sample holds its fifth of the weight and the rest of the record that completes it,
        which the rich group lacks: with n records the ratio is too small by a term of order 1/n, a quarter of
        a standard error at n = 1,000. The interval stands about the ratio without it.
        """
        return self._ratio(*self._amounts(sample, "record" if self.ties == "whole" else self.ties))

    def _amounts(self, sample: DomainSample, ties: Ties | Literal["record"]) -> tuple[Floats, Floats]:
        """[r] each: Σwx above the upper and up to the lower quantile."""
        held = np.cumsum(sample.w * sample.x, axis=1)
        upper, lower = (self._upto(sample, held, p, ties) for p in (self.upper, self.lower))
        return held[:, -1] - upper, lower

    @staticmethod
    def _upto(sample: DomainSample, held: Floats, p: float, ties: Ties | Literal["record"]) -> Floats:
        """[r] Σwx up to the quantile, less what goes beyond p: nothing, all of it, or part of one record."""
        limit = sample.quantile(p)
        last = np.searchsorted(sample.x, limit, side="right")[:, None] - 1
        amount = np.take_along_axis(held, last, axis=1)[:, 0]
        if ties == "whole":
            return amount
        mass = np.take_along_axis(sample.mass, last, axis=1)[:, 0]
        beyond = mass - p * sample.total
        if ties == "record":  # tied records have equal shares of their weight, so that order does not matter
            first = np.searchsorted(sample.x, limit)[:, None]
            before = np.take_along_axis(sample.mass - sample.w, first, axis=1)[:, 0]
            tied = sample.records_upto(last + 1) - sample.records_upto(first)
            one = (mass - before) / tied[:, 0]
            beyond = beyond - one * (np.ceil(beyond / one - STEP) - 1)
        return np.asarray(amount - limit * beyond)

    def influence(self, sample: DomainSample) -> Floats:
        """(A_i − R·B_i)/B; the densities at the quantiles cancel."""
        rich, poor = self._amounts(sample, self.ties)
        x, ratio = sample.x, rich[0] / poor[0]
        high, low = sample.quantile(self.upper)[0], sample.quantile(self.lower)[0]
        top = x * (x > high) + high * ((x <= high) - self._share(sample, self.upper, high))
        bottom = x * (x <= low) - low * ((x <= low) - self._share(sample, self.lower, low))
        return np.asarray((top - ratio * bottom) / poor[0])

    def _share(self, sample: DomainSample, p: float, limit: float) -> float:
        """The share of weight up to a quantile."""
        return p if self.ties == "split" else float(sample.w[0, sample.x <= limit].sum() / sample.total[0])
