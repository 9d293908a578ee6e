"""Distance between the distributions of single variables."""

import math
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Floats
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.methods.options import NUMERIC, NumericColumns, Option
from sdckit.methods.registry import utility
from sdckit.methods.spec import Figure
from sdckit.utility._both_distributions import both_distributions
from sdckit.utility._continuous import numeric_pair, weighted_quantiles

_FIGURES = {
    "kolmogorov_smirnov": Figure("Largest difference (Kolmogorov–Smirnov)", bounds=(0, 1)),
    "cramer_von_mises": Figure("Cramér–von Mises distance", bounds=(0, 0.5)),
    "wasserstein": Figure("Wasserstein distance (standard deviations)", "standard deviations"),
}
_NAMES = tuple(_FIGURES)


@utility(
    "Distance of distributions",
    family="Numbers",
    bounds=(0, 1),
    unit="largest difference of two distribution functions, mean over variables",
    needs=Role.NUMERIC,
    section="distribution",
    engines="all",
    reference="Kolmogorov (1933), Smirnov (1948); Anderson (1962); Villani (2009) for Wasserstein",
    main="variables",
    figures=_FIGURES,
    chart=charts.distribution_overlays,
    interpretation=(
        "0: same distributions. 0.05: at some value the shares of the population below it (of the "
        "records, without weights) differ by 5 points; 1: "
        "nothing in common. Blind to links between variables."
    ),
)
def distribution_distance(
    original: Microdata,
    protected: Microdata,
    *,
    variables: NumericColumns = NUMERIC,
    bins: Annotated[
        int, Field(ge=2, le=100), Option("Bins", "Into how many bins the table for histograms is cut.")
    ] = 20,
) -> Result:
    r"""How far the distribution of each number moves, by three distances.

    With the distribution functions F and G of the original and the protected values and H = (F+G)/2:

    .. math:: KS = \max|F-G|, \quad CvM = \int (F-G)^2\,dH, \quad W = \frac{1}{S}\int |F-G|\,dx

    where S is the standard deviation of the original. The value is the mean KS over the variables, the
    figures are the means of each distance, `parts` has all per variable. CvM is 0 to 1/3 (1/2 in tiny files).
    The table `bins` has the share of both files in common bins, cut at quantiles of H, for a histogram; the
    outer bins are open.

    Weights: F and G are weighted, each file with its own weights; S² = n/(n−1)·Σw(x−x̄)²/Σw. Missing values:
    left out per variable; see missing_values for them. Files may differ in length. A variable without spread
    in the original has W = 0 when nothing changed and infinity when something did. On DuckDB and Spark, of
    more than two million records, values are counted in bins, as wide as a part in 16,384 of the distance
    from the mean; a note says by how much the largest difference may be larger than at their ends.
    Reference: Anderson (1962). Departures: CvM is the distance itself, not multiplied by nm/(n+m).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}), numeric="x")
    >>> result = sdc.utility.distribution_distance(data, data.with_frame(pl.DataFrame({"x": [3.0, 4.0]})))
    >>> result.value, round(result.figures["wasserstein"], 6)  # F−G is ¼, ½, ¼
    (0.5, 0.774597)
    """
    pair = numeric_pair(original, protected, variables)
    if not pair.variables:
        return Result(math.nan, notes=pair.notes, lost=pair.lost)
    rows, drawn, flat, unseen = [], [], [], 0.0
    for c in pair.variables:
        found = both_distributions(pair, c)
        points, f, g, spread = found.points, found.f, found.g, found.spread
        unseen = max(unseen, found.unseen)
        if spread <= 1e-12 * pair.largest[c]:
            spread = 0.0
            flat.append(c)
        rows.append((c, *_distances(points, f, g, spread)))
        drawn.append(_bins(c, points * pair.scale[c], f, g, bins))
    schema = {"variable": pl.String, **dict.fromkeys(_NAMES, pl.Float64)}
    parts = pl.DataFrame(rows, schema=schema, orient="row")
    figures = {name: float(np.mean(parts[name].to_numpy())) for name in _NAMES}
    notes = pair.notes
    if flat:
        notes += (f"Does not vary in the original, so W is 0 or infinite: {', '.join(flat)}.",)
    if unseen:
        notes += (
            "Of these many records values are counted in bins, narrow beside their distance from the mean: "
            f"the largest difference of a variable may be up to {unseen:.1g} larger.",
        )
    return Result(figures[_NAMES[0]], figures, parts, notes, {"bins": pl.concat(drawn)}, lost=pair.lost)


def _distances(points: Floats, f: Floats, g: Floats, spread: float) -> tuple[float, float, float]:
    gap = np.abs(np.cumsum(f) - np.cumsum(g))
    gap[-1] = 0.0  # both are 1 there; cumulated shares are so only up to rounding
    moved = float((gap[:-1] * np.diff(points)).sum())
    scaled = (moved / spread if spread else math.inf) if moved > 0 else 0.0
    return min(float(gap.max()), 1.0), float((gap**2 * (f + g) / 2).sum()), scaled


def _bins(variable: str, points: Floats, f: Floats, g: Floats, bins: int) -> pl.DataFrame:
    """Shares per bin [from, to); the cuts are quantiles of both files together, each file counting half."""
    cuts = np.unique(weighted_quantiles(points, f + g, [i / bins for i in range(1, bins)]))
    cuts = cuts[cuts > points[0]]  # nothing lies below the smallest value
    place = np.searchsorted(cuts, points, side="right")
    size = len(cuts) + 1
    return pl.DataFrame(
        {
            "variable": [variable] * size,
            "from": pl.Series([None, *cuts.tolist()], dtype=pl.Float64),
            "to": pl.Series([*cuts.tolist(), None], dtype=pl.Float64),
            "original": np.bincount(place, f, size),
            "protected": np.bincount(place, g, size),
        }
    )
