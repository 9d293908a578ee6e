"""Records by class of a number, as bars side by side."""

from collections.abc import Sequence
from typing import Any

from sdckit._support.number_text import number
from sdckit.charts.theme import WARNING, number_labels, rows, spoken


def record_classes(classes: Sequence[tuple[str, str, int]], *, of: str, title: str) -> Any:
    """`classes`: from, to (as text) and records of each; `of` names the number."""
    import altair as alt

    data = [
        {
            "name": f"{low} to {high}",
            "records": records,
            "about": f"{of} {low} to below {high}: {number(records)} records",
        }
        for low, high, records in classes
    ]
    counts = alt.Axis(tickMinStep=1, tickCount=4, labelExpr=number_labels(share=False))
    return (
        alt.Chart(rows(data))
        .mark_bar(color=WARNING, opacity=0.8)
        .encode(
            x=alt.X("name:N", sort=None, title=of, axis=alt.Axis(labelAngle=-40, grid=False)),
            y=alt.Y("records:Q", title="records", axis=counts),
            **spoken(),
        )
        .properties(width=420, height=170, title=title)
    )
