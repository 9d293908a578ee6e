"""Propensity scores of both files."""

from collections.abc import Sequence
from typing import Any

from sdckit._support.number_text import percent
from sdckit.charts.bars import nothing_to_draw
from sdckit.charts.theme import FILES, INK, file_colours, number_labels, rows, spoken, themed
from sdckit.data.result import Result


def score_densities(result: Result) -> Any:
    """The distribution of the scores in each file, from the table `scores`; overlap is good.

    A record's score is the probability, by the model, that it is a protected one. Shares per bin are
    smoothed over three neighbours (¼, ½, ¼). The line marks the share of protected records: where all scores
    are when the model cannot tell the files apart.
    """
    import altair as alt

    table = result.tables.get("scores")
    if table is None:
        raise nothing_to_draw(result)
    low, high = float(table["from"][0]), float(table["to"][-1])
    step = (high - low) / table.height
    data = []
    for file, column in zip(FILES, ("original", "protected"), strict=True):
        shares = _smooth(table[column].to_list())
        middles = [low + (i - 0.5) * step for i in range(len(shares))]
        data += [
            {"score": round(min(max(m, low), high), 6), "share": round(s, 6), "file": file}
            for m, s in zip(middles, shares, strict=True)
        ]
    x = alt.X(
        "score:Q",
        title="propensity score: probability of being a protected record",
        scale=alt.Scale(domain=[low, high], nice=False, zero=False),
        axis=alt.Axis(grid=False, tickCount=8),
    )
    y = alt.Y(
        "share:Q",
        title="share of the file",  # weighted, where it has weights
        axis=alt.Axis(tickCount=4, labelExpr=number_labels(share=True)),
        stack=None,
    )
    areas = (
        alt.Chart(rows(data))
        .mark_area(opacity=0.35, interpolate="monotone", line={"strokeWidth": 2, "opacity": 1}, aria=False)
        .encode(x=x, y=y, color=alt.Color("file:N", scale=file_colours()))
    )
    layers = [areas]
    share = result.figures.get("share_protected")
    if share is not None and low <= share <= high:
        about = f"{percent(share)} of all records are protected ones: every score, if nothing gives them away"
        mark = rows([{"score": share, "about": about}])
        layers.append(
            alt.Chart(mark).mark_rule(color=INK, strokeDash=[4, 3]).encode(x=alt.X("score:Q"), **spoken())
        )
    return themed(alt.layer(*layers).properties(width=560, height=200))


def _smooth(shares: Sequence[float]) -> list[float]:
    """Each share with its neighbours, and one bin more at either end; the sum stays the same."""
    wide = [0.0, 0.0, *shares, 0.0, 0.0]
    return [(wide[i - 1] + 2 * wide[i] + wide[i + 1]) / 4 for i in range(1, len(wide) - 1)]
