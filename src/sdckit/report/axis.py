"""One axis of the risk–utility map: what it shows and how its numbers are written."""

from collections.abc import Iterable
from dataclasses import dataclass

from sdckit.charts.numbers import display
from sdckit.quantity import Quantity
from sdckit.report.disclosure import drawable, is_share, measured


@dataclass(frozen=True, slots=True)
class Axis:
    """The quantities of an axis, the records they were measured on, and for whom."""

    quantities: tuple[Quantity, ...]
    records: int
    public: bool

    @classmethod
    def of(cls, names: Iterable[str], records: int, *, public: bool) -> "Axis":
        """The axis of these quantities."""
        return cls(tuple(Quantity.named(name) for name in names), records, public)

    @property
    def single(self) -> Quantity | None:
        """The quantity, where it is only one and so in its own unit."""
        return self.quantities[0] if len(self.quantities) == 1 else None

    @property
    def share(self) -> bool:
        """Whether its numbers are in percent."""
        one = self.single
        return one is not None and (one.bounds == (0, 1) if one.figure else is_share(one.spec))

    @property
    def title(self) -> str:
        """What is measured, with the unit."""
        one = self.single
        if one is None:
            return "Weighted mean of " + ", ".join(q.title for q in self.quantities) + ", each from 0 to 1"
        return one.title if self.share or not one.unit else f"{one.title}, {one.unit}"

    @property
    def measures(self) -> list[str]:
        """The names of the measures."""
        return [q.spec.name for q in self.quantities]

    def value(self, value: float) -> float:
        """The number as the map may draw it."""
        one = self.single
        return (
            value
            if one is None or one.figure
            else drawable(one.spec, value, self.records, public=self.public)
        )

    def text(self, value: float) -> str:
        """The number as a table may show it."""
        one = self.single
        if one is None or one.figure:
            return display(value, share=self.share)
        return measured(one.spec, value, self.records, public=self.public)
