"""Discrepancy between the matrices that describe continuous data, before and after."""

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
from sdckit.errors import OptionError, SdcError
from sdckit.methods.options import NUMERIC, NumericColumns, Option
from sdckit.methods.registry import utility
from sdckit.methods.spec import Figure
from sdckit.utility._continuous import matrices, numeric_pair, record_sums

_TINY = 1e-10  # eigenvalues below this share of p carry no component
_ERRORS = {"mse": "Mean squared change", "mae": "Mean absolute change", "mvar": "Mean relative change"}
_MATRICES = {
    "x": "values",
    "v": "covariances",
    "r": "correlations",
    "rf": "correlations of the components",
    "c": "communalities",
    "f": "factor scores",
}
_WORDS = (
    ("X", "X data"),
    ("V", "V covariances"),
    ("R", "R correlations"),
    ("RF", "RF components"),
    ("C", "C communalities"),
    ("F", "F factor scores"),
)
Errors = tuple[float, float, float]


@utility(
    "Discrepancy of data, covariances, correlations and principal components",
    family="Numbers",
    bounds=(0, 2),
    unit="mean absolute change of a correlation",
    needs=Role.NUMERIC,
    engines="all",
    reference="Domingo-Ferrer, Mateo-Sanz & Torra (2001); Domingo-Ferrer & Torra (2001)",
    main="variables",
    figures={
        f"{error}_{matrix}": Figure(f"{words} of {entries}")
        for error, words in _ERRORS.items()
        for matrix, entries in _MATRICES.items()
    },
    chart=charts.PartsBars("mvar", "mean relative change of an entry", names=_WORDS),
    interpretation=(
        "0: the correlations are as before. 0.05: a correlation moved by 0.05 on average; above 0.2 "
        "regressions tell another story. Changes of the values themselves (X) mean nothing after swapping."
    ),
)
def matrix_discrepancy(
    original: Microdata,
    protected: Microdata,
    *,
    variables: NumericColumns = NUMERIC,
    components: Annotated[
        int, Field(ge=1), Option("Components", "How many principal components the communalities add up.")
    ] = 1,
) -> Result:
    r"""Six matrices compared by mean squared error, mean absolute error and mean variation.

    Matrices: X the data, V covariances, R correlations, RF correlations of variables with principal
    components, C communalities of the first `components`, F factor-score coefficients. With λ_j, v_j the
    eigenvalues (decreasing) and vectors of R: RF = v_ij√λ_j, C_i = Σ_j RF_ij², F = v_ij/√λ_j. The sign of
    each protected component is chosen to agree with the original's; components without variance are left
    out. Errors of an entry: (d−d′)², |d−d′| and |d−d′|/|d|. They are averaged over n·p entries of X, the
    p(p+1)/2 of V, p(p−1)/2 of R, p of C, and for RF and F as Σ_j λ_j Σ_i e_ij / p².

    The value is the mean absolute error of R: it is bounded and has no unit. Each number is a figure, such
    as `mse_v` or `mvar_rf`, and the 6 × 3 table is `parts`.

    Weights: X is averaged by the original's weights; covariances are weighted, S = n/(n−1)·Σw(x−x̄)(y−ȳ)/Σw.
    Missing values: pairs present in both files for X, complete records of each file for the rest. Entries
    that are 0 in the original are left out of mean variations. Files of different length have no X.
    Reference: Domingo-Ferrer & Torra (2001).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0]}), numeric=["x", "y"])
    >>> other = data.with_frame(pl.DataFrame({"x": [1.0, 2.0, 3.0], "y": [3.0, 2.0, 1.0]}))
    >>> round(sdc.utility.matrix_discrepancy(data, other).value, 6)  # from 1 to −1
    2.0
    """
    pair = numeric_pair(original, protected, variables)
    matrix = matrices(pair)
    p, notes = len(matrix.variables), matrix.notes
    if components > max(len(pair.variables), 1):
        raise OptionError(
            "There are not so many components.", given=components, allowed=f"1 to {len(pair.variables)}"
        )
    found: dict[str, Errors] = {}
    try:
        if pair.variables:
            found["x"] = _records(original, protected, pair.variables)
    except SdcError as error:
        notes += (f"X was not compared. {error.what}",)
    if p:
        unit = np.array([pair.scale[c] for c in matrix.variables])
        found["v"] = _entries(*(m[np.tril_indices(p)] for m in _in_units(matrix.covariance, unit)))
        found["r"] = _entries(*(m[np.tril_indices(p, -1)] for m in matrix.correlation))
        more, note = _components(*matrix.correlation, min(components, p))
        found |= more
        notes += note
    rows = [(name.upper(), *errors) for name, errors in found.items()]
    schema = {"matrix": pl.String, **dict.fromkeys(_ERRORS, pl.Float64)}
    parts = pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)
    figures = {f"{e}_{name}": v for name, all_ in found.items() for e, v in zip(_ERRORS, all_, strict=True)}
    figures = {name: v for name, v in figures.items() if not math.isnan(v)}
    if p < 2:
        return Result(
            math.nan, figures, parts, (*notes, "Correlations need two variables that vary."), lost=matrix.lost
        )
    if not math.isfinite(figures.get("mse_v", math.inf)):
        notes += ("Covariances are too large to be squared.",)
    return Result(found["r"][1], figures, parts, notes, lost=matrix.lost)


