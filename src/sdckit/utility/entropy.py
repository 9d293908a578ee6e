"""Entropy of categorical variables, before and after."""

import math
from enum import StrEnum
from typing import Annotated

import polars as pl

from sdckit import charts
from sdckit.data.common_columns import categorical_variables, lost_columns
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.engine import tables
from sdckit.methods.options import Columns, Option
from sdckit.methods.registry import utility
from sdckit.methods.spec import Better, Figure
from sdckit.utility._variables import recoded_alike, require_named

CategoricalColumns = Annotated[
    Columns,
    Option(
        "Variables", "The variables to compare.", basic=True, absent="keys and categorical sensitive columns"
    ),
]


class MissingShare(StrEnum):
    """How missing values enter an entropy.

    whole: they are in no category but count in n, as in the definition.
    complete: they are in no category and do not count in n.
    category: they are a category of their own.
    """

    WHOLE = "whole"
    COMPLETE = "complete"
    CATEGORY = "category"


@utility(
    "Change of entropy",
    family="Categories",
    unit="nats (0.69: one yes-or-no question)",
    section="categorical",
    engines="all",
    main="variables",
    figures={
        "original": Figure("In the original", "nats", Better.NEITHER),
        "protected": Figure("In the protected file", "nats", Better.NEITHER),
        "loss": Figure("Lost", "nats", Better.NEITHER, (-math.inf, math.inf)),
        "by_recoding": Figure("Lost by recoding alone", "nats"),
    },
    reference="Templ (2017), ch. 5; Shannon (1948)",
    chart=charts.PartsBeforeAfter("entropy, nats (0.69: one yes-or-no question)"),
    interpretation=(
        "0: the categories are as spread out as before. Recoding lowers entropy by the detail that is lost, "
        "which is told apart: ln 2 ≈ 0.69 is one yes-or-no question."
    ),
)
def entropy(
    original: Microdata,
    protected: Microdata,
    *,
    variables: CategoricalColumns = (),
    missing: Annotated[
        MissingShare,
        Option(
            "Missing values",
            "How missing and suppressed values enter the entropy.",
            choices={
                "whole": "in no category, but counted in the number of records",
                "complete": "left out: only the records with a value count",
                "category": "a category of their own",
            },
        ),
    ] = MissingShare.WHOLE,
) -> Result:
    r"""How much the spread of categories changes, per variable.

    .. math:: E = -\frac1n \sum_c f_c \ln\frac{f_c}{n}

    for the original and the protected variable. The value is the mean of |Eₓ−E_y| over the variables (keys
    and categorical sensitive columns by default); `parts` has both entropies and the signed loss Eₓ−E_y.

    Other names of the same categories change nothing. Where the steps of the protected file recoded a
    variable, `by_recoding` is the part of the loss that is due to the coarser categories alone: Eₓ less the
    entropy of the original in these categories. A variable that the protected file no longer has is left out
    and named in `lost`.

    Weights: f and n are sums of weights. Missing values: with `missing="whole"` n counts all records and f
    leaves missing ones out, as published; "complete" leaves them out of both; "category" makes them one.
    Files may differ in length. Reference: Templ (2017).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"a": ["x", "y", "z", "z"]}), keys="a")
    >>> other = data.with_frame(pl.DataFrame({"a": ["x", "x", "z", "z"]}))
    >>> [round(v, 6) for v in sdc.utility.entropy(data, other).parts.row(0)[1:]]
    [1.039721, 0.693147, 0.346574, 0.0]
    """
    require_named(protected, variables)
    chosen = tuple(variables) or categorical_variables(original, protected)
    lost = lost_columns(original, protected, variables or categorical_variables(original, original))
    if not chosen:
        return Result(math.nan, notes=("No categorical variable to compare.",), lost=lost)
    alike, recoded = recoded_alike(original, protected, chosen)
    rows = []
    for column in chosen:
        before, after = (_entropy(data, column, missing) for data in (original, protected))
        coarser = before - _entropy(alike, column, missing) if column in recoded else 0.0
        rows.append((column, before, after, before - after, max(coarser, 0.0)))
    numbers = ("original", "protected", "loss", "by_recoding")
    parts = pl.DataFrame(rows, schema=["variable", *numbers], orient="row")
    means = {name: float(parts[name].mean()) for name in numbers}  # type: ignore[arg-type]
    notes = tuple(
        f"Recoding alone took {row[4]:.3g} of the {row[1]:.3g} nats of {row[0]}."
        for row in rows
        if row[0] in recoded
    )
    return Result(float(parts["loss"].abs().mean()), means, parts, notes, lost=lost)  # type: ignore[arg-type]


def _entropy(data: Microdata, column: str, missing: MissingShare) -> float:
    drop = missing is not MissingShare.CATEGORY
    table = tables.contingency(data.table, [column], data.roles.weight, drop_missing=drop)
    counts = table[tables.COUNT].to_numpy()
    total = data.weight_total() if missing is MissingShare.WHOLE else float(counts.sum())
    shares = [float(f) / total for f in counts if f > 0]
    return -math.fsum(p * math.log(p) for p in shares) + 0.0
