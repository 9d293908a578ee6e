"""Bottom coding: no number below a threshold."""

from sdckit.data.microdata import Microdata
from sdckit.methods.options import NUMERIC, By, OneOf
from sdckit.methods.registry import protection
from sdckit.methods.where import Where
from sdckit.protect._households import once_per_household
from sdckit.protect._numbers import NumbersToChange
from sdckit.protect._tails import Replacement, TailReplacement, TailShare, TailValue, at_a_value, cut_tails


@protection(
    "Bottom coding",
    family="Coarser values",
    engines="all",
    reference="Hundepool et al. (2012), ch. 3",
    rules=(OneOf(("value", "share"), required=True),),
)
@once_per_household(value_by_value=at_a_value)
def bottom_code(
    data: Microdata,
    *,
    variables: NumbersToChange = NUMERIC,
    value: TailValue | None = None,
    share: TailShare | None = None,
    replacement: TailReplacement = Replacement.THRESHOLD,
    by: By = (),
    where: Where | None = None,
) -> Microdata:
    """Replace the numbers below a threshold, each variable on its own: top coding turned round.

    The threshold is a `value`, or the highest of the present values that at most a `share` of them are
    below (0.01: the lowest hundredth is cut). In place of the values below comes the threshold, their
    `"mean"` (keeps totals and means) or `"median"`, or a given number; a mean or median of fewer than three
    values would give them away and is the threshold instead. `by`: within strata, each with its own threshold
    and mean.

    Missing stays missing. Whole numbers stay whole unless means or medians make them decimal. A variable that
    households share is cut once per household, and totals stay over households, not persons. Weights are not
    used, and weighted totals change.
    `where`: protect only the records that a measure flags, see `sdckit.methods.where`.
    Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"savings": [-900.0, -20.0, 0.0, 75.0]}), numeric="savings")
    >>> sdc.protect.bottom_code(data, value=0).frame["savings"].to_list()
    [0.0, 0.0, 0.0, 75.0]
    """
    return cut_tails(
        data,
        variables,
        method="bottom_code",
        value=value,
        share=share,
        replacement=replacement,
        by=by,
        upper=False,
    )
