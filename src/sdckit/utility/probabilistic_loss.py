"""PIL: how unlikely the changed statistics would be by chance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Floats
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.engine import frames
from sdckit.methods.options import NUMERIC, NumericColumns, Option
from sdckit.methods.registry import utility
from sdckit.methods.spec import Figure
from sdckit.utility._continuous import NumericPair, Source, complete, left_out, numeric_pair, quantiles

Probability = Annotated[float, Field(gt=0, lt=1)]
KINDS = ("means", "variances", "covariances", "correlations", "quantiles")
Statistic = tuple[str, str, float, float, float, float]  # kind, name, unit, both numbers, standard error
DEFAULT = tuple(round(0.05 * i, 2) for i in range(1, 20))


@utility(
    "Probabilistic information loss (PIL)",
    family="Numbers",
    bounds=(0, 100),
    unit="percent",
    needs=Role.NUMERIC,
    reference="Mateo-Sanz, Domingo-Ferrer & Sebé (2005)",
    main="variables",
    figures={kind: Figure(f"Mean loss of the {kind}", "percent", bounds=(0, 100)) for kind in KINDS},
    chart=charts.FigureBars(KINDS, "mean loss of the statistics, percent"),
    interpretation=(
        "0: the statistics did not move. 68: they moved by one standard error, 95: by two, so that no other "
        "sample is likely to give them. Large files notice small changes: the measure grows with n."
    ),
)
def probabilistic_loss(
    original: Microdata,
    protected: Microdata,
    *,
    variables: NumericColumns = NUMERIC,
    probabilities: Annotated[
        Sequence[Probability], Option("Quantiles", "The probabilities of the quantiles to compare.")
    ] = DEFAULT,
) -> Result:
    r"""How far means, variances, covariances, correlations and quantiles lie outside sampling error.

    .. math:: pil(\theta) = 2\,P\left(0 \le Z \le |\hat\theta'-\hat\theta| / \sqrt{Var\,\hat\theta}\right)

    with Z standard normal. PIL is 100 times the mean of the five kinds' means (the figures). Variances of the
    estimators, all from the original with central moments μ: mean S²/n; variance (μ₄ − S⁴(n−3)/(n−1))/n;
    covariance (μ₂₂ − S_xy²(n−2)/(n−1) + S_x²S_y²/(n−1))/n; correlation, by the delta method,
    mean of (uv − r(u²+v²)/2)² / n for standardised u, v, which is (1−r²)²/n for normal data; p-quantile
    p(1−p)/(n f²), with f a Gaussian kernel density of bandwidth 0.9·min(S, IQR/1.34)·n^(−1/5) there.
    A statistic without sampling variance counts 0 when it did not change and 1 when it did.

    Weights: all moments, densities and quantiles are weighted, and n is (Σw)²/Σw², the effective size.
    Weighted quantiles: the first value whose cumulated share exceeds p; without weights type 7.
    Missing values: left out per variable; covariances and correlations use the complete records of each file.
    Files may differ in length. Reference: Mateo-Sanz et al. (2005).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}), numeric="x")
    >>> moved = data.with_frame(data.frame.with_columns(pl.col("x") + 1))
    >>> sdc.utility.probabilistic_loss(data, moved).parts.row(0)[:2]
    ('means', 'x')
    """
    pair = numeric_pair(original, protected, variables)
    if not pair.variables:
        return Result(math.nan, notes=pair.notes, lost=pair.lost)
    found = [s for c in pair.variables for s in _univariate(pair, c, probabilities)] + _bivariate(pair)
    rows = [(kind, name, x * u, y * u, error * u, _loss(x, y, error)) for kind, name, u, x, y, error in found]
    schema = {"kind": pl.String, "statistic": pl.String}
    numbers = dict.fromkeys(("original", "protected", "standard_error", "loss"), pl.Float64)
    parts = pl.DataFrame(rows, schema={**schema, **numbers}, orient="row")
    order = pl.col("kind").replace_strict(dict(zip(KINDS, range(5), strict=True)), return_dtype=pl.Int8)
    parts = parts.sort(order, maintain_order=True)
    means = dict(parts.group_by("kind").agg(pl.col("loss").mean()).drop_nulls().iter_rows())
    figures = {kind: 100 * float(means[kind]) for kind in KINDS if kind in means}
    notes = pair.notes + left_out(pair)
    if not figures:
        return Result(math.nan, {}, parts, (*notes, "A file has fewer than two values."), lost=pair.lost)
    return Result(min(sum(figures.values()) / len(figures), 100.0), figures, parts, notes, lost=pair.lost)


def _loss(before: float, after: float, error: float) -> float | None:
    if math.isnan(before) or math.isnan(after) or math.isnan(error):
        return None
    change = abs(after - before)
    if change <= 1e-12 * abs(before):  # rounding, not a change
        return 0.0
    return math.erf(change / error / math.sqrt(2)) if error > 0 else 1.0


@dataclass(frozen=True, slots=True)
class _Sample:
    """Complete rows, weights that add up to 1, number of rows and effective number of rows."""

    x: Floats
    share: Floats
    rows: int
    n: float

    def mean(self, values: Floats) -> Any:
        return self.share @ values

    @property
    def unbiased(self) -> float:
        return self.rows / (self.rows - 1)


def _sample(source: Source, variables: Sequence[str]) -> _Sample:
    frame = frames.gather(complete(source, variables))
    x = frame.select(variables).to_numpy().astype(np.float64)
    w = frame[source[1]].to_numpy() if source[1] else np.ones(len(x))
    size = float(w.sum())
    return _Sample(x, w / size if size else w, len(x), size**2 / float(w @ w) if size else 0.0)


def _univariate(pair: NumericPair, c: str, probabilities: Sequence[float]) -> list[Statistic]:
    first, second = (_sample(source, [c]) for source in pair.sources)
    if first.rows < 2 or second.rows < 2:
        return []
    s = pair.scale[c]
    x, y = first.x[:, 0], second.x[:, 0]
    n, mean, mean_y = first.n, float(first.mean(x)), float(second.mean(y))
    d = x - mean
    variance, fourth = first.unbiased * float(first.mean(d**2)), float(first.mean(d**4))
    variance_y = second.unbiased * float(second.mean((y - mean_y) ** 2))
    flat = (1e-12 * pair.largest[c]) ** 2
    variance, variance_y = (0.0 if v <= flat else v for v in (variance, variance_y))
    # For a handful of records the unbiased plug-in can come out below 0.
    of_variance = max(fourth - variance**2 * (n - 3) / max(n - 1, 1e-9), 0.0) / n
    rows: list[Statistic] = [
        ("means", c, s, mean, mean_y, math.sqrt(variance / n)),
        ("variances", c, s * s, variance, variance_y, math.sqrt(of_variance)),
    ]
    q, q_y = (quantiles(source, [c], probabilities, weighted=pair.weighted)[0] for source in pair.sources)
    (quarters,) = quantiles(pair.original, [c], [0.25, 0.75], weighted=pair.weighted)
    errors = _quantile_errors(first, q, probabilities, math.sqrt(variance), quarters[1] - quarters[0])
    for p, a, b, error in zip(probabilities, q, q_y, errors, strict=True):
        rows.append(("quantiles", f"{c} {p:g}", s, a, b, error))
    return rows


def _quantile_errors(
    sample: _Sample, q: Sequence[float], probabilities: Sequence[float], spread: float, iqr: float
) -> list[float]:
    width = min(spread, iqr / 1.34) if iqr > 0 else spread
    if width == 0:
        return [0.0] * len(q)
    h = 0.9 * width * sample.n ** (-1 / 5)
    x = sample.x[:, 0]
    errors = []
    for at, p in zip(q, probabilities, strict=True):
        with np.errstate(over="ignore"):  # far away is far away
            density = float(sample.mean(np.exp(-0.5 * ((x - at) / h) ** 2))) / (h * math.sqrt(2 * math.pi))
        # between values so far apart that the density is 0, the quantile has no standard error
        errors.append(math.sqrt(p * (1 - p) / sample.n) / density if density > 0 else math.nan)
    return errors


def _bivariate(pair: NumericPair) -> list[Statistic]:
    first, second = (_sample(source, pair.variables) for source in pair.sources)
    if first.rows < 2 or second.rows < 2:
        return []
    n = first.n
    rows: list[Statistic] = []
    d, e = (sample.x - sample.mean(sample.x) for sample in (first, second))
    var_x = first.unbiased * first.mean(d**2)
    var_y = second.unbiased * second.mean(e**2)
    floor = np.array([(1e-12 * pair.largest[c]) ** 2 for c in pair.variables])
    d[:, var_x <= floor] = 0.0  # rounding, not spread
    e[:, var_y <= floor] = 0.0
    varies = (var_x > floor) & (var_y > floor)
    for i, a in enumerate(pair.variables):
        for j, b in enumerate(pair.variables[:i]):
            product = d[:, i] * d[:, j]
            cov = first.unbiased * float(first.mean(product))
            cov_y = second.unbiased * float(second.mean(e[:, i] * e[:, j]))
            less = max(n - 1, 1e-9)
            spare = cov**2 * (n - 2) / less - float(var_x[i] * var_x[j]) / less
            error = math.sqrt(max(float(first.mean(product**2)) - spare, 0.0) / n)
            unit, name = pair.scale[a] * pair.scale[b], f"{b}, {a}"
            rows.append(("covariances", name, unit, cov, cov_y, error))
            if varies[i] and varies[j]:
                r = cov / math.sqrt(var_x[i] * var_x[j])
                r_y = cov_y / math.sqrt(var_y[i] * var_y[j])
                u, v = (d[:, k] / math.sqrt(var_x[k] / first.unbiased) for k in (i, j))
                influence = first.mean((u * v - r * (u**2 + v**2) / 2) ** 2)
                rows.append(("correlations", name, 1.0, r, r_y, math.sqrt(float(influence) / n)))
    return rows
