"""Mean, total, proportion and ratio."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.estimate.indicator import DomainSample, Indicator, Source


@dataclass(frozen=True)
class Mean(Indicator):
    """Σwx / Σw."""

    label: ClassVar[str] = "mean"

    def point(self, sample: DomainSample) -> Floats:
        """[r] The weighted means."""
        return sample.amount / sample.total

    def influence(self, sample: DomainSample) -> Floats:
        """(x − mean)/Σw."""
        return np.asarray((sample.x - self.point(sample)[0]) / sample.total[0])


@dataclass(frozen=True)
class Total(Indicator):
    """Σwx."""

    label: ClassVar[str] = "total"
    grows_with_weight: ClassVar[bool] = True

    def point(self, sample: DomainSample) -> Floats:
        """[r] The weighted totals."""
        return sample.amount

    def influence(self, sample: DomainSample) -> Floats:
        """The values themselves."""
        return sample.x


@dataclass(frozen=True)
class Proportion(Mean):
    """Share of the weight in one category, among records with a value."""

    category: str
    unit: ClassVar[str] = "share"

    @property
    def name(self) -> str:
        """How a row of results calls it."""
        return f"proportion {self.category}"

    def source(self, variable: str) -> Source:
        """The variable read as 1 in the category and 0 elsewhere."""
        return Source(variable, category=self.category)


@dataclass(frozen=True)
class Ratio(Indicator):
    """Σwx / Σwy with `denominator` y, over records with both."""

    denominator: str
    unit: ClassVar[str] = "ratio"

    @property
    def name(self) -> str:
        """How a row of results calls it."""
        return f"ratio to {self.denominator}"

    def source(self, variable: str) -> Source:
        """The variable and the denominator beside it."""
        return Source(variable, self.denominator)

    def point(self, sample: DomainSample) -> Floats:
        """[r] The ratios of weighted totals."""
        return np.asarray(sample.amount / sample.second_amount)

    def influence(self, sample: DomainSample) -> Floats:
        """(x − R·y)/Σwy."""
        ratio = self.point(sample)[0]
        return np.asarray((sample.x - ratio * sample.second_variable()) / sample.second_amount[0])
