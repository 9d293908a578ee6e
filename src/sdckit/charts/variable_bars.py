"""A measure taken apart: one bar a variable."""

from collections.abc import Sequence
from typing import Any

from sdckit._support.number_text import display, round_marks
from sdckit.charts.theme import INK, PROTECTED, number_labels, row_names, rows, spoken, themed


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
    text = base.mark_text(align="left", dx=5, color=INK, fontSize=11, aria=False).encode(x=x, text="text:N")
    return themed((bars + text).properties(width=width, height=alt.Step(20)))
