"""Means, variances, covariances, correlations and quantiles before and after."""

import math
from collections.abc import Sequence
from typing import Annotated

import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Floats
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.engine import tables
from sdckit.methods.options import NUMERIC, NumericColumns, Option
from sdckit.methods.registry import utility
from sdckit.methods.spec import Figure
from sdckit.utility._continuous import Matrices, NumericPair, matrices, numeric_pair, quantiles

Probability = Annotated[float, Field(ge=0, le=1)]


@utility(
    "Change of moments and quantiles",
    family="Numbers",
    unit="mean relative change of means and variances",
    needs=Role.NUMERIC,
    engines="all",
    reference="Templ (2017), ch. 5; Domingo-Ferrer & Torra (2001)",
    main="variables",
    figures={
        **{
            f"{one}_change": Figure(f"Mean relative change of the {one}s")
            for one in ("mean", "variance", "covariance", "quantile")
        },
        "correlation_change": Figure("Mean absolute change of the correlations", bounds=(0, 2)),
    },
    chart=charts.moment_change,
    interpretation=(
        "0: means and variances are as before. 0.05: they moved by 5 % of themselves on average. Noise "
        "raises variances, microaggregation lowers them: the box plots show which way."
    ),
)
def moments(
    original: Microdata,
    protected: Microdata,
    *,
    variables: NumericColumns = NUMERIC,
    probabilities: Annotated[
        Sequence[Probability], Option("Quantiles", "The probabilities of the quantiles to compare.")
    ] = (0.05, 0.25, 0.5, 0.75, 0.95),
) -> Result:
    r"""How far the moments and quantiles of the numbers move.

    The relative change of a statistic is |θ_y−θ_x|/|θ_x|. The value is its mean over the means and variances
    of all variables. Figures: the mean relative change of the means, variances, covariances (pairs of
    different variables) and quantiles, and the mean absolute change of the correlations, which have a scale
    of their own. `parts` has one row per variable; the tables `covariance`, `correlation` and `quantiles`
    have both files' numbers.

    Weights: x̄ = Σwx/Σw and S² = n/(n−1)·Σw(x−x̄)²/Σw, covariances likewise. Quantiles of weighted files: the
    first ordered value whose cumulated share of weight exceeds p, no averaging (as laeken); when neither
    file has weights: linear between order statistics (type 7).
    Missing values: left out per variable for means, variances and quantiles; matrices are over the complete
    records of each file. Zero statistics that stay 0 did not change; those that do not are left out with a
    note. Files may differ in length. Reference: Templ (2017).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 3.0]}), numeric="x")
    >>> sdc.utility.moments(data, data.with_frame(pl.DataFrame({"x": [0.0, 2.0, 4.0]}))).value  # (0 + 3) / 2
    1.5
    """
    pair = numeric_pair(original, protected, variables)
    if not pair.variables:
        return Result(math.nan, notes=pair.notes, lost=pair.lost)
    parts = _per_variable(pair)
    matrix = matrices(pair)
    notes = matrix.notes + _undefined(parts)
    spots = _quantiles(pair, probabilities)
    covariances = _pairs(matrix, matrix.covariance, pair)
    correlations = _pairs(matrix, matrix.correlation, None)
    change = {
        "mean_change": _mean(parts["mean_change"]),
        "variance_change": _mean(parts["variance_change"]),
        "covariance_change": _mean(covariances.filter(pl.col("variable") != pl.col("with"))["change"]),
        "correlation_change": _mean((correlations["protected"] - correlations["original"]).abs()),
        "quantile_change": _mean(spots["change"]),
    }
    both = pl.concat([parts["mean_change"], parts["variance_change"]]).drop_nulls()
    value = _mean(both)
    if value is None:
        notes += ("No mean or variance can be compared.",)
    found = {"covariance": covariances, "correlation": correlations, "quantiles": spots}
    figures = {name: number for name, number in change.items() if number is not None}
    return Result(math.nan if value is None else value, figures, parts, notes, found, lost=pair.lost)


def _per_variable(pair: NumericPair) -> pl.DataFrame:
    before, after = pair.of_both(
        "moments", pair.variables, lambda source: tables.moments(source[0], pair.variables, source[1])
    )
    rows = []
    for c in pair.variables:
        s = pair.scale[c]
        x, y, u, v = before.mean[c], after.mean[c], before.variance[c], after.variance[c]
        flat = (1e-12 * pair.largest[c]) ** 2
        u, v = (None if a is None else (0.0 if a <= flat else a) for a in (u, v))
        scaled = [None if a is None else a * b for a, b in ((x, s), (y, s), (u, s * s), (v, s * s))]
        rows.append((c, *scaled[:2], relative_change(x, y), *scaled[2:], relative_change(u, v)))
    names = ("mean_original", "mean_protected", "mean_change")
    more = ("variance_original", "variance_protected", "variance_change")
    schema = {"variable": pl.String, **dict.fromkeys((*names, *more), pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def relative_change(before: float | None, after: float | None) -> float | None:
    """|after−before|/|before|; 0 where both are 0; None where either is unknown or only the first is 0."""
    if before is None or after is None or math.isnan(before) or math.isnan(after):
        return None
    if before == 0:
        return 0.0 if after == 0 else None
    return abs(after - before) / abs(before)


def _undefined(parts: pl.DataFrame) -> tuple[str, ...]:
    notes = []
    for name in ("mean", "variance"):
        known = pl.col(f"{name}_original").is_not_null() & pl.col(f"{name}_protected").is_not_null()
        zero = parts.filter(pl.col(f"{name}_change").is_null() & known)["variable"].to_list()
        if zero:
            notes.append(
                f"The {name} is 0 in the original only, so has no relative change: {', '.join(zero)}."
            )
        few = parts.filter(~known)["variable"].to_list()
        if few:
            notes.append(f"The {name} needs more values: {', '.join(few)}.")
    return tuple(notes)


def _pairs(matrix: Matrices, both: tuple[Floats, Floats], pair: NumericPair | None) -> pl.DataFrame:
    """The lower triangle of two matrices, with the diagonal for covariances, as a table."""
    rows = []
    for i, a in enumerate(matrix.variables):
        for j, b in enumerate(matrix.variables[: i + 1] if pair else matrix.variables[:i]):
            unit = pair.scale[a] * pair.scale[b] if pair else 1.0
            x, y = (float(m[i, j]) for m in both)
            rows.append((a, b, x * unit, y * unit, relative_change(x, y)))
    schema = {"variable": pl.String, "with": pl.String}
    numbers = dict.fromkeys(("original", "protected", "change"), pl.Float64)
    return pl.DataFrame(rows, schema={**schema, **numbers}, orient="row")


def _quantiles(pair: NumericPair, probabilities: Sequence[float]) -> pl.DataFrame:
    rows = []
    before, after = pair.of_each(
        ("quantiles", tuple(probabilities), pair.weighted),
        lambda source, some: quantiles(source, some, probabilities, weighted=pair.weighted),
    )
    for c, x, y in zip(pair.variables, before, after, strict=True):
        s = pair.scale[c]
        rows += [
            (c, p, a * s, b * s, relative_change(a, b)) for p, a, b in zip(probabilities, x, y, strict=True)
        ]
    numbers = dict.fromkeys(("probability", "original", "protected", "change"), pl.Float64)
    return pl.DataFrame(rows, schema={"variable": pl.String, **numbers}, orient="row")


def _mean(values: pl.Series) -> float | None:
    mean = values.drop_nulls().mean()
    return None if mean is None else float(mean)  # type: ignore[arg-type]
