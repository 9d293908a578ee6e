"""Quantity: one number of one measure, as an axis of the risk–utility map names it."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isinf, nan

from sdckit._support.messages import did_you_mean, join_names
from sdckit.data.result import Result
from sdckit.errors import OptionError
from sdckit.methods.registry import find
from sdckit.methods.spec import Better, Figure, Kind, Spec


@dataclass(frozen=True, slots=True)
class Quantity:
    """A measure's value ("il1s") or one of its figures ("entropy_loss.share")."""

    spec: Spec
    figure: str = ""

    @classmethod
    def named(cls, name: str, *kinds: Kind) -> "Quantity":
        """The quantity of this name; the error suggests the nearest measure."""
        measure, _, figure = name.partition(".")
        return cls(find(measure, *kinds), figure)

    @property
    def title(self) -> str:
        """The measure's title, with the figure where it is not the value."""
        return f"{self.spec.title}: {self._figure.label}" if self.figure else self.spec.title

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest value of the measure, or of its figure."""
        return self._figure.bounds if self.figure else self.spec.bounds

    @property
    def meaning(self) -> Spec | Figure:
        """What says whether it is a share or counts records: the measure, or its figure."""
        return self._figure if self.figure else self.spec

    @property
    def _figure(self) -> Figure:
        return self.spec.figure(self.figure)

    @property
    def unit(self) -> str:
        """The unit of the measure, or of its figure."""
        return self._figure.unit if self.figure else self.spec.unit

    @property
    def low_is_good(self) -> bool:
        """The good direction."""
        return (self._figure.better if self.figure else self.spec.better) is not Better.HIGH

    @property
    def axis_unit(self) -> str:
        """What the number on an axis is in, where low is always good: measures that should be high turn."""
        if self.low_is_good:
            return self.unit
        return f"as a {'risk' if self.spec.kind is Kind.RISK else 'loss'} from 0 to 1"

    @property
    def is_share(self) -> bool:
        """Whether an axis that shows this number alone is in percent."""
        return self.bounds == (0, 1) and self.low_is_good

    @property
    def axis_title(self) -> str:
        """The title of an axis that shows this number alone.

        >>> from sdckit import utility
        >>> Quantity.named("regression").axis_title
        'Regression coefficients and their confidence intervals, as a loss from 0 to 1'
        """
        return f"{self.title}, {self.axis_unit}" if self.axis_unit else self.title

    def of(self, results: Mapping[str, Result]) -> float:
        """The number in a set of results; nan where the measure was left out."""
        if self.spec.name not in results:
            return nan
        result = results[self.spec.name]
        if not self.figure:
            return result.value
        if self.figure not in result.figures:
            raise OptionError(
                f"{self.spec.name} has no figure {self.figure!r}.",
                allowed=join_names(result.figures),
                hint=did_you_mean(self.figure, result.figures),
            )
        return result.figures[self.figure]

    def on_axis(self, value: float) -> float:
        """The number on an axis that shows it alone, where low is good: as it is, or turned round."""
        return value if self.low_is_good else self.normalised(value)

    def normalised(self, value: float) -> float:
        """The number brought to 0 (good) … 1 (bad) by its bounds; v/(1+v) where there is no upper bound."""
        low, high = self.bounds
        if isinf(high):
            scaled = 1.0 if isinf(value) else (value - low) / (1 + value - low)
        else:
            scaled = (value - low) / (high - low)
        return scaled if self.low_is_good else 1 - scaled
