"""What an indicator is: a number computed from one variable and weights, for many sets of weights at once."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.data.labels import Labels
from sdckit.data.values import as_text
from sdckit.errors import OptionError

TIE = 1e-12  # cumulated shares of weight that equal p up to rounding do not exceed it


def written(value: object) -> str:
    """A category as columns of text have it: 1 for 1.0, true for True."""
    return str(value).lower() if isinstance(value, bool | np.bool_) else as_text(value)


class Source(NamedTuple):
    """Which columns an indicator reads: a variable, one beside it, and the category that counts."""

    variable: str
    other: str | None = None
    category: str | None = None

    @property
    def categories(self) -> str | None:
        """The column whose categories count, where one does."""
        return None if self.category is None else self.other or self.variable

    def spellings(self, labels: Labels) -> tuple[str, ...]:
        """The category with its label, or the label with its codes: people write either.

        What reads like a code is one: of the codes 1 and 2, the label "2" of 1 does not count.
        """
        if self.category is None:
            return ()
        known = {as_text(k): t for k, t in labels.values.get(self.other or self.variable, {}).items()}
        codes = (c for c, text in known.items() if text == self.category and self.category not in known)
        return (
            self.category,
            *codes,
            *(known[c] for c in [self.category] if c in known and known[c] not in known),
        )


@dataclass(frozen=True, eq=False)
class DomainSample:
    """The records of one domain in the order of the variable, under r sets of weights.

    x: [n] ascending, none missing. w: [r, n]. other: [n] a second variable. line: [r] the poverty line.
    """

    x: Floats
    w: Floats
    other: Floats | None = None
    line: Floats | None = None

    @cached_property
    def mass(self) -> Floats:
        """[r, n] Weight up to and including a record."""
        return np.cumsum(self.w, axis=1)

    @cached_property
    def total(self) -> Floats:
        """[r] All weight."""
        return self.mass[:, -1]

    @cached_property
    def amount(self) -> Floats:
        """[r] Σ w x."""
        return np.asarray(np.einsum("ij,j->i", self.w, self.x))

    @cached_property
    def second_amount(self) -> Floats:
        """[r] Σ w y of the second variable."""
        return np.asarray(self.w @ self.second_variable())

    @property
    def squared_weight(self) -> float:
        """Σ w² of the records, under one set of weights."""
        return float(np.sum(self.w[0] * self.w[0]))

    @property
    def constant(self) -> bool:
        """Whether all values are equal."""
        return len(self.x) > 0 and bool(self.x[0] == self.x[-1])

    def records_upto(self, places: Any) -> Any:
        """How many records stand before some places among the ordered values."""
        return places

    def second_variable(self) -> Floats:
        """The second variable of indicators that have one."""
        if self.other is None:
            raise ValueError("this indicator reads two columns")
        return self.other

    def poverty_line(self) -> Floats:
        """The poverty line of indicators that have one."""
        if self.line is None:
            raise ValueError("this indicator needs a poverty line")
        return self.line

    def quantile(self, p: float | Floats) -> Floats:
        """[r] The first value whose cumulated share of weight exceeds p; no averaging."""
        return np.asarray(self.x[self.place(p)])

    def place(self, p: float | Floats) -> Any:
        """[r] Where the quantiles are among the ordered values."""
        wanted = (np.broadcast_to(p, self.total.shape) + TIE) * self.total
        found = [np.searchsorted(c, t, side="right") for c, t in zip(self.mass, wanted, strict=True)]
        return np.minimum(found, len(self.x) - 1)

    def cut(self, keep: Any) -> "DomainSample":
        """The sample with some of its records only; one set of records for all sets of weights."""
        other = None if self.other is None else self.other[keep]
        return replace(self, x=self.x[keep], w=np.ascontiguousarray(self.w[:, keep]), other=other)


class Indicator(ABC):
    """Base of all indicators. Subclasses are frozen dataclasses whose fields are the indicator's options."""

    label: ClassVar[str] = ""
    unit: ClassVar[str] = "units of the variable"
    rests_on_quantile: ClassVar[bool] = False
    grows_with_weight: ClassVar[bool] = False  # as totals do: with twice the weights it is twice as large

    @property
    def name(self) -> str:
        """How a row of results calls it."""
        return self.label

    @property
    def smooth(self) -> bool:
        """Whether it rests on no quantile, so that the jackknife holds."""
        return not self.rests_on_quantile

    @property
    def for_amounts(self) -> bool:
        """Whether it supposes values of which none is negative."""
        return False

    @abstractmethod
    def point(self, sample: DomainSample) -> Floats:
        """[r] The number under each set of weights; nan where it is not defined."""

    def influence(self, sample: DomainSample) -> Floats | None:
        """[n] Derivative with respect to each record's weight (one set of weights).

        None where there is no formula, so that only replicates can give the variance.
        """
        return None

    @property
    def has_formula(self) -> bool:
        """Whether there is an `influence`; else only replicates can give the variance."""
        return type(self).influence is not Indicator.influence

    def on_heap(self, sample: DomainSample, whole: DomainSample) -> bool:
        """Whether a quantile that it rests on lies where many records share one value.

        `whole` are the records of all domains. The formula of its influence supposes values that spread.
        """
        return False

    def centre(self, sample: DomainSample) -> Floats | None:
        """[r] Where an interval on the log scale stands; None for one that is symmetric about the number."""
        return None

    def source(self, variable: str) -> Source:
        """The columns it reads."""
        return Source(variable)


class PovertyLineIndicator(Indicator):
    """An indicator with a poverty line that belongs to the whole file, whatever the domain."""

    @abstractmethod
    def line(self, whole: DomainSample) -> Floats:
        """[r] The line under each set of weights."""

    @abstractmethod
    def line_influence(self, whole: DomainSample) -> Floats:
        """[n] Influence of each record of the whole file on the line."""

    @abstractmethod
    def slope(self, sample: DomainSample) -> float:
        """Derivative of the number with respect to the line; `influence` holds the line fixed."""

    def influence_by_line(self, sample: DomainSample, whole: DomainSample) -> Floats:
        """[n] Influence of each record of the whole file through the line; 0 where the line does not vary."""
        moved = self.line_influence(whole)
        return self.slope(sample) * moved if moved.any() else moved


@dataclass(frozen=True, eq=False)  # functions need not be hashable
class OwnFunction(Indicator):
    """A user's function (values, weights) → number; records come in the order of the values."""

    title: str
    function: Callable[[Floats, Floats], float]

    @property
    def name(self) -> str:
        """How a row of results calls it."""
        return self.title

    def point(self, sample: DomainSample) -> Floats:
        """[r] The function of the records drawn in each row of weights."""
        drawn = [row > 0 for row in sample.w]
        found = [
            self._number(sample.x[d], row[d]) if d.any() else np.nan
            for d, row in zip(drawn, sample.w, strict=True)
        ]
        return np.asarray(found)

    def _number(self, values: Floats, weights: Floats) -> float:
        found = self.function(values, weights)
        try:
            return float(found)
        except (TypeError, ValueError):
            raise OptionError(
                f"The function {self.title} must return one number.", given=type(found).__name__
            ) from None
