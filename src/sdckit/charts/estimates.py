"""Points with intervals: estimates before and after protection."""

from math import isfinite
from typing import Any

import polars as pl

from sdckit._support.number_text import number, round_marks
from sdckit.charts.theme import (
    FILES,
    GRID,
    cut,
    file_colours,
    number_labels,
    row_names,
    rows,
    themed,
    unthemed,
)
from sdckit.data.result import Result
from sdckit.errors import SdcError

MOST = 24  # rows in one picture, those with the smallest overlap first


def estimates(result: Result, *, width: int = 420) -> Any:
    """Point and interval of each estimate, the original in grey above the protected file in colour.

    `result` is of `indicators` or `regression`. Every indicator has a panel with its own axis, since a mean
    of money and a Gini coefficient cannot share one. Coefficients are drawn as their distance from the
    original, in its standard errors, so that large ones do not hide small ones.
    """
    import altair as alt

    if result.parts is None or not result.parts.height:
        raise SdcError("There are no estimates to draw.", hint="See the notes of the result.")
    panels = _panels(result.parts)
    drawn = [_panel(title, part, width) for title, part in panels]
    return themed(alt.vconcat(*[unthemed(p) for p in drawn], spacing=18).resolve_scale(color="shared"))


def _panels(parts: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """One panel an indicator and variable, or one for all coefficients; at most 24 rows in all."""
    worst = parts.with_row_index("place").sort("overlap_clipped", nulls_last=False).head(MOST).sort("place")
    if "indicator" not in parts.columns:
        error = pl.col("variance_original").sqrt()
        scaled = worst.with_columns(
            pl.col("term").alias("row"),
            centre=pl.col("estimate_original"),
            unit=pl.when(error > 0).then(error),
        )
        return [("Coefficients", scaled.with_columns(pl.col("unit").fill_null(1.0)))]
    groups = worst.group_by(["indicator", "variable"], maintain_order=True)
    return [
        (
            f"{indicator} of {variable}",
            part.with_columns(pl.col("domain").alias("row"), centre=pl.lit(0.0), unit=pl.lit(1.0)),
        )
        for (indicator, variable), part in groups
    ]


def _panel(title: str, part: pl.DataFrame, width: int) -> Any:
    import altair as alt

    labels = row_names([str(label) for label in part["row"]])
    data: list[dict[str, Any]] = []
    for name, line in zip(labels, part.to_dicts(), strict=True):
        for file in FILES:
            value, low, high = (line[f"{key}_{file.lower()}"] for key in ("estimate", "low", "high"))
            if value is None or not isfinite(value):
                continue
            low, high = (value if v is None or not isfinite(v) else v for v in (low, high))
            about = f"{line['row']}, {file.lower()}: {number(value)} ({number(low)} to {number(high)})"
            if file == FILES[1]:
                about += f". {line['verdict'].capitalize()}"
            drawn = {"value": value, "low": low, "high": high}
            placed = {key: (v - line["centre"]) / line["unit"] for key, v in drawn.items()}
            data.append({"name": name, "file": file, "about": about, **placed})
    left, right = min(d["low"] for d in data), max(d["high"] for d in data)
    room = 0.04 * ((right - left) or abs(right) or 1.0)
    axis = "distance from the original, in its standard errors" if "term" in part.columns else None
    names = alt.Axis(ticks=False, domain=False, labelFontSize=11)
    scale = alt.Scale(domain=[left - room, right + room], nice=False)
    marks = alt.Axis(values=round_marks(left - room, right + room, 5), labelExpr=number_labels(share=False))
    base = alt.Chart(rows(data)).encode(
        y=alt.Y("name:N", sort=labels, title=None, axis=names),
        yOffset=alt.YOffset("file:N", sort=list(FILES), scale=alt.Scale(paddingOuter=0.5)),
        color=alt.Color("file:N", scale=file_colours()),
    )
    look: dict[str, Any] = {
        "tooltip": alt.Tooltip("about:N", title=" "),
        "description": alt.Description("about:N"),
    }
    line = base.mark_rule(strokeWidth=2, aria=False).encode(
        x=alt.X("low:Q", title=axis, scale=scale, axis=marks), x2=alt.X2("high:Q")
    )
    point = base.mark_point(filled=True, size=55, opacity=1).encode(x=alt.X("value:Q", scale=scale), **look)
    layers = [line, point]
    if left < 0 < right:
        zero = alt.Chart(rows([{"value": 0.0}])).mark_rule(color=GRID, strokeWidth=2, aria=False)
        layers.insert(0, zero.encode(x=alt.X("value:Q", scale=scale)))
    return themed(alt.layer(*layers).properties(width=width, height=alt.Step(13), title=cut(title, 60)))
