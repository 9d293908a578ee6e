"""Several small risk–utility maps: the same scenarios and risks, another utility measure in each."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from textwrap import wrap
from typing import Any

import polars as pl

from sdckit._support.number_text import display
from sdckit.charts.risk_utility_map import log_constant, map_panel, not_measured
from sdckit.charts.theme import cut, themed

COLUMNS = 3
WIDTH, HEIGHT = 290, 230
LINE = 46  # letters of a title


@dataclass(frozen=True, slots=True)
class MapPanel:
    """One map: the title of its loss, its points as `risk_utility_map` takes them, whether it is a share."""

    title: str
    points: pl.DataFrame
    loss_is_share: bool = False


def risk_utility_multiples(
    panels: Sequence[MapPanel],
    *,
    original_risk: float,
    max_risk: float | None = None,
    risk_title: str = "Disclosure risk",
    risk_is_share: bool = True,
    log: bool | None = None,
    advice: str = "recommended",
) -> Any:
    """Maps side by side, three in a row, over one axis of risks; the front is that of each panel.

    Each panel has the original (a triangle), no release (a square), the accepted risk and, large and in bold,
    the best scenario, which is the same in all and of which `advice` is said.
    """
    import altair as alt

    risks = [original_risk, *(r for r in panels[0].points["risk"] if r is not None and isfinite(r))]
    drawn = []
    for panel in panels:
        chart = map_panel(
            panel.points,
            original_risk=original_risk,
            max_risk=max_risk,
            risk_title=None,
            loss_title=None,
            risk_is_share=risk_is_share,
            loss_is_share=panel.loss_is_share,
            log=log,
            width=WIDTH,
            height=HEIGHT,
        )
        lines = wrap(cut(panel.title, 2 * LINE), LINE)
        title = alt.TitleParams(lines, subtitle=not_measured(panel.points, LINE), fontSize=12)
        drawn.append(chart.properties(title=title))
    best = panels[0].points.filter("best")["scenario"].to_list()
    told = (
        f"{advice[:1].upper()}{advice[1:]}, large and in bold: {cut(best[0], 60)}"
        if best
        else "No scenario is recommended"
    )
    scale = ", log scale" if log_constant(risks, log) else ""
    axes = f"Upright: {cut(risk_title, 60)}{scale}. Across: information lost. Less is better on both."
    if max_risk is not None:
        axes += f" Green: at most the accepted risk of {display(max_risk, share=risk_is_share)}."
    together = alt.concat(*drawn, columns=COLUMNS, spacing=26)
    return themed(together.properties(title=alt.TitleParams(told, subtitle=axes, offset=12)))
