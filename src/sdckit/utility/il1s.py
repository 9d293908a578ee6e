"""IL1s: scaled distance between original and protected values."""

import math

import polars as pl

from sdckit import charts
from sdckit.data.common_columns import common_numeric, lost_columns
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.methods.options import NUMERIC, NumericColumns
from sdckit.methods.registry import utility
from sdckit.methods.spec import Compares, Figure
from sdckit.utility._continuous import record_sums, scaled_moments
from sdckit.utility._variables import require_named


@utility(
    "Information loss IL1s",
    family="Numbers",
    unit="mean change, in units of 1.41 standard deviations",
    needs=Role.NUMERIC,
    compares=Compares.RECORDS,
    engines="all",
    reference="Yancey, Winkler & Creecy (2002)",
    main="variables",
    figures={"complete_pairs": Figure("Only over values present in both files")},
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
    Missing values: a number that was suppressed counts as if it were the mean of the original, or else the
    file with the most blanks would lose least; one missing from the start adds nothing and stays in n. The
    figure `complete_pairs` is over the pairs present. A variable without spread (S_j = 0) is left out
    when nothing changed and makes the value infinite when something did.
    Reference: Yancey, Winkler & Creecy (2002). Departures: sdcMicro reports the sum, not the mean
    over n·p, and a pair with a missing value adds nothing there.

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
    means = {c: (moments.mean[c] or 0.0) * scale[c] for c in chosen}
    sums = record_sums(original, protected, chosen, means)
    spread = {c: _root(moments.variance[c]) * scale[c] for c in chosen}
    rows = []
    for i, c in enumerate(chosen):
        moved, pairs = sums[f"moved{i}"], sums[f"pairs{i}"]
        unit = math.sqrt(2) * spread[c]
        there = moved / sums["total"] / unit if unit > 0 else (math.inf if moved > 0 else 0.0)
        loss = there + (sums[f"blanked{i}"] / sums["total"] / unit if unit > 0 else 0.0)
        if math.isinf(unit) or math.isinf(moved + sums[f"blanked{i}"]):
            notes += (f"The numbers of {c} are too large to compute with.",)
            loss = there = math.nan
        rows.append((c, loss, there * sums["total"] / pairs if pairs else None, spread[c]))
    names = ["variable", "il1s", "complete_pairs", "standard_deviation"]
    parts = pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)
    if all(moments.mean[c] is None for c in chosen):
        return Result(math.nan, {}, parts, (*notes, "No pair of values to compare."), lost=lost)
    flat = tuple(
        f"{c} {'does not vary' if moments.mean[c] is not None else 'has no value'} in the original."
        for c in chosen
        if spread[c] == 0
    )
    used = parts.filter((pl.col("standard_deviation") > 0) | (pl.col("il1s") > 0))
    value = float(used["il1s"].mean() or 0.0) if used.height else 0.0  # type: ignore[arg-type]
    complete = used["complete_pairs"].mean() if used.height else 0.0
    figures = {} if complete is None else {"complete_pairs": float(complete)}  # type: ignore[arg-type]
    return Result(value, figures, parts, notes + flat, lost=lost)


def _root(variance: float | None) -> float:
    return math.sqrt(variance) if variance is not None and variance > 0 else 0.0
