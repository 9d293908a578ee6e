"""IL1s: scaled distance between original and protected values."""

import math

import polars as pl

from sdckit import charts
from sdckit._support.number_text import number
from sdckit.data.common_columns import common_numeric, lost_columns
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.methods.options import NUMERIC, NumericColumns
from sdckit.methods.registry import utility
from sdckit.methods.spec import Compares, Figure
from sdckit.utility._continuous import record_sums, scaled_moments
from sdckit.utility._variables import require_named

FIGURES = {
    "complete_pairs": Figure("Only over values present in both files"),
    "blanks_as_means": Figure("With suppressed numbers counted as if they were the mean"),
}


@utility(
    "Information loss IL1s",
    family="Numbers",
    unit="mean change, in units of 1.41 standard deviations",
    needs=Role.NUMERIC,
    compares=Compares.RECORDS,
    engines="all",
    reference="Yancey, Winkler & Creecy (2002)",
    main="variables",
    figures=FIGURES,
    chart=charts.PartsBars("il1s", "mean change, in units of 1.41 standard deviations"),
    interpretation=(
        "0: no number changed. 0.1: numbers moved by 0.14 standard deviations on average; above 0.5 the "
        "records have little to do with their originals. After swapping it says how far values moved, and "
        "little of what analyses lose."
    ),
)
def il1s(original: Microdata, protected: Microdata, *, variables: NumericColumns = NUMERIC) -> Result:
    r"""Mean absolute change of the numbers, in standard deviations of the original.

    .. math:: IL1s = \frac{1}{pn} \sum_j \sum_i \frac{|x_{ij}-y_{ij}|}{\sqrt{2}\,S_j}

    S_j is the standard deviation (n−1) of the original variable.

    Weights: records count with their weight, Σw in place of n, and S_j is the weighted standard deviation.
    Missing values: a pair with a missing value adds nothing and stays in n, as in the definition, so that
    blanks lose nothing; a note says so, and the figure `blanks_as_means` counts a suppressed number as if it
    were the mean of the original. A number that is all blank is named in `lost`. `complete_pairs` is over
    the pairs present. A variable without spread
    (S_j = 0) is left out when nothing changed and makes the value infinite when something did.
    Reference: Yancey, Winkler & Creecy (2002). Departures: sdcMicro reports the sum, not the mean over n·p.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 3.0]}), numeric="x")
    >>> round(sdc.utility.il1s(data, data.with_frame(pl.DataFrame({"x": [1.0, 2.0, 4.0]}))).value, 6)
    0.235702
    """
    require_named(protected, variables)
    chosen, notes = common_numeric(original, protected, variables)
    lost = lost_columns(original, protected, variables, numeric=True)
    if not chosen:
        return Result(math.nan, notes=(*notes, "No variable is numeric in both files."), lost=lost)
    moments, scale = scaled_moments(original, chosen)
    centres = {c: (moments.mean[c] or 0.0) * scale[c] for c in chosen}
    sums = record_sums(original, protected, chosen, centres)
    spread = {c: _root(moments.variance[c]) * scale[c] for c in chosen}
    rows = []
    for i, c in enumerate(chosen):
        moved, blanked, pairs = sums[f"moved{i}"], sums[f"blanked{i}"], sums[f"pairs{i}"]
        unit = math.sqrt(2) * spread[c]
        loss = moved / sums["total"] / unit if unit > 0 else (math.inf if moved > 0 else 0.0)
        if math.isinf(unit) or math.isinf(moved + blanked):
            notes += (f"The numbers of {c} are too large to compute with.",)
            loss = blanked = math.nan
        with_blanks = loss + (blanked / sums["total"] / unit if unit > 0 else 0.0)
        rows.append((c, loss, loss * sums["total"] / pairs if pairs else None, with_blanks, spread[c]))
    names = ["variable", "il1s", *FIGURES, "standard_deviation"]
    parts = pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)
    if not any(sums[f"pairs{i}"] for i in range(len(chosen))):
        return Result(math.nan, {}, parts, (*notes, "No pair of values to compare."), lost=lost)
    gone = tuple(c for i, c in enumerate(chosen) if not sums[f"pairs{i}"] and moments.mean[c] is not None)
    flat = tuple(
        f"{c} {'does not vary' if moments.mean[c] is not None else 'has no value'} in the original."
        for c in chosen
        if spread[c] == 0
    )
    used = parts.filter((pl.col("standard_deviation") > 0) | (pl.col("il1s") > 0))
    means = {name: float(used[name].mean() or 0.0) for name in ("il1s", *FIGURES)}  # type: ignore[arg-type]
    value, figures = means["il1s"], {name: means[name] for name in FIGURES}
    if figures["blanks_as_means"] > value:
        said = number(figures["blanks_as_means"])
        notes += (f"Suppressed numbers add nothing; counted as if they were the mean, the loss is {said}.",)
    return Result(value, figures, parts, notes + flat, lost=lost + gone)


def _root(variance: float | None) -> float:
    return math.sqrt(variance) if variance is not None and variance > 0 else 0.0
