"""The parts of a result that has them for both files."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

from sdckit.charts.before_after import before_after
from sdckit.charts.parts_bars import MOST, nothing_to_draw
from sdckit.data.result import Result


@dataclass(frozen=True, slots=True)
class PartsBeforeAfter:
    """A chart of any result whose `parts` have the columns `original` and `protected`.

    axis: what they are, in words. prefix: stands before each name, for parts that are only numbered.
    """

    axis: str
    prefix: str = ""

    def __call__(self, result: Result) -> Any:
        """Two bars a part, in the order of the parts."""
        if result.parts is None:
            raise nothing_to_draw(result)
        parts = result.parts.select(result.parts.columns[0], "original", "protected")
        found = [row for row in parts.iter_rows() if all(v is not None and isfinite(v) for v in row[1:])]
        if not found:
            raise nothing_to_draw(result)
        # eigenvalues of 0 come out as tiny negative numbers
        shown = [(f"{self.prefix}{name}", max(x, 0.0), max(y, 0.0)) for name, x, y in found[:MOST]]
        return before_after(*zip(*shown, strict=True), axis=self.axis, share=False, width=300)
