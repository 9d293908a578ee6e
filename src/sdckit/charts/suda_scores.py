"""The picture of a SUDA result: how many records score how much, and which keys make them unique."""

from typing import Any

from sdckit.charts.numbers import SPACE, percent, round_marks, short
from sdckit.charts.record_classes import record_classes
from sdckit.charts.theme import INK, PROTECTED, number_labels, row_names, rows, themed
from sdckit.result import Result


def suda_scores(result: Result) -> Any:
    """Records by score, in classes whose limits double, and the share of the score each key is part of."""
    import altair as alt

    return themed(alt.vconcat(_histogram(result), _keys(result), spacing=24).resolve_scale(x="independent"))


def _histogram(result: Result) -> Any:
    classes = [(short(low), short(high), records) for low, high, records in result.tables["scores"].rows()]
    title = f"Records with a SUDA score: {percent(result.value)} of all"
    return record_classes(classes, of="score", title=title)


def _keys(result: Result) -> Any:
    import altair as alt

    table = result.tables["contributions"].sort("contribution", descending=True)
    labels, values = table["key"].to_list(), table["contribution"].to_list()
    data = [
        {"name": name, "value": value, "text": percent(value), "about": f"{label}: {percent(value)}"}
        for name, label, value in zip(row_names(labels, 30), labels, values, strict=True)
    ]
    top = max([*values, 0.0]) or 1.0
    base = alt.Chart(rows(data)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False)),
        x=alt.X(
            "value:Q",
            title=f"part in the total score (adds to more than 100{SPACE}%)",
            scale=alt.Scale(domain=[0, 1.2 * top], nice=False),
            axis=alt.Axis(values=round_marks(0, top, 4), labelExpr=number_labels(share=True)),
        ),
    )
    bars = base.mark_bar(color=PROTECTED, cornerRadiusEnd=2).encode(
        tooltip=alt.Tooltip("about:N", title=" "), description=alt.Description("about:N")
    )
    text = base.mark_text(align="left", dx=5, color=INK, fontSize=11, aria=False).encode(text="text:N")
    return (bars + text).properties(width=420, height=alt.Step(20), title="Keys that make records unique")
