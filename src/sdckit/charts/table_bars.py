"""A table of a result as bars."""

from dataclasses import dataclass
from typing import Any

from sdckit.charts.parts_bars import bars, nothing_to_draw
from sdckit.data.result import Result


@dataclass(frozen=True, slots=True)
class TableBars:
    """A chart of one of a result's tables: what each row is called, what the bars show, and what that is."""

    table: str  # name in Result.tables; empty for Result.parts
    label: str
    column: str
    axis: str
    share: bool = False
    prefix: str = ""
    ordered: bool = False

    def __call__(self, result: Result) -> Any:
        """One bar per row, in the order of the table or the largest first."""
        return bars(result, self.pairs(result), self.axis, share=self.share, ordered=self.ordered)

    def pairs(self, result: Result) -> list[tuple[str, float]]:
        """The names of the bars, and what they show."""
        table = result.tables.get(self.table) if self.table else result.parts
        if table is None or table.is_empty():
            raise nothing_to_draw(result)
        rows = table.select(self.label, self.column).drop_nulls().rows()
        return [(f"{self.prefix}{a}", float(b)) for a, b in rows]
