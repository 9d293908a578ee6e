"""Where two distribution functions differ, one curve a variable."""

from typing import Any

import polars as pl

from sdckit._support.number_text import coarse, percent, short
from sdckit.charts.bars import nothing_to_draw
from sdckit.charts.theme import PROTECTED, QUIET, WARNING, cut, number_labels, rows, themed
from sdckit.data.result import Result

MOST = 6
KINDS = ("Records", "Population (weighted)")
OUTER = 0.02  # of the points at either end are left out: the tails belong to few records


def ecdf_curves(result: Result, *, variables: int = MOST) -> Any:
    """The share at or below each value in the original minus that in the protected file, from `curve`.

    Above 0 the original has more small values: the protected file has moved up. One variable a panel, those
    with the largest differences; all panels have the same height, so that they can be compared.
    """
    import altair as alt

    curve = result.tables.get("curve")
    if curve is None or result.parts is None:
        raise nothing_to_draw(result)
    order = result.parts.sort("du_max", descending=True, maintain_order=True)["variable"][:variables]
    curve = curve.filter(pl.col("variable").is_in(order.implode()))
    weighted = not curve["difference"].equals(curve["weighted_difference"])
    columns = ["difference", "weighted_difference"][: 1 + weighted]
    top = max([1e-4, *(abs(v) for c in columns for v in curve[c])]) * 1.1
    charts = [_one(name, curve.filter(pl.col("variable") == name), columns, top) for name in order]
    title = alt.TitleParams("Share at or below a value: original − protected", fontWeight="normal", offset=6)
    panels = alt.concat(*charts, columns=2 if len(charts) > 1 else 1, spacing=24, title=title)
    return themed(panels.resolve_scale(color="shared"))


def _one(name: str, curve: pl.DataFrame, columns: list[str], top: float) -> Any:
    import altair as alt

    outer = int(OUTER * curve.height)
    curve = curve.slice(outer, curve.height - 2 * outer)
    at = coarse(curve["value"].to_list())
    data = [
        {
            "at": x,
            "difference": round(d, 6),
            "kind": kind,
            "about": f"at or below {short(x)}: {percent(abs(d))} {'less' if d > 0 else 'more'} than before",
        }
        for kind, column in zip(KINDS, columns, strict=False)
        for x, d in zip(at, curve[column], strict=True)
    ]
    x_axis = alt.Axis(tickCount=5, grid=False, labelExpr=number_labels(share=False))
    scale = alt.Scale(
        domain=[min(at), max(at)] if max(at) > min(at) else alt.Undefined, nice=False, zero=False
    )
    kinds = alt.Scale(domain=list(KINDS[: len(columns)]), range=[PROTECTED, WARNING][: len(columns)])
    line = (
        alt.Chart(rows(data))
        .mark_line(interpolate="step-after", strokeWidth=1.8, clip=True, point=len(at) == 1)
        .encode(
            x=alt.X("at:Q", title=None, scale=scale, axis=x_axis),
            y=alt.Y(
                "difference:Q",
                title=None,
                scale=alt.Scale(domain=[-top, top], nice=False),
                axis=alt.Axis(tickCount=5, labelExpr=number_labels(share=True)),
            ),
            color=alt.Color(
                "kind:N", scale=kinds, legend=alt.Legend(symbolType="stroke") if len(columns) > 1 else None
            ),
            tooltip=alt.Tooltip("about:N", title=" "),
        )
    )
    zero = (
        alt.Chart(rows([{"zero": 0}]))
        .mark_rule(color=QUIET, strokeWidth=1, aria=False)
        .encode(y=alt.Y("zero:Q"))
    )
    return alt.layer(zero, line).properties(width=330, height=130, title=cut(name, 60))
