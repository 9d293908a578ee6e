"""Młodak's loss of correlation."""

import math

import numpy as np
import polars as pl

from sdckit import charts
from sdckit._support.arrays import Floats
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.methods.options import NUMERIC, NumericColumns
from sdckit.methods.registry import utility
from sdckit.utility._continuous import matrices, numeric_pair

_WORST = 1e12  # beyond this condition number the inverse has no correct digits worth comparing


@utility(
    "Loss of correlation (Młodak)",
    family="Numbers",
    bounds=(0, 1),
    unit="distance of directions, 0 to 1",
    needs=Role.NUMERIC,
    engines="all",
    reference="Młodak (2020); Młodak, Pietrzak & Józefowski (2022)",
    main="variables",
    chart=charts.PartsBeforeAfter("variance inflation 1/(1−R²) given the other variables"),
    interpretation=(
        "0: each variable depends on the others as much as before, relative to the rest. 1 would need "
        "entirely other dependence; 0.05 is already visible in regressions. Scale and position do not matter."
    ),
)
def correlation_loss(
    original: Microdata, protected: Microdata, *, variables: NumericColumns = NUMERIC
) -> Result:
    r"""How far the dependence of each number on all others moves.

    .. math:: \frac{1}{\sqrt2}\left\| \frac{d}{\|d\|} - \frac{d'}{\|d'\|} \right\|

    with d and d′ the diagonals of the inverse correlation matrices of the original and the protected file.
    d_j = 1/(1−R_j²) is the variance inflation of variable j given all others; `parts` shows it per variable.

    Weights: correlations are weighted. Missing values: complete records of each file. Files may differ in
    length. A singular correlation matrix has no inverse: nan, with a note. Fewer than three variables: nan,
    too. One has no correlation, and two depend on each other alike, d₁ = d₂, so that the formula is 0
    whatever happens to their correlation; `parts` and `moments` show it.
    Reference: Młodak (2020). Departures: 1/√2 as in Młodak et al. (2022) and sdcMicro, where 2020 has 1/2.

    >>> import polars as pl, sdckit as sdc
    >>> frame = pl.DataFrame({"x": [1.0, 2, 3, 4], "y": [1.0, 3, 2, 5], "z": [2.0, 0, 1, 0]})
    >>> data = sdc.read(frame, numeric=["x", "y", "z"])
    >>> other = data.with_frame(frame.with_columns(pl.col("z").reverse()))
    >>> round(sdc.utility.correlation_loss(data, other).value, 3)
    0.197
    """
    pair = matrices(numeric_pair(original, protected, variables))
    if not pair.variables:
        return Result(math.nan, notes=(*pair.notes, "No variable to compare."), lost=pair.lost)
    if any(np.linalg.cond(r) > _WORST for r in pair.correlation):
        reason = "A correlation matrix is singular: some variable is a linear function of the others."
        return Result(math.nan, notes=(*pair.notes, reason), lost=pair.lost)
    first, second = (_inflation(r) for r in pair.correlation)
    parts = pl.DataFrame({"variable": pair.variables, "original": first, "protected": second})
    if len(pair.variables) < 3:
        why = (
            "One variable alone has no correlations to lose."
            if len(pair.variables) == 1
            else "Two variables depend on each other alike, so the formula cannot see their "
            "correlation change: it needs three. The parts show the change, and so does moments."
        )
        return Result(math.nan, {}, parts, (*pair.notes, why), lost=pair.lost)
    return Result(loss(first, second), {}, parts, pair.notes, lost=pair.lost)


def _inflation(r: Floats) -> Floats:
    return np.asarray(np.diag(np.linalg.inv(r)), dtype=np.float64)


def loss(first: Floats, second: Floats) -> float:
    """The distance of two directions in the positive orthant, from 0 to 1."""
    distance = np.linalg.norm(first / np.linalg.norm(first) - second / np.linalg.norm(second))
    return min(float(distance) / math.sqrt(2), 1.0)
