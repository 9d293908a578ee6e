"""One axis of the risk–utility map: what it shows and how its numbers are written."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan

from sdckit._support.number_text import display
from sdckit.choose.evaluator import combine
from sdckit.choose.quantity import Quantity
from sdckit.report.disclosure import HIDDEN, drawable_quantity, is_share


@dataclass(frozen=True, slots=True)
class Axis:
    """The quantities of an axis with their shares, the records they were measured on, and for whom."""

    shares: Mapping[str, float]
    records: int
    public: bool

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The quantities by their name."""
        return {name: Quantity.named(name) for name in self.shares}

    @property
    def single(self) -> Quantity | None:
        """The quantity, where it is only one."""
        return next(iter(self.quantities.values())) if len(self.shares) == 1 else None

    @property
    def share(self) -> bool:
        """Whether its numbers are in percent."""
        one = self.single
        if one is None or not one.low_is_good:
            return False
        return one.bounds == (0, 1) if one.figure else is_share(one.spec)

    @property
    def title(self) -> str:
        """What is measured, with the unit."""
        one = self.single
        if one is None:
            return (
                "Weighted mean of "
                + ", ".join(q.title for q in self.quantities.values())
                + ", each from 0 to 1"
            )
        return one.title if self.share else one.axis_title

    @property
    def measures(self) -> list[str]:
        """The names of the measures."""
        return [q.spec.name for q in self.quantities.values()]

    def value(self, value: float, parts: Mapping[str, float]) -> float | None:
        """The number as the map may draw it, given what it is made of; None where it is not shown."""
        if isnan(value):
            return None
        drawn = {
            name: drawable_quantity(q, parts[name], self.records, public=self.public)
            for name, q in self.quantities.items()
        }
        known = {name: part for name, part in drawn.items() if part is not None}
        if len(known) < len(drawn):
            return None
        return value if known == {name: parts[name] for name in known} else combine(known, self.shares)

    def text(self, value: float, parts: Mapping[str, float]) -> str:
        """The number as a table may show it."""
        shown = self.value(value, parts)
        if shown is None:
            return display(value, share=False) if isnan(value) else HIDDEN
        return f"{'<' if shown > value else ''}{display(shown, share=self.share)}"
