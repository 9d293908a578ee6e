"""Box plots and correlations of the numbers, before and after."""

from typing import Any

from sdckit.charts.bars import nothing_to_draw
from sdckit.charts.box_plots import box_plots
from sdckit.charts.correlation_heatmaps import correlation_heatmaps
from sdckit.charts.theme import themed, unthemed
from sdckit.data.result import Result
from sdckit.errors import SdcError


def moment_change(result: Result) -> Any:
    """What `box_plots` and `correlation_heatmaps` draw, as far as there is something to draw."""
    import altair as alt

    charts = []
    for draw in (box_plots, correlation_heatmaps):
        try:
            charts.append(unthemed(draw(result)))
        except SdcError:  # one variable has no correlations; other probabilities make no box
            continue
    if not charts:
        raise nothing_to_draw(result)
    return themed(alt.vconcat(*charts, spacing=28))
