"""Prediction quality: does a model predict the same on average?"""

import math
from collections.abc import Sequence

import numpy as np

from sdckit import charts
from sdckit.data.common_columns import as_list
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.errors import DataError
from sdckit.estimate.regression import Family, Spread
from sdckit.methods.registry import utility
from sdckit.methods.spec import Better, Figure
from sdckit.utility._estimates import R_SQUARED, FamilyOption, Formula
from sdckit.utility.regression import CoefficientVariance, fitted


@utility(
    "Prediction quality",
    family="What analysts compute",
    unit="share of the original mean prediction",
    reference="Templ (2017), ch. 5",
    several=True,
    engines="all",
    main="formula",
    figures={
        "mean_original": Figure("Mean prediction, original", "", Better.NEITHER, (-math.inf, math.inf)),
        "mean_protected": Figure("Mean prediction, protected", "", Better.NEITHER, (-math.inf, math.inf)),
        **R_SQUARED,
    },
    chart=charts.FigureBars(("mean_original", "mean_protected"), "mean prediction"),
    interpretation=(
        "0: the model predicts the same on average. 0.01: the mean prediction moved by 1 %. A linear model "
        "with an intercept predicts the mean of its outcome: this then is its relative change."
    ),
)
def prediction_quality(
    original: Microdata,
    protected: Microdata | Sequence[Microdata],
    *,
    formula: Formula,
    family: FamilyOption = Family.OLS,
) -> Result:
    r"""Relative difference of the weighted mean of the fitted values.

    .. math:: \left|(\bar{\hat y}_w^{o} - \bar{\hat y}_w^{m}) / \bar{\hat y}_w^{o}\right|

    The model is fitted to each file with its weights. Figures: both means, and `r_squared` of both fits,
    1 − Σw(y−ŷ)²/Σw(y−ȳ)², for logit and poisson, too (there it is Efron's). The formula and
    family are as in `regression`; missing values are left out record by record. Several synthetic sets: the
    mean of their mean predictions. Reference: Templ (2017).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"y": [1.0, 2.0, 4.0, 5.0], "x": [1.0, 2.0, 3.0, 4.0]}), numeric="y")
    >>> other = data.with_frame(data.frame.with_columns(pl.col("y") + 0.3))
    >>> round(sdc.utility.prediction_quality(data, other, formula="y ~ x").value, 6)
    0.1
    """
    sets = as_list(protected, "prediction_quality")
    fits, notes = fitted([original, *sets], formula, family, CoefficientVariance(Spread.MODEL))
    first, others = fits[0], [f for f in fits[1:] if f is not None]
    if first is None:
        raise DataError("The original has fewer than two complete records for this formula.")
    if not others:
        return Result(math.nan, notes=tuple(notes))
    before, after = first.mean_fitted, float(np.mean([f.mean_fitted for f in others]))
    figures = {"mean_original": before, "mean_protected": after}
    ends = {"original": first.r_squared, "protected": float(np.mean([f.r_squared for f in others]))}
    figures |= {f"r_squared_{name}": r for name, r in ends.items() if math.isfinite(r)}
    if before == 0:
        return Result(math.nan, figures, notes=(*notes, "The original mean prediction is 0."))
    return Result(abs((before - after) / before), figures, notes=tuple(notes))
