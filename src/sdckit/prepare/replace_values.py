"""Values found and replaced."""

from collections.abc import Mapping
from typing import Annotated, Any

import polars as pl
from pydantic import Field

from sdckit._support.messages import join_names
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.data.values import as_text, in_words, texts
from sdckit.errors import ColumnError, OptionError, preview
from sdckit.methods.options import Columns, Option
from sdckit.methods.preparing import Prepared
from sdckit.methods.registry import preparation


@preparation("Find and replace values", family="Values")
def replace_values(
    data: Microdata,
    *,
    variables: Annotated[Columns, Option("Variables", "The variables in which values are replaced.")],
    values: Annotated[
        Mapping[str | int | float, str | int | float],
        Field(min_length=1),
        Option("Values", "What is found and what it becomes, one a line, for instance Viena: Vienna."),
    ],
) -> Prepared:
    """Replace values by others, whole values only: a misspelt name, a code of an old classification.

    All are replaced at once, so that a and b can be exchanged. 1 and 1.0 are the same value. It is no
    protection: to make categories coarser use the step `group`, which is judged. The verdict asks to accept
    the change of columns with a role.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"city": ["Viena", "Graz", "Vienna"]}))
    >>> sdc.prepare.replace_values(data, variables="city", values={"Viena": "Vienna"}).frame["city"].to_list()
    ['Vienna', 'Graz', 'Vienna']
    """
    wanted = {as_text(old): new for old, new in values.items()}
    changed, columns = {}, []
    for name in variables:
        column = data.frame[name]
        written = texts(column)
        held = written.is_in(list(wanted)).fill_null(value=False)
        if held.any():
            changed[name] = int(held.sum())
            columns.append(_replaced(column, written, held, wanted))
    if not changed:
        raise OptionError(
            "None of the values that replace_values names is in the variables.",
            given=preview(list(values)),
            allowed=f"values of {join_names(variables, 6)}",
        )
    coded = {
        c: {v: t for v, t in had.items() if c not in variables or as_text(v) not in wanted}
        for c, had in data.labels.values.items()
    }
    labels = Labels(data.labels.variables, {c: had for c, had in coded.items() if had})
    frame = data.frame.with_columns(columns)
    return Prepared(frame, {"values_changed": changed}, labels=labels, record_by_record=True)


def _replaced(column: pl.Series, written: pl.Series, held: pl.Series, wanted: Mapping[str, Any]) -> pl.Series:
    """The column with new values where old ones are held; numbers stay numbers, text stays text."""
    new = {old: value for old, value in wanted.items() if (written == old).any()}
    if column.dtype.is_numeric():
        bad = [v for v in new.values() if isinstance(v, bool | str)]
        if bad:
            raise ColumnError(
                f"Column {column.name!r} holds numbers, and {preview(bad[0])} is none.",
                hint="Make it a category first: set_type.",
            )
        whole = column.dtype.is_integer() and all(float(v).is_integer() for v in new.values())
        kind: Any = column.dtype if whole else pl.Float64
        made = written.replace_strict(
            list(new), [int(v) if whole else float(v) for v in new.values()], default=None, return_dtype=kind
        )
        return made.zip_with(held, column.cast(kind)).alias(column.name)
    if in_words(column.dtype) != "text":
        raise ColumnError(
            f"Column {column.name!r} holds {in_words(column.dtype)}: replace_values takes numbers and text.",
            hint="Make it a category first: set_type.",
        )
    made = written.replace(list(new), [as_text(v) for v in new.values()])
    return made.zip_with(held, column.cast(pl.String)).alias(column.name)
