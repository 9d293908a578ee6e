"""Box plots of both files from quantiles."""

from typing import Any

import polars as pl

from sdckit._support.number_text import coarse, short
from sdckit.charts.bars import nothing_to_draw
from sdckit.charts.theme import FILES, INK, cut, file_colours, number_labels, rows, spoken, themed
from sdckit.data.result import Result

MOST = 8
PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)


def box_plots(result: Result, *, variables: int = MOST) -> Any:
    """A box a file and variable, from the table `quantiles` (of moments).

    The box runs from the lower to the upper quartile with the median in it, the whiskers from 5 to 95 %:
    no extreme value is shown, and the limits are rounded, since a quantile can be the value of a record.
    """
    import altair as alt

    table = result.tables.get("quantiles")
    if table is None or result.parts is None:
        raise nothing_to_draw(result)
    change = result.parts.select(
        "variable", pl.max_horizontal("mean_change", "variance_change").alias("change")
    )
    order = change.sort("change", descending=True, nulls_last=True, maintain_order=True)["variable"]
    charts = []
    for name in order[:variables]:
        own = table.filter((pl.col("variable") == name) & pl.col("probability").is_in(PROBABILITIES))
        if (
            own.height == len(PROBABILITIES)
            and own.select("original", "protected").null_count().sum_horizontal()[0] == 0
        ):
            charts.append(_one(name, own.sort("probability")))
    if not charts:
        raise nothing_to_draw(result)
    return themed(
        alt.concat(*charts, columns=2 if len(charts) > 1 else 1, spacing=24).resolve_scale(color="shared")
    )


def _one(name: str, quantiles: pl.DataFrame) -> Any:
    import altair as alt

    limits = coarse([*quantiles["original"], *quantiles["protected"]])
    data = []
    for file, q in zip(FILES, (limits[:5], limits[5:]), strict=True):
        told = f"{file}: half from {short(q[1])} to {short(q[3])}, median {short(q[2])}, "
        told += f"5 % below {short(q[0])}, 5 % above {short(q[4])}"
        data.append({"file": file, "about": told, **{f"q{i}": v for i, v in enumerate(q)}})
    low, high = min(limits), max(limits)
    room = 0.04 * (high - low) or abs(low) * 0.1 or 1.0
    scale = alt.Scale(domain=[low - room, high + room], nice=False, zero=False)
    axis = alt.Axis(tickCount=5, labelExpr=number_labels(share=False))
    base = alt.Chart(rows(data)).encode(
        y=alt.Y("file:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False, labels=False))
    )

    def between(a: str, b: str) -> Any:
        return {"x": alt.X(f"{a}:Q", title=None, scale=scale, axis=axis), "x2": f"{b}:Q"}

    whisker = base.mark_rule(color=INK, strokeWidth=1, aria=False).encode(**between("q0", "q4"))
    box = base.mark_bar(size=18, cornerRadius=2).encode(
        **between("q1", "q3"),
        color=alt.Color("file:N", scale=file_colours()),
        **spoken(),
    )
    ends = [
        base.mark_tick(color=INK, thickness=1, size=8, aria=False).encode(x=alt.X(f"{q}:Q"))
        for q in ("q0", "q4")
    ]
    median = base.mark_tick(color="white", thickness=2.5, size=18, aria=False).encode(x=alt.X("q2:Q"))
    return alt.layer(whisker, *ends, box, median).properties(width=330, height=64, title=cut(name, 60))
