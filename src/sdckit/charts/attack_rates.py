"""How often attacks succeed on the people in a synthetic file and on other people."""

from math import isfinite
from typing import Any

from sdckit._support.number_text import percent, round_marks
from sdckit.charts.bars import nothing_to_draw
from sdckit.charts.theme import (
    GRID,
    ORIGINAL,
    WARNING,
    cut,
    number_labels,
    row_names,
    rows,
    spoken,
    themed,
)
from sdckit.data.result import Result

MOST = 20  # rows in one picture, the largest risks first
PEOPLE = ("People in the file", "Other people")


def attack_rates(result: Result) -> Any:
    """Two points a row, joined by a line: attacks that succeed on people in the file, and on others.

    A row is a kind of attack, or the variable that was guessed (first column of `parts`), the largest risk on
    top. A file that tells no more of its people than of others has the points on each other. The text of a
    point has the risk, (in the file − others)/(1 − others), and its 95 % interval.
    """
    import altair as alt

    if result.parts is None or result.parts.is_empty():
        raise nothing_to_draw(result)
    lines = [line for line in result.parts.to_dicts() if isfinite(line["attack"])]
    lines.sort(key=lambda line: -line["risk"] if isfinite(line["risk"]) else 1.0)
    lines = lines[:MOST]
    labels = row_names([str(line[result.parts.columns[0]]) for line in lines])
    points, gaps = [], []
    for name, line in zip(labels, lines, strict=True):
        about = _about(name, line)
        rates = (line["attack"], line["control"])
        points += [
            {"name": name, "people": who, "rate": rate, "about": about}
            for who, rate in zip(PEOPLE, rates, strict=True)
        ]
        gaps.append({"name": name, "from": min(rates), "to": max(rates)})
    top = min(1.0, 1.08 * max(point["rate"] for point in points) or 1.0)
    scale = alt.Scale(domain=[0, top], nice=False)
    marks = alt.Axis(values=round_marks(0, top, 5), labelExpr=number_labels(share=True))
    y = alt.Y("name:N", sort=labels, title=None, axis=alt.Axis(ticks=False, domain=False, labelFontSize=11))
    gap = (
        alt.Chart(rows(gaps))
        .mark_rule(color=GRID, strokeWidth=4, aria=False)
        .encode(x=alt.X("from:Q", scale=scale), x2=alt.X2("to:Q"), y=y)
    )
    point = (
        alt.Chart(rows(points))
        .mark_point(filled=True, size=80, opacity=0.9)
        .encode(
            x=alt.X("rate:Q", title="share of attacks that succeed", scale=scale, axis=marks),
            y=y,
            color=alt.Color("people:N", scale=alt.Scale(domain=list(PEOPLE), range=[WARNING, ORIGINAL])),
            **spoken(),
        )
    )
    return themed((gap + point).properties(width=360, height=alt.Step(24)))


def _about(name: str, line: dict[str, Any]) -> str:
    """What a row says: both shares, the risk and how sure it is."""
    said = f"{cut(name)}: {percent(line['attack'])} in the file, {percent(line['control'])} of other people"
    if not isfinite(line["risk"]):
        return said
    return f"{said}; risk {percent(line['risk'])} ({percent(line['low'])} to {percent(line['high'])})"
