"""Correlations before and after, and their difference."""

from typing import Any

import polars as pl

from sdckit.charts.bars import nothing_to_draw
from sdckit.charts.heatmap import Cell, heatmap
from sdckit.charts.theme import FILES, row_names, themed
from sdckit.data.result import Result

MOST = 16  # variables
SMALL = 0.1  # differences are coloured as if one at least were this large


def correlation_heatmaps(result: Result) -> Any:
    """Three triangles from the table `correlation`: original, protected, and what was added or taken away.

    The first two are coloured from −1 to 1, the difference on a scale of its own of at least ±0.1. Of more
    than 16 variables those whose correlations changed most are shown.
    """
    import altair as alt

    table = result.tables.get("correlation")
    if table is None or not table.height:
        raise nothing_to_draw(result)
    table = table.with_columns((pl.col("protected") - pl.col("original")).alias("difference"))
    names = [*dict.fromkeys([*table["with"], *table["variable"]])]
    if len(names) > MOST:
        moved = dict.fromkeys(names, 0.0)
        for a, b, change in table.select("variable", "with", "difference").iter_rows():
            moved[a], moved[b] = moved[a] + abs(change), moved[b] + abs(change)
        kept = sorted(names, key=lambda n: -moved[n])[:MOST]
        names = [n for n in names if n in kept]
    texts = dict(zip(names, row_names(names, 18), strict=True))
    panels = []
    for title, column in zip((*FILES, "Difference"), ("original", "protected", "difference"), strict=True):
        cells = [
            Cell(
                texts[a],
                texts[b],
                value,
                _text(value, signed=column == "difference"),
                f"{a}, {b}: {_text(value)}",
            )
            for a, b, value in table.select("variable", "with", column).iter_rows()
            if a in texts and b in texts
        ]
        top = 1.0 if column != "difference" else max(SMALL, *(abs(c.value) for c in cells))
        told = "correlations" if column != "difference" else "protected − original"
        kept_rows, kept_columns = list(texts.values())[1:], list(texts.values())[:-1]
        panels.append(
            heatmap(
                cells,
                kept_rows,
                kept_columns,
                title=alt.TitleParams(title, subtitle=told),
                top=top,
                row_labels=column == "original",
            )
        )
    return themed(alt.hconcat(*panels, spacing=20).resolve_scale(color="independent", y="independent"))


def _text(value: float, *, signed: bool = False) -> str:
    """To two digits, to three where two would make it a whole 1 that it is not."""
    text = f"{value:+.2f}" if signed else f"{value:.2f}"
    if abs(float(text)) == 1 and abs(value) < 1 - 1e-9:
        text = f"{max(min(value, 0.999), -0.999):{'+' if signed else ''}.3f}"
    return ("0" if float(text) == 0 else text).replace("-", "−")
