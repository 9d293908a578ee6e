"""Robust distances of records against the limits of the test, over all strata and in each of them."""

from bisect import bisect_right
from itertools import pairwise
from math import inf, log
from typing import Any

import polars as pl

from sdckit._support.number_text import count_records, number, percent
from sdckit.charts.bars import nothing_to_draw
from sdckit.charts.heatmap import PALE
from sdckit.charts.theme import (
    INK,
    ORIGINAL,
    PROTECTED,
    QUIET,
    WARNING,
    number_labels,
    row_names,
    rows,
    spoken,
    themed,
)
from sdckit.data.result import Result

MOST = 20
WIDTH = 430
AXIS = "distance, in multiples of the individual limit"
FIT = ("kept in the fit", "trimmed")


def robust_distances(result: Result) -> Any:
    """Records by their distance in multiples of their own individual limit, above the strata one by one.

    Drawn from the tables `distances`, `components` and `strata` of `atypical_records`: no record is a mark of
    its own. In the lower part the darkness says which share of a stratum lies where, a tick where the
    simultaneous limit of its largest component is, and bars which share is atypical. Of more than 20 strata
    those with the largest shares are shown.
    """
    import altair as alt

    table = result.tables.get("distances")
    if table is None or table.is_empty():
        raise nothing_to_draw(result)
    edges = [*table["from"].unique().sort().to_list(), inf]
    panels = [_all(table, edges)]
    strata = result.tables["strata"].filter(pl.col("why") == "").sort("share", descending=True)
    if strata.height > 1:
        shown = strata.head(MOST)
        names = dict(zip(shown["stratum"], row_names(shown["stratum"].to_list(), 46), strict=True))
        told = f"The {MOST} of {strata.height:,} strata with most" if strata.height > MOST else "Each stratum"
        panels.append(
            alt.hconcat(_strips(result, edges, names, told), _shares(shown, names), spacing=12).resolve_scale(
                color="independent"
            )
        )
    return themed(alt.vconcat(*panels, spacing=24).resolve_scale(color="independent"))


def _axis(edges: list[float]) -> Any:
    """Bins of equal width, with their edges as labels."""
    import altair as alt

    texts = [f"{edge:g}" for edge in edges[:-1]] + ["∞"]
    return alt.X(
        "from:Q",
        title=AXIS,
        scale=alt.Scale(domain=[0, len(edges) - 1], nice=False),
        axis=alt.Axis(
            values=list(range(len(edges))), labelExpr=f"{texts}[datum.value]", grid=False, labelOverlap=False
        ),
    )


def _limit(edges: list[float], *, text: bool) -> Any:
    """The line of the individual limit."""
    import altair as alt

    line = alt.Chart(rows([{"from": edges.index(1.0), "text": "individual limit"}])).encode(x=_axis(edges))
    rule = line.mark_rule(color=INK, strokeDash=[4, 3])
    if not text:
        return rule
    words = line.mark_text(align="left", dx=5, fontSize=11, color=INK, aria=False)
    return rule + words.encode(y=alt.value(8), text=alt.Text("text:N"))


def _all(table: pl.DataFrame, edges: list[float]) -> Any:
    import altair as alt

    counts = table.group_by("from").agg(pl.col("kept", "trimmed").sum()).sort("from")
    data = []
    for place, (low, kept, trimmed) in enumerate(counts.rows()):
        for which, records, before in ((FIT[0], kept, 0), (FIT[1], trimmed, kept)):
            about = f"{_span(low, edges)} the limit, {which}: {count_records(records)}"
            bar = {"from": place, "to": place + 1, "low": before, "high": before + records}
            data.append({**bar, "which": which, "about": about})
    bars = (
        alt.Chart(rows(data))
        .mark_rect(stroke="white", strokeWidth=1)
        .encode(
            x=_axis(edges),
            x2=alt.X2("to:Q"),
            y=alt.Y(
                "low:Q", title="records", axis=alt.Axis(tickCount=4, labelExpr=number_labels(share=False))
            ),
            y2=alt.Y2("high:Q"),
            color=alt.Color("which:N", scale=alt.Scale(domain=list(FIT), range=[ORIGINAL, PROTECTED])),
            **spoken(),
        )
    )
    records = sum(kept + trimmed for _, kept, trimmed in counts.rows())
    title = alt.TitleParams(
        f"Robust distances of {count_records(records)}",
        subtitle="right of the line a record is atypical if the test rejects its component as a whole",
    )
    return alt.layer(bars, _limit(edges, text=True)).properties(width=WIDTH, height=150, title=title)


