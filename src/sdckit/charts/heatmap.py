"""A heat map of signed numbers: one panel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sdckit.charts.theme import INK, PROTECTED, WARNING, rows, spoken

PALE = "#f5f7fa"
WRITTEN = 10  # with more columns than this, cells carry no number


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: where it stands, its number, the number as it is written, and what a pointer shows."""

    row: str
    column: str
    value: float
    text: str
    about: str


def heatmap(
    cells: Sequence[Cell],
    row_names: Sequence[str],
    column_names: Sequence[str],
    *,
    title: Any,
    top: float,
    row_labels: bool = True,
    row_title: str | None = None,
    column_title: str | None = None,
    room: int = 250,
) -> Any:
    """Cells from −top (orange) over 0 (pale) to top (blue), without the look of a whole chart."""
    import altair as alt

    step = max(16, min(64, room // max(len(column_names), 1)))
    data = [
        {
            "row": c.row,
            "column": c.column,
            "value": c.value,
            "text": c.text,
            "about": c.about,
            "strong": abs(c.value) > 0.6 * top,
        }
        for c in cells
    ]
    quiet: dict[str, Any] = {"ticks": False, "domain": False, "grid": False, "labelLimit": 150}
    turned = 0 if step * len(column_names) > 7 * sum(map(len, column_names)) else -40
    base = alt.Chart(rows(data)).encode(
        x=alt.X(
            "column:N",
            sort=list(column_names),
            title=column_title,
            scale=alt.Scale(domain=list(column_names)),
            axis=alt.Axis(labelAngle=turned, **quiet),
        ),
        y=alt.Y(
            "row:N",
            sort=list(row_names),
            title=row_title,
            scale=alt.Scale(domain=list(row_names)),
            axis=alt.Axis(labels=row_labels, **quiet),
        ),
    )
    colours = alt.Scale(
        domain=[-(top or 1.0), 0, top or 1.0], range=[WARNING, PALE, PROTECTED], interpolate="lab"
    )
    tiles = base.mark_rect(stroke="white", strokeWidth=1.5).encode(
        color=alt.Color("value:Q", scale=colours, legend=None),
        **spoken(),
    )
    layers = [tiles]
    if len(column_names) <= WRITTEN:
        ink = alt.condition("datum.strong", alt.value("white"), alt.value(INK))
        layers.append(base.mark_text(fontSize=10, aria=False).encode(text=alt.Text("text:N"), color=ink))
    return alt.layer(*layers).properties(
        width=step * len(column_names), height=max(20, min(step, 30)) * len(row_names), title=title
    )
