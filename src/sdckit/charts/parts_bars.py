"""The parts of a result as bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

from sdckit.charts.theme import cut, themed, unthemed
from sdckit.charts.variable_bars import variable_bars
from sdckit.data.result import Result
from sdckit.errors import SdcError

MOST = 15


@dataclass(frozen=True, slots=True)
class PartsBars:
    """A chart of any result whose `parts` name what they belong to in the first column.

    column: what the bars show, and axis: what it is, in words.
    share: the column runs from 0 to 1 and reads best in percent. percent: it already is in percent.
    counts: "share" or "number" where the column is a share or a number of records, so that small values
    tell of few records.
    names: longer names for the labels in the first column.
    """

    column: str
    axis: str
    share: bool = False
    percent: bool = False
    counts: Literal["", "share", "number"] = ""
    names: tuple[tuple[str, str], ...] = ()

    def __call__(self, result: Result) -> Any:
        """One bar a part, the largest first."""
        if result.parts is None or self.column not in result.parts.columns:
            raise nothing_to_draw(result)
        told = dict(self.names)
        parts = result.parts.select(result.parts.columns[0], self.column).drop_nulls()
        pairs = [(told.get(str(a), str(a)), self.size(float(b))) for a, b in parts.iter_rows()]
        return bars(result, pairs, self.axis, share=self.share or self.percent)

    def size(self, value: float) -> float:
        """A value of the column as it is drawn."""
        return value / 100 if self.percent else value


@dataclass(frozen=True, slots=True)
class FigureBars:
    """A chart of some figures of a result that share a unit, each a bar, in the order given."""

    figures: tuple[str, ...]
    axis: str

    def __call__(self, result: Result) -> Any:
        """One bar a figure."""
        pairs = [
            (name.replace("_", " "), result.figures[name]) for name in self.figures if name in result.figures
        ]
        return bars(result, pairs, self.axis, share=False, ordered=False)


def bars(
    result: Result, pairs: Sequence[tuple[str, float]], axis: str, *, share: bool, ordered: bool = True
) -> Any:
    """Bars of the finite numbers, the largest first; a line says what is not shown."""
    import altair as alt

    finite = [(name, value) for name, value in pairs if isfinite(value)]
    if not finite:
        raise nothing_to_draw(result)
    if ordered:
        finite.sort(key=lambda pair: -pair[1])
    chart = variable_bars(*zip(*finite[:MOST], strict=True), axis=axis, share=share, width=300)
    said = [f"the {MOST} largest of {len(finite)}"] if len(finite) > MOST else []
    endless = [name for name, value in pairs if not isfinite(value)]
    said += [f"not drawn, infinite: {', '.join(endless)}"] if endless else []
    if not said:
        return chart
    line = alt.TitleParams(cut("; ".join(said), 90), fontSize=11, fontWeight="normal")
    return themed(unthemed(chart).properties(title=line))


def nothing_to_draw(result: Result) -> SdcError:
    """The error of a chart whose result has no numbers."""
    return SdcError(
        f"There is nothing to draw for {result.measure or 'this result'}.", hint=" ".join(result.notes)
    )
