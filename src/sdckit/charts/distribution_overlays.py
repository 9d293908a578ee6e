"""Histograms of both files laid over each other, one a variable."""

from typing import Any

import numpy as np
import polars as pl

from sdckit._support.number_text import coarse, round_marks
from sdckit.charts.bars import nothing_to_draw
from sdckit.charts.histogram import histogram
from sdckit.charts.theme import cut, themed, unthemed
from sdckit.data.result import Result

MOST = 6
BINS = 18


def distribution_overlays(result: Result, *, variables: int = MOST) -> Any:
    """Histograms of the variables whose distribution moved most, from the table `bins`.

    `bins` is cut at quantiles, which can be values of records. The shares are carried over to round limits
    along the straight line between the points of each distribution function; the outer bins stay open.
    """
    import altair as alt

    table = result.tables.get("bins")
    if table is None or result.parts is None:
        raise nothing_to_draw(result)
    order = result.parts.sort("kolmogorov_smirnov", descending=True, maintain_order=True)["variable"]
    charts = [_one(name, table.filter(pl.col("variable") == name)) for name in order[:variables]]
    return themed(
        alt.concat(*charts, columns=2 if len(charts) > 1 else 1, spacing=24).resolve_scale(color="shared")
    )


def _one(name: str, bins: pl.DataFrame) -> Any:
    cuts = bins["to"].drop_nulls().to_numpy()
    files = [bins["original"].to_numpy(), bins["protected"].to_numpy()]
    edges = round_marks(cuts[0], cuts[-1], min(BINS, len(cuts))) if len(cuts) > 1 else []
    if len(edges) < 2:
        edges, at = sorted({*coarse(cuts.tolist())}), cuts
        at = at[: len(edges)]
    else:
        at = np.array(edges)
    shares = [_shares(cuts, share, at) for share in files]
    return unthemed(histogram(edges, *shares, title=cut(name, 60), width=330, height=140))


def _shares(cuts: Any, share: Any, edges: Any) -> list[float]:
    """The share below, between and above the edges; `share` has one number more than there are cuts."""
    if not len(cuts):
        return [1.0]
    below = np.interp(edges, cuts, np.cumsum(share)[:-1])
    return [round(float(s), 6) for s in np.diff(below, prepend=0.0, append=1.0)]
