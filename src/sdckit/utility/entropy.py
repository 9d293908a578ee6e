"""Entropy of categorical variables, before and after."""

import math
from enum import StrEnum

import polars as pl

from sdckit import charts
from sdckit.data.common_columns import categorical_variables, lost_columns
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.engine import tables
from sdckit.methods.options import Columns
from sdckit.methods.registry import utility


class MissingShare(StrEnum):
    """How missing values enter an entropy.

    whole: they leave the categories but stay in n, as in the definition.
    complete: they leave both.
    category: they are a category.
    """

    WHOLE = "whole"
    COMPLETE = "complete"
    CATEGORY = "category"


@utility(
    "Change of entropy",
    unit="nats (0.69: one yes-or-no question)",
    section="categorical",
    engines="all",
    reference="Templ (2017), ch. 5; Shannon (1948)",
    chart=charts.PartsBeforeAfter("entropy, nats (0.69: one yes-or-no question)"),
    interpretation=(
        "0: the categories are as spread out as before. Recoding lowers entropy by the detail that is lost: "
        "ln 2 ≈ 0.69 is one yes-or-no question."
    ),
)
def entropy(
    original: Microdata,
    protected: Microdata,
    *,
    variables: Columns = (),
    missing: MissingShare = MissingShare.WHOLE,
) -> Result:
    r"""How much the spread of categories changes, per variable.

    .. math:: E = -\frac1n \sum_c f_c \ln\frac{f_c}{n}

    for the original and the protected variable. The value is the mean of |Eₓ−E_y| over the variables (keys
    and categorical sensitive columns by default); `parts` has both entropies and the signed loss Eₓ−E_y.

    Weights: f and n are sums of weights. Missing values: with `missing="whole"` n counts all records and f
    leaves missing ones out, as published; "complete" leaves them out of both; "category" makes them one.
    Files may differ in length. Reference: Templ (2017).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"a": ["x", "y", "z", "z"]}), keys="a")
    >>> other = data.with_frame(pl.DataFrame({"a": ["x", "x", "z", "z"]}))
    >>> [round(v, 6) for v in sdc.utility.entropy(data, other).parts.row(0)[1:]]
    [1.039721, 0.693147, 0.346574]
    """
    chosen = tuple(variables) or categorical_variables(original, protected)
    if not chosen:
        return Result(math.nan, notes=("No categorical variable to compare.",))
    rows = []
    for column in chosen:
        before, after = (_entropy(data, column, missing) for data in (original, protected))
        rows.append((column, before, after, before - after))
    parts = pl.DataFrame(rows, schema=["variable", "original", "protected", "loss"], orient="row")
    lost = lost_columns(original, protected, variables or categorical_variables(original, original))
    means = {name: float(parts[name].mean()) for name in ("original", "protected", "loss")}  # type: ignore[arg-type]
    return Result(float(parts["loss"].abs().mean()), means, parts, lost=lost)  # type: ignore[arg-type]


def _entropy(data: Microdata, column: str, missing: MissingShare) -> float:
    drop = missing is not MissingShare.CATEGORY
    table = tables.contingency(data.table, [column], data.roles.weight, drop_missing=drop)
    counts = table[tables.COUNT].to_numpy()
    total = float(data.weights().sum()) if missing is MissingShare.WHOLE else float(counts.sum())
    shares = [float(f) / total for f in counts if f > 0]
    return -sum(p * math.log(p) for p in shares) + 0.0
