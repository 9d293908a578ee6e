"""Values set to missing by a rule."""

from typing import Annotated

import polars as pl

from sdckit.data.microdata import Microdata
from sdckit.errors import OptionError
from sdckit.methods.options import Columns, Option
from sdckit.methods.preparing import Prepared
from sdckit.methods.registry import preparation
from sdckit.prepare._rule import RuleText, records_where


@preparation("Set values to missing", family="Values")
def set_missing(
    data: Microdata,
    *,
    variables: Annotated[Columns, Option("Variables", "The variables whose values become missing.")],
    where: Annotated[
        RuleText, Option("Records for which", "A rule, for instance age < 15; others stay as they are.")
    ],
) -> Prepared:
    """Set the values of variables to missing in the records for which a rule holds.

    For values that mean nothing: an income of children, an impossible date. It is no protection: intruders
    who know the true values are not looked at. To suppress values that are true, use the steps `suppress` and
    `suppress_risky`, which are judged. The verdict therefore asks to accept changes of columns with a role.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"age": [7, 40], "income": [0, 900]}))
    >>> sdc.prepare.set_missing(data, variables="income", where="age < 15").frame["income"].to_list()
    [None, 900]
    """
    held = pl.Series(records_where(data, where))
    if not held.any():
        raise OptionError("The rule of set_missing holds for no record.", given=where)
    changed = {c: int((held & data.frame[c].is_not_null()).sum()) for c in variables}
    frame = data.frame.with_columns(pl.when(~held).then(pl.col(list(variables))))
    figures = {"records_chosen": int(held.sum()), "values_changed": {c: n for c, n in changed.items() if n}}
    return Prepared(frame, figures, record_by_record=True)
