"""One calm look for every chart."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

INK = "#1f2933"
QUIET = "#616e7c"
GRID = "#e4e7eb"
FILES = ("Original", "Protected")
ORIGINAL = "#9aa5b1"
PROTECTED = "#0b6e99"
WARNING = "#c2410c"
SAFE = "#e6f4f1"
MISSING = "#d3d8de"
OTHER = "#9aa5b1"
# Paul Tol's muted scheme, told apart with any kind of colour vision; ordered so that neighbours contrast
CATEGORIES = (
    "#332288",
    "#88ccee",
    "#117733",
    "#ddcc77",
    "#cc6677",
    "#44aa99",
    "#882255",
    "#999933",
    "#aa4499",
)
FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"


def rows(values: Sequence[dict[str, Any]]) -> Any:
    """Rows as inline chart data."""
    return _unchanging_data()(values=list(values))


@lru_cache
def _unchanging_data() -> Any:
    """Inline data that are not copied with their chart, which Altair does many times: nobody changes them."""
    import altair as alt

    class Rows(alt.InlineData):
        def __deepcopy__(self, _: Any) -> "Rows":
            return self

    return Rows


def spoken() -> dict[str, Any]:
    """The text in the field `about`, for a pointer on the mark and for screen readers."""
    import altair as alt

    return {"tooltip": alt.Tooltip("about:N", title=" "), "description": alt.Description("about:N")}


def number_labels(*, share: bool) -> str:
    """How an axis writes its numbers: shares in percent, as in the text."""
    if share:
        return "format(100 * datum.value, ',~g') + ' %'"
    return "format(datum.value, abs(datum.value) >= 10000 ? '~s' : ',~g')"


def themed(chart: Any) -> Any:
    """The chart with our fonts, colours and quiet axes.

    Set on the chart itself, which its caller has just made: each `configure_…` would copy all its panels.
    """
    import altair as alt

    chart.config = alt.Config(
        font=FONT,
        background="transparent",
        padding=4,
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            labelColor=QUIET,
            titleColor=INK,
            titleFontWeight="normal",
            titleFontSize=12,
            titlePadding=8,
            labelFontSize=11,
            gridColor=GRID,
            domainColor=GRID,
            tickColor=GRID,
            labelLimit=300,
        ),
        title=alt.TitleConfig(
            anchor="start", fontSize=13, color=INK, fontWeight=600, subtitleColor=QUIET, subtitleFontSize=11
        ),
        legend=alt.LegendConfig(
            orient="top", title=None, labelColor=INK, labelFontSize=11, symbolType="square", labelLimit=180
        ),
    )
    return chart


def unthemed(chart: Any) -> Any:
    """A chart just made, without its look, so that it can stand beside others in one that has it."""
    import altair as alt

    chart.config = alt.Undefined
    return chart


def file_colours() -> Any:
    """The colour scale of the two files."""
    import altair as alt

    return alt.Scale(domain=list(FILES), range=[ORIGINAL, PROTECTED])


def cut(text: str, length: int = 34) -> str:
    """A text short enough for a chart."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def row_names(texts: Sequence[str], length: int = 34) -> list[str]:
    """Texts short enough for an axis and still all different.

    >>> row_names(["age", "age", "income"])
    ['age', 'age (2)', 'income']
    """
    names: dict[str, None] = {}  # in order, and asked quickly where there are thousands
    copies: dict[str, int] = {}
    for text in texts:
        short = cut(text, length)
        name, copy = short, copies.get(short, 2)
        while name in names:
            name, copy = f"{short} ({copy})", copy + 1
        names[name], copies[short] = None, copy
    return list(names)