def _strips(result: Result, edges: list[float], names: dict[str, str], told: str) -> Any:
    import altair as alt

    table = result.tables["distances"].filter(pl.col("stratum").is_in(list(names)))
    table = table.with_columns((pl.col("kept") + pl.col("trimmed")).alias("records"))
    share = pl.col("records") / pl.col("records").sum().over("stratum")
    data = [
        {
            "name": names[stratum],
            "from": edges.index(low),
            "to": edges.index(low) + 1,
            "share": part,
            "about": f"{stratum}: {_span(low, edges)} the limit {percent(part)}, {count_records(records)}",
        }
        for stratum, low, records, part in table.select(
            "stratum", "from", "records", share.alias("part")
        ).rows()
    ]
    order = list(names.values())
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(ticks=False, domain=False, grid=False))
    strips = (
        alt.Chart(rows(data))
        .mark_rect(stroke="white", strokeWidth=1)
        .encode(
            x=_axis(edges),
            x2=alt.X2("to:Q"),
            y=y,
            color=alt.Color(
                "share:Q",
                scale=alt.Scale(type="sqrt", domainMin=0, range=[PALE, PROTECTED], interpolate="lab"),
                legend=None,
            ),
            **spoken(),
        )
    )
    ticks = (
        alt.Chart(rows(_simultaneous(result, edges, names)))
        .mark_tick(color=WARNING, thickness=2, size=14)
        .encode(x=_axis(edges), y=y, tooltip=alt.Tooltip("about:N", title=" "))
    )
    title = alt.TitleParams(
        f"{told}: where its records lie", subtitle="orange: the simultaneous limit of its largest component"
    )
    return alt.layer(strips, _limit(edges, text=False), ticks).properties(
        width=WIDTH, height=alt.Step(20), title=title
    )


def _simultaneous(result: Result, edges: list[float], names: dict[str, str]) -> list[dict[str, Any]]:
    """Where the simultaneous limit of trimmed records is, in individual limits."""
    table = result.tables["components"].filter((pl.col("component") == 1) & (pl.col("limit_trimmed") > 0))
    found = []
    for row in table.filter(pl.col("stratum").is_in(list(names))).iter_rows(named=True):
        times = row["simultaneous_trimmed"] / row["limit_trimmed"]
        about = f"{row['stratum']}: simultaneous limit at {number(times)} times the individual one"
        found.append({"name": names[row["stratum"]], "from": _place(times, edges), "about": about})
    return found


def _place(times: float, edges: list[float]) -> float:
    """Where a multiple above 1 lies on the axis: within its bin by its logarithm."""
    place = min(bisect_right(edges, times), len(edges) - 1) - 1
    low, high = edges[place], edges[place + 1]
    return place + (log(times / low) / log(high / low) if high < inf else 0.5)


def _shares(strata: pl.DataFrame, names: dict[str, str]) -> Any:
    import altair as alt

    data = [
        {
            "name": names[stratum],
            "share": share,
            "text": percent(share),
            "about": f"{stratum}: {number(atypical)} of {count_records(records)} atypical",
        }
        for stratum, share, atypical, records in strata.select(
            "stratum", "share", "atypical", "records"
        ).rows()
    ]
    top = max(max(row["share"] for row in data), 0.01)
    base = alt.Chart(rows(data)).encode(
        x=alt.X("share:Q", title=None, scale=alt.Scale(domain=[0, 1.5 * top]), axis=None),
        y=alt.Y("name:N", sort=list(names.values()), axis=None),
    )
    bars = base.mark_bar(color=WARNING, opacity=0.8, height=12).encode(**spoken())
    texts = base.mark_text(align="left", dx=4, fontSize=11, color=QUIET, aria=False).encode(
        text=alt.Text("text:N")
    )
    title = alt.TitleParams("Atypical", subtitle="share of its records")
    return alt.layer(bars, texts).properties(width=120, height=alt.Step(20), title=title)


def _span(low: float, edges: list[float]) -> str:
    high = dict(pairwise(edges))[low]
    return f"{low:g} to {high:g} times" if high < inf else f"over {low:g} times"
