"""A histogram before and after, from shares per bin."""

import json
from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import Any

from sdckit._support.number_text import percent, short
from sdckit.charts.theme import FILES, file_colours, number_labels, rows, spoken, themed


def histogram(
    edges: Sequence[float],
    before: Sequence[float],
    after: Sequence[float],
    *,
    title: str,
    labels: Sequence[str] = (),
    width: int = 420,
    height: int = 170,
) -> Any:
    """Shares per bin: the original as grey bars, the protected file as a coloured outline.

    `edges` are the inner bin limits: n edges make n + 1 bins, the first and last open, so that neither the
    smallest nor the largest value is shown. Bins are drawn equally wide and named by their limits, or by
    `labels`, one a bin, where they are categories.
    """
    import altair as alt

    names = labels or bin_names(edges)
    data = [
        {
            "from": i,
            "to": i + 1,
            "zero": 0,
            "file": FILES[0],
            "before": b,
            "after": a,
            "about": f"{name}: original {percent(b)}, protected {percent(a)}",
        }
        for i, (name, b, a) in enumerate(zip(names, before, after, strict=True))
    ]
    outline = [{"at": i, "after": a, "file": FILES[1]} for i, a in enumerate([*after, after[-1]])]
    x_axis = _label_axis(labels) if labels else _limit_axis(edges)
    scale = alt.Scale(domain=[0, len(names)], nice=False)
    # some room on top: a label at the very top would push the panel down beside others
    height_scale = alt.Scale(domain=[0, 1.08 * max([*before, *after]) or 1.0], nice=False)
    y = alt.Y(
        "before:Q",
        title=None,
        scale=height_scale,
        axis=alt.Axis(tickCount=4, labelExpr=number_labels(share=True)),
    )
    colour = file_colours()
    bars = (
        alt.Chart(rows(data))
        .mark_rect(opacity=0.55, stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("from:Q", axis=x_axis, scale=scale),
            x2=alt.X2("to:Q"),
            y=y,
            y2=alt.Y2("zero:Q"),
            color=alt.Color("file:N", scale=colour),
            **spoken(),
        )
    )
    line = (
        alt.Chart(rows(outline))
        .mark_line(interpolate="step-after", strokeWidth=2, aria=False)
        .encode(x=alt.X("at:Q"), y=alt.Y("after:Q"), color=alt.Color("file:N", scale=colour))
    )
    return themed((bars + line).properties(width=width, height=height, title=title))


def _limit_axis(edges: Sequence[float]) -> Any:
    """Limits between the bins, at most about eight."""
    import altair as alt

    every = ceil(len(edges) / 8) if edges else 1
    ticks = list(range(1, len(edges) + 1, every))
    texts = [short(edges[t - 1]) for t in ticks]
    place = f"{json.dumps(texts)}[(datum.value - 1) / {every}]"
    return alt.Axis(values=ticks, grid=False, title=None, labelExpr=place, labelFlush=False)


def _label_axis(labels: Sequence[str]) -> Any:
    """A label under the middle of every bin."""
    import altair as alt

    middles = [i + 0.5 for i in range(len(labels))]
    return alt.Axis(
        values=middles,
        grid=False,
        ticks=False,
        title=None,
        labelExpr=f"{json.dumps(list(labels))}[datum.value - 0.5]",
        labelOverlap=False,
        labelFlush=False,
    )


def bin_names(edges: Sequence[float]) -> list[str]:
    """The bins in words, the outer ones open.

    >>> bin_names([10, 20])
    ['below 10', '10 to 20', '20 and more']
    """
    if not edges:
        return ["all values"]
    inner = [f"{short(a)} to {short(b)}" for a, b in pairwise(edges)]
    return [f"below {short(edges[0])}", *inner, f"{short(edges[-1])} and more"]
