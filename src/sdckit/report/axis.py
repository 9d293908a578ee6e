"""One axis of the risk–utility map: what it shows and how its numbers are written."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from sdckit._support.number_text import display
from sdckit.choose.quantity import Quantity
from sdckit.report.public_numbers import PublicNumber, public_number, public_share


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

    def public(self, value: float, records: int) -> PublicNumber | None:
        """The number as the public may see it, given how many records there are; None where it may not.

        A number that was brought to 0 … 1, alone or as a mean of several, is shown in steps like a share.
        """
        if not isfinite(value) or not all(self._allowed(q, records) for q in self.quantities):
            return None
        one = self.single
        if one is not None and one.low_is_good:
            return public_number(one.meaning, one.spec.kind, value, records)
        shown = public_share(value, records)
        return None if shown is None else PublicNumber(shown.value, shown.at_most)

    def _allowed(self, quantity: Quantity, records: int) -> bool:
        return public_number(quantity.meaning, quantity.spec.kind, 0.5, records) is not None
