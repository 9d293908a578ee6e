"""Codes that mean missing."""

from collections.abc import Sequence
from typing import Annotated

import polars as pl
from pydantic import Field

from sdckit._support.messages import join_names
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.data.values import as_text, texts
from sdckit.errors import OptionError, preview
from sdckit.methods.options import Columns, Option
from sdckit.methods.preparing import Prepared
from sdckit.methods.registry import preparation


@preparation("Declare missing codes", family="Values")
def declare_missing(
    data: Microdata,
    *,
    codes: Annotated[
        Sequence[str | int | float],
        Field(min_length=1),
        Option("Codes", "The codes that mean missing, for instance 98, 99, k.A.", basic=True),
    ],
    variables: Annotated[
        Columns, Option("Variables", "The variables with these codes.", basic=True, absent="all variables")
    ] = (),
) -> Prepared:
    """Make codes such as 99, -1 or "refused" missing, in some variables or in all.

    1 and 1.0 are the same code. A code that is a true value elsewhere (99 years) is named with its variables
    only. The labels of these codes go with them. A code that tells something of a person is no missing value:
    the verdict asks to accept the change of columns with a role.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": [1, 2, 9], "age": [40, 9, 31]}))
    >>> sdc.prepare.declare_missing(data, variables="sex", codes=[9]).frame.rows()
    [(1, 40), (2, 9), (None, 31)]
    """
    wanted = {as_text(code) for code in codes}
    names = [c for c in variables or data.columns if not data.frame.schema[c].is_nested()]
    found = {c: texts(data.frame[c]).is_in(list(wanted)).fill_null(value=False) for c in names}
    changed = {c: int(held.sum()) for c, held in found.items() if held.any()}
    if not changed:
        raise OptionError(
            "None of the codes that declare_missing names is in the file.",
            given=preview(list(codes)),
            allowed=f"codes in {join_names(names, 6)}",
        )
    frame = data.frame.with_columns(pl.when(~found[c]).then(pl.col(c)).alias(c) for c in changed)
    values = {
        c: {v: t for v, t in coded.items() if c not in names or as_text(v) not in wanted}
        for c, coded in data.labels.values.items()
    }
    labels = Labels(data.labels.variables, {c: coded for c, coded in values.items() if coded})
    return Prepared(frame, {"values_changed": changed}, labels=labels, record_by_record=True)
