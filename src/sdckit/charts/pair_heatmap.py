"""All pairs of variables: how well a synthesis keeps their tables."""

from typing import Any

from sdckit._support.number_text import number
from sdckit.charts.bars import nothing_to_draw
from sdckit.charts.heatmap import Cell, heatmap
from sdckit.charts.theme import row_names, themed
from sdckit.data.result import Result

MOST = 24  # variables
TOP = 10.0  # from here on a relation is poorly kept, and the colour is full


def pair_heatmap(result: Result) -> Any:
    """The S_pMSE of every pair from `parts`, that of single variables on the diagonal.

    Pale is what a correct synthesis gives or less, full orange ten times as much or more. Of more than 24
    variables those that are in the worst pairs are shown.
    """
    import altair as alt

    if result.parts is None or "pmse_ratio" not in result.parts.columns:
        raise nothing_to_draw(result)
    found = result.parts.select("variable", "with", "pmse_ratio").drop_nulls("pmse_ratio").rows()
    rows = [(a, a if b is None else b, float(value)) for a, b, value in found]
    if not rows:
        raise nothing_to_draw(result)
    worst: dict[str, float] = {}
    for a, b, value in rows:
        for name in (a, b):
            worst[name] = max(worst.get(name, 0.0), value)
    shown = sorted(worst, key=lambda name: -worst[name])[:MOST]
    names = [name for name in worst if name in shown]
    texts = dict(zip(names, row_names(names, 18), strict=True))
    cells = [
        Cell(texts[b], texts[a], -min(value, TOP), number(round(value, 1)), _about(a, b, value))
        for a, b, value in rows
        if a in texts and b in texts
    ]
    told = "times what a correct synthesis gives; single variables on the diagonal"
    if len(worst) > MOST:
        told += f"; the {MOST} worst of {len(worst)} variables"
    ticks = list(texts.values())
    title = alt.TitleParams("Tables of two variables", subtitle=told)
    return themed(heatmap(cells, ticks, ticks, title=title, top=TOP, room=480))


def _about(a: str, b: str, value: float) -> str:
    return f"{a if a == b else f'{a}, {b}'}: {number(round(value, 2))}"
