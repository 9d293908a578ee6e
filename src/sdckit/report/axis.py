"""One axis of the risk–utility map: what it shows and how its numbers are written."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from sdckit._support.number_text import display
from sdckit.choose.quantity import Quantity
from sdckit.methods.registry import is_third_party
from sdckit.methods.spec import Figure, Kind
from sdckit.report.public_numbers import PublicNumber, public_number, public_share, without_percent

LARGE = 1_000_000  # records, of which any share may be shown


@dataclass(frozen=True, slots=True)
class Axis:
    """The quantities of an axis with their shares."""

    shares: Mapping[str, float]

    @property
    def quantities(self) -> list[Quantity]:
        """What it is made of."""
        return [Quantity.named(name) for name in self.shares]

    @property
    def single(self) -> Quantity | None:
        """The quantity, where it is only one."""
        return self.quantities[0] if len(self.shares) == 1 else None

    @property
    def share(self) -> bool:
        """Whether its numbers are in percent."""
        one = self.single
        return one is not None and one.low_is_good and one.meaning.share

    @property
    def title(self) -> str:
        """What is measured, with the unit."""
        one = self.single
        if one is None:
            return f"Weighted mean of {', '.join(q.title for q in self.quantities)}, each from 0 to 1"
        return one.title if self.share else one.axis_title

    @property
    def measures(self) -> list[str]:
        """The names of the measures."""
        return [q.spec.name for q in self.quantities]

    def text(self, value: float) -> str:
        """The number as a table shows it."""
        return display(value, share=self.share)

    @property
    def public_title(self) -> str:
        """What the public sees: losses without an upper bound are brought to 0 … 1."""
        return f"{self.title}, brought to 0 to 1" if self._turned and self.single is not None else self.title

    def public(self, value: float, records: int) -> PublicNumber | None:
        """The number as the public may see it, given how many records there are; None where it may not.

        Losses without an upper bound are brought to 0 … 1; like means of several they are shown in steps.
        """
        if not isfinite(value) or not all(map(self._allowed, self.quantities)):
            return None
        one = self.single
        if one is not None and one.low_is_good and not self._turned:
            return public_number(one.meaning, one.spec.kind, value, records)
        scaled = one.normalised(value) if one is not None and one.low_is_good else value
        return without_percent(public_share(scaled, records))

    @property
    def _turned(self) -> bool:
        """Whether the public sees a loss that has no upper bound on another scale."""
        one = self.single
        return one is not None and one.low_is_good and self._unbounded(one)

    def _unbounded(self, quantity: Quantity) -> bool:
        loss = quantity.spec.kind is Kind.UTILITY
        return loss and quantity.bounds != (0, 1) and not quantity.meaning.counts_records

    def _allowed(self, quantity: Quantity) -> bool:
        meaning, kind = quantity.meaning, quantity.spec.kind
        hidden = isinstance(meaning, Figure) and meaning.extreme
        shown = public_number(meaning, kind, 0.5, LARGE) is not None
        known = not is_third_party(quantity.spec.function)
        return known and not hidden and (shown or self._unbounded(quantity))
