"""How near records of two files are to an original: the shares within every distance."""

from typing import Any

from sdckit._support.number_text import number, percent
from sdckit.charts.bars import nothing_to_draw
from sdckit.charts.theme import INK, ORIGINAL, PROTECTED, number_labels, rows, spoken, themed
from sdckit.data.result import Result

FILES = {"reference": "Real people to others", "synthetic": "Synthetic records"}  # the second on top


def closest_distances(result: Result) -> Any:
    """Two curves from the table `distances`; the line is the threshold, where the value is read off.

    A synthetic curve above that of real people: synthetic records are nearer to originals than people are
    to each other. Where it starts above 0 there are copies.
    """
    import altair as alt

    table = result.tables.get("distances")
    if table is None:
        raise nothing_to_draw(result)
    top = float(table["distance"][-1]) or 1.0
    points = [*table.rows(named=True), {**table.row(-1, named=True), "distance": top}]  # where all are copies
    data = [
        {
            "distance": float(f"{point['distance']:.3g}"),
            "share": round(point[column], 6),
            "file": file,
            "about": f"{file} within {number(point['distance'])}: {percent(point[column])}",
        }
        for column, file in FILES.items()
        for point in points
    ]
    x = alt.X(
        "distance:Q",
        title="distance to the closest original",
        # roots, because what matters is near 0
        scale=alt.Scale(type="sqrt", domain=[0, top], nice=False),
        axis=alt.Axis(grid=False, tickCount=6, labelExpr=number_labels(share=False)),
    )
    y = alt.Y(
        "share:Q",
        title="share of records within it",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(tickCount=5, labelExpr=number_labels(share=True)),
    )
    colours = alt.Scale(domain=list(FILES.values()), range=[ORIGINAL, PROTECTED])
    curves = (
        alt.Chart(rows(data))
        .mark_line(interpolate="step-after", strokeWidth=2, aria=False)
        .encode(x=x, y=y, color=alt.Color("file:N", scale=colours, legend=alt.Legend(symbolType="stroke")))
    )
    marks = alt.Chart(rows(data)).mark_circle(size=40, opacity=0).encode(x=x, y=y, **spoken())
    at = result.figures["threshold"]
    shares = percent(result.value), percent(result.figures["reference_share"])
    about = f"Within the threshold: {shares[0]} of synthetic records, {shares[1]} of real people"
    line = (
        alt.Chart(rows([{"distance": float(f"{at:.3g}"), "about": about}]))
        .mark_rule(color=INK, strokeDash=[4, 3])
        .encode(x=x, **spoken())
    )
    return themed(alt.layer(curves, marks, line).properties(width=460, height=200, title=about))
