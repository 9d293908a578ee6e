"""Which records are at risk, by how far they are from the bulk."""

from math import isinf
from typing import Any

from sdckit._support.number_text import count_records, number, percent
from sdckit.charts.bars import nothing_to_draw
from sdckit.charts.theme import INK, ORIGINAL, QUIET, WARNING, number_labels, rows, spoken, themed
from sdckit.data.result import Result

KINDS = {"at_risk": "At risk", "hidden": "Inside, but others are close by"}
TOP = 1.15  # room for the numbers above the bars


def outliers_at_risk(result: Result) -> Any:
    """Shares of the records in each class of robust distance, from the table `distances`.

    Distances are in multiples of the limit from which on a record is an outlier (the line); above each bar
    stands the number of records in the class.
    """
    import altair as alt

    table = result.tables.get("distances")
    if table is None:
        raise nothing_to_draw(result)
    classes = table.rows(named=True)
    bars, texts = _bars(classes)
    top = max(text["high"] for text in texts) or 1.0
    edges = [f"{row['from']:g}" for row in classes] + [_end(classes[-1]["to"])]
    x = alt.X(
        "from:Q",
        title="robust distance, in multiples of the limit of outliers",
        scale=alt.Scale(domain=[0, len(classes)], nice=False),
        axis=alt.Axis(
            values=list(range(len(edges))), labelExpr=f"{edges}[datum.value]", grid=False, labelOverlap=False
        ),
    )
    y = alt.Y(
        "low:Q",
        title="share of the records there",
        scale=alt.Scale(domain=[0, TOP * top], nice=False),
        axis=alt.Axis(tickCount=4, labelExpr=number_labels(share=True)),
    )
    colours = alt.Scale(domain=list(KINDS.values()), range=[WARNING, ORIGINAL])
    drawn = (
        alt.Chart(rows(bars))
        .mark_rect(opacity=0.85)
        .encode(
            x=x,
            x2=alt.X2("to:Q"),
            y=y,
            y2=alt.Y2("high:Q"),
            color=alt.Color("kind:N", scale=colours),
            **spoken(),
        )
    )
    written = (
        alt.Chart(rows(texts))
        .mark_text(dy=-7, fontSize=11, color=QUIET, aria=False)
        .encode(x=alt.X("at:Q"), y=alt.Y("high:Q"), text=alt.Text("text:N"))
    )
    layers = [drawn, written]
    if classes[-1]["to"] > 1:
        limit = alt.Chart(rows([{"from": edges.index("1")}]))
        layers.append(limit.mark_rule(color=INK, strokeDash=[4, 3], aria=False).encode(x=x))
    records = sum(row["records"] for row in classes)
    title = f"{percent(result.value)} of {count_records(records)} at risk; above the bars: records"
    return themed(alt.layer(*layers).properties(width=460, height=180, title=title))


def _bars(classes: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Two bars a class on top of each other, and the number above them."""
    bars, texts = [], []
    for i, row in enumerate(classes):
        n = row["records"]
        risky, hidden = (row[kind] / n if n else 0.0 for kind in KINDS)
        shares = f"{percent(risky)} at risk, {percent(hidden)} inside with others close by"
        about = f"{_name(row['from'], row['to'])} times the limit: {count_records(n)}, {shares}"
        for kind, low, high in zip(KINDS.values(), (0.0, risky), (risky, risky + hidden), strict=True):
            bar = {"from": i + 0.08, "to": i + 0.92, "low": low, "high": high}
            bars.append({**bar, "kind": kind, "about": about})
        texts.append({"at": i + 0.5, "high": risky + hidden, "text": number(n) if n else ""})
    return bars, texts


def _name(low: float, high: float) -> str:
    return f"over {low:g}" if isinf(high) else f"{low:g} to {high:g}"


def _end(high: float) -> str:
    return "∞" if isinf(high) else f"{high:g}"
