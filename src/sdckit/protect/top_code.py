"""Top coding: no number above a threshold."""

from typing import Annotated

from sdckit.data.microdata import Microdata
from sdckit.methods.options import NUMERIC, By, OneOf, Option, Requires
from sdckit.methods.registry import protection
from sdckit.methods.where import Where
from sdckit.protect._ellipsoid import pull_in
from sdckit.protect._households import once_per_household
from sdckit.protect._memory import require_memory
from sdckit.protect._numbers import NumbersToChange, matrix_of, number_columns, with_numbers
from sdckit.protect._strata import pooled_strata
from sdckit.protect._tails import Replacement, TailReplacement, TailShare, TailValue, at_a_value, cut_tails

PER_VARIABLE = 5  # records a stratum needs for a joint threshold


@protection(
    "Top coding",
    family="Coarser values",
    engines="all",
    reference="Hundepool et al. (2012), ch. 3; Rousseeuw & Van Driessen (1999)",
    rules=(
        OneOf(("value", "share"), required=True),
        Requires("joint", "share"),
        OneOf(("joint", "replacement")),
    ),
)
@once_per_household(value_by_value=at_a_value)
def top_code(
    data: Microdata,
    *,
    variables: NumbersToChange = NUMERIC,
    value: TailValue | None = None,
    share: TailShare | None = None,
    replacement: TailReplacement = Replacement.THRESHOLD,
    joint: Annotated[
        bool,
        Option("All variables together", "Draw in records that are far out in the variables taken together."),
    ] = False,
    by: By = (),
    where: Where | None = None,
) -> Microdata:
    r"""Replace the numbers above a threshold, each variable on its own or all of them together.

    The threshold is a `value`, or the lowest of the present values that at most a `share` of them are
    above (0.01: the highest hundredth is cut). In place of the values above comes the threshold, their
    `"mean"` (keeps totals and means) or `"median"`, or a given number; a mean or median of fewer than three
    values would give them away and is the threshold instead. `by`: within strata, each with its own threshold
    and mean.

    `joint=True` looks at all variables together, for records that are odd only in combination. With the
    robust centre c and covariance S of the MCD, the `share` of records with the largest distance
    d = √((x−c)ᵀS⁻¹(x−c)), above t, are drawn to the centre onto the ellipsoid, y = c + (x−c)·t/d; low
    values rise, high values fall, and directions stay. Records with missing values count with the variables
    they have (never farther than with all). Strata of fewer than five records per variable are pooled.

    Missing stays missing. Whole numbers stay whole unless means, medians or ellipsoids make them decimal.
    A variable that households share is cut once per household, and totals stay over households, not persons.
    Weights are not used, and weighted totals change.
    `where`: protect only the records that a measure flags, see `sdckit.methods.where`.
    Reference: Hundepool et al. (2012). Departure: the joint rule is ours, with Rousseeuw & Van Driessen's
    estimator.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"age": [30, 64, 89, 97, None]}), numeric="age")
    >>> sdc.protect.top_code(data, value=85).frame["age"].to_list()
    [30, 64, 85, 85, None]
    """
    if not joint or share is None:
        return cut_tails(
            data,
            variables,
            method="top_code",
            value=value,
            share=share,
            replacement=replacement,
            by=by,
            upper=True,
        )
    require_memory(data, "joint=True")
    names = number_columns(data, variables, "top_code")
    x = matrix_of(data, names)
    y = x.copy()
    for rows in pooled_strata(data, by, PER_VARIABLE * len(names)):
        y[rows] = pull_in(x[rows], share)
    return with_numbers(data, names, x, y)
