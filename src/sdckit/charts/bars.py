"""Bars: of variables, of the parts of a result, of its tables, before and after."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

from sdckit._support.number_text import display, round_marks
from sdckit.charts.before_after import before_after
from sdckit.charts.theme import INK, PROTECTED, cut, number_labels, row_names, rows, spoken, themed, unthemed
from sdckit.data.result import Result
from sdckit.errors import SdcError


def variable_bars(
    labels: Sequence[str], values: Sequence[float], *, axis: str, share: bool = False, width: int = 240
) -> Any:
    """One bar a variable (or table), in the order given, with the number beside it."""
    import altair as alt

    data = [
        {
            "name": name,
            "value": value,
            "text": display(value, share=share),
            "about": f"{label}: {display(value, share=share)}",
        }
        for name, label, value in zip(row_names(labels, 36), labels, values, strict=True)
    ]
    top, low = max([*values, 0.0]), min([*values, 0.0])
    span = (top - low) or 1.0
    names = alt.Axis(ticks=False, domain=False, labelFontSize=11)
    base = alt.Chart(rows(data)).encode(y=alt.Y("name:N", sort=None, title=None, axis=names))
    x = alt.X(
        "value:Q",
        title=axis,
        scale=alt.Scale(domain=[low - (0.15 * span if low < 0 else 0), top + 0.25 * span], nice=False),
        axis=alt.Axis(values=round_marks(low, top, 4), labelExpr=number_labels(share=share)),
    )
    bars = base.mark_bar(color=PROTECTED, cornerRadiusEnd=2).encode(x=x, **spoken())
    text = base.mark_text(align="left", dx=5, color=INK, fontSize=11, aria=False).encode(
        x=x, text=alt.Text("text:N")
    )
    return themed((bars + text).properties(width=width, height=alt.Step(20)))


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