def _in_units(both: tuple[Floats, Floats], unit: Floats) -> list[Floats]:
    with np.errstate(over="ignore"):
        return [m * np.outer(unit, unit) for m in both]


def _entries(x: Floats, y: Floats, weight: Floats | None = None) -> Errors:
    """The three errors; entries that are 0 in the original have no variation."""
    if not len(x):
        return math.nan, math.nan, math.nan
    w = np.ones(len(x)) if weight is None else weight
    there = x != 0
    with np.errstate(over="ignore", invalid="ignore"):
        d = np.abs(x - y)
        variation = np.average(d[there] / np.abs(x[there]), weights=w[there]) if w[there].sum() else math.nan
        return float(np.average(d**2, weights=w)), float(np.average(d, weights=w)), float(variation)


def _components(first: Floats, second: Floats, components: int) -> tuple[dict[str, Errors], tuple[str, ...]]:
    p = len(first)
    (e, v), (e2, v2) = (_decreasing(r) for r in (first, second))
    v2 = v2 * np.where((v * v2).sum(axis=0) < 0, -1.0, 1.0)
    rf, rf2 = v * np.sqrt(e), v2 * np.sqrt(e2)
    share = np.repeat(e / p, p)
    kept = (e > _TINY * p) & (e2 > _TINY * p)
    root, root2 = np.sqrt(e[kept]), np.sqrt(e2[kept])
    common = (rf**2)[:, :components].sum(axis=1), (rf2**2)[:, :components].sum(axis=1)
    lost = int((~kept).sum())
    errors = {
        "rf": _entries(rf.T.ravel(), rf2.T.ravel(), share),
        "c": _entries(*common),
        "f": _entries(
            (v[:, kept] / root).T.ravel(), (v2[:, kept] / root2).T.ravel(), np.repeat(e[kept] / p, p)
        ),
    }
    return errors, (f"{lost} components without variance are not in F.",) if lost else ()


def _decreasing(r: Floats) -> tuple[Floats, Floats]:
    e, v = np.linalg.eigh(r)
    return np.maximum(e[::-1], 0.0), v[:, ::-1]


def _records(original: Microdata, protected: Microdata, variables: tuple[str, ...]) -> Errors:
    """The errors of X over the pairs present in both files."""
    sums = record_sums(original, protected, variables)

    def total(name: str) -> float:
        return sum(float(sums[f"{name}{i}"]) for i in range(len(variables)))

    pairs, usable = total("pairs"), total("usable")
    if not pairs:
        return math.nan, math.nan, math.nan
    share = total("share") / usable if usable else math.nan
    return total("square") / pairs, total("moved") / pairs, share
