"""Bars of the same numbers before and after protection."""

from collections.abc import Sequence
from typing import Any

from sdckit._support.number_text import display, round_marks
from sdckit.charts.theme import FILES, INK, file_colours, number_labels, row_names, rows, spoken, themed


def before_after(
    labels: Sequence[str],
    before: Sequence[float],
    after: Sequence[float],
    *,
    axis: str = "",
    share: bool = True,
    own_scales: bool = False,
    texts: Sequence[tuple[str, str]] | None = None,
    width: int = 560,
) -> Any:
    """Two bars a row, the original in grey above the protected file in colour.

    `own_scales` draws every pair relative to its larger bar, for rows whose numbers are not comparable.
    `texts` replaces the numbers written beside the bars, (before, after) a row.
    """
    import altair as alt

    shown = texts or [
        (display(b, share=share), display(a, share=share)) for b, a in zip(before, after, strict=True)
    ]
    names = row_names(labels, 48)
    tallest = [(max(b, a) or 1.0) if own_scales else 1.0 for b, a in zip(before, after, strict=True)]
    data: list[dict[str, Any]] = [
        {
            "name": names[i],
            "file": file,
            "value": values[i] / tallest[i],
            "text": shown[i][j],
            "about": f"{label}, {file.lower()}: {shown[i][j]}",
        }
        for i, label in enumerate(labels)
        for j, (file, values) in enumerate(zip(FILES, (before, after), strict=True))
    ]
    top = 1.15 * max(d["value"] for d in data) or 1.0
    y = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False, labelFontSize=12))
    numbers = (
        None
        if own_scales
        else alt.Axis(values=round_marks(0, top / 1.15, 5), labelExpr=number_labels(share=share))
    )
    x = alt.X("value:Q", title=axis, scale=alt.Scale(domain=[0, top], nice=False), axis=numbers)
    base = alt.Chart(rows(data)).encode(
        y=y, yOffset=alt.YOffset("file:N", sort=None, scale=alt.Scale(paddingInner=0.12))
    )
    bars = base.mark_bar(cornerRadiusEnd=2).encode(
        x=x,
        color=alt.Color("file:N", scale=file_colours()),
        **spoken(),
    )
    text = base.mark_text(align="left", dx=5, color=INK, fontSize=11, aria=False).encode(
        x=x, text=alt.Text("text:N")
    )
    return themed((bars + text).properties(width=width, height=alt.Step(17)))
