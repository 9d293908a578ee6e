"""Quantity: one number of one measure, as an axis of the risk–utility map names it."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isinf, nan

from sdckit.data.result import Result
from sdckit.errors import OptionError, listing, nearest
from sdckit.methods.registry import Better, Kind, Spec, find


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
        return f"{self.spec.title}: {self.figure.replace('_', ' ')}" if self.figure else self.spec.title

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest value: of the measure, 0 to 1 for its shares, 0 to ∞ for other figures."""
        if not self.figure:
            return self.spec.bounds
        return (0.0, 1.0) if self.figure in self.spec.shares else (0.0, inf)

    @property
    def unit(self) -> str:
        """The measure's unit; a figure speaks for itself."""
        return "" if self.figure else self.spec.unit

    @property
    def low_is_good(self) -> bool:
        """The good direction; shares among the figures are losses."""
        return bool(self.figure) or self.spec.better is Better.LOW

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
                allowed=listing(result.figures),
                hint=nearest(self.figure, result.figures),
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
