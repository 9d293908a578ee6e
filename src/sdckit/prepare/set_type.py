"""The type of variables: numbers, categories, dates."""

from enum import StrEnum
from typing import Annotated, Any

import polars as pl

from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.data.values import as_text, in_words, texts
from sdckit.errors import ColumnError, DataError, OptionError
from sdckit.io.delimited import TYPES
from sdckit.methods.options import Columns, Option, Requires
from sdckit.methods.preparing import Prepared
from sdckit.methods.registry import preparation

FORMS = ("%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y%m%d")
NUMBERS = ("integer", "float", "float with comma")  # as text files are read


class VariableType(StrEnum):
    """What a variable can be made."""

    NUMBER = "number"
    CATEGORY = "category"
    DATE = "date"


FIRST = {
    VariableType.NUMBER: "; codes such as 0110 are categories.",
    VariableType.DATE: ", or say the form of the dates.",
}


@preparation("Change the type of variables", family="Values", rules=(Requires("format", "type", ("date",)),))
def set_type(
    data: Microdata,
    *,
    variables: Annotated[Columns, Option("Variables", "The variables that become another type.")],
    type: Annotated[
        VariableType,
        Option(
            "Type",
            "What they become.",
            choices={
                "number": "text such as 12 or 2,5 becomes a number",
                "category": "numbers such as 1 and 2 become codes, which nobody adds up",
                "date": "text becomes days",
            },
        ),
    ],
    format: Annotated[
        str,
        Option(
            "Form of the dates",
            "For instance %d.%m.%Y for 31.12.2024, or %m/%d/%Y for 12/31/2024.",
            basic=True,
            absent="the one in which all can be read",
        ),
    ]
    | None = None,
) -> Prepared:
    """Make numbers of text, categories of numbers, or dates of text; no value may be lost on the way.

    Where a value cannot become the type, nothing is changed and the number of such values is told: declare
    them missing first, or replace them. Labels of codes stay with their codes. Numbers have a decimal point
    or a decimal comma. Dates are days; a number such as 20241231 is read as the text it is written with.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": [1, 2], "born": ["31.12.1980", "1.2.1990"]}))
    >>> data = sdc.prepare.set_type(data, variables="sex", type="category")
    >>> sdc.prepare.set_type(data, variables="born", type="date").frame.rows()
    [('1', datetime.date(1980, 12, 31)), ('2', datetime.date(1990, 2, 1))]
    """
    made = [_made(data.frame[c], type, format) for c in variables]
    coded = dict(data.labels.values)
    for column in made:
        if column.name in coded:
            coded[column.name] = _codes(coded[column.name], column.dtype)
    labels = Labels(data.labels.variables, {c: t for c, t in coded.items() if t})
    frame = data.frame.with_columns(made)
    return Prepared(frame, {"columns_changed": list(variables)}, labels=labels, record_by_record=True)


def _made(column: pl.Series, wanted: VariableType, form: str | None) -> pl.Series:
    if column.dtype.is_nested() or column.dtype == pl.Duration:
        raise ColumnError(f"Column {column.name!r} holds {column.dtype}: its type cannot be changed.")
    if wanted is VariableType.CATEGORY:
        return texts(column)
    held = in_words(column.dtype)
    if held == ("numbers" if wanted is VariableType.NUMBER else "dates or times"):
        return column
    if wanted is VariableType.NUMBER and held == "true or false":
        return column.cast(pl.Int64)
    if held == "dates or times":
        raise ColumnError(f"Column {column.name!r} holds dates, which are no numbers.")
    text = texts(column).str.strip_chars()
    if wanted is VariableType.NUMBER:
        tries = [text.to_frame().select(TYPES[t](pl.col(column.name))).to_series() for t in NUMBERS]
    else:
        tries = [_days(text, form) if form else _found_days(text)]
    best = min(tries, key=lambda found: found.null_count())
    lost = best.null_count() - column.null_count()
    if lost:
        raise DataError(
            f"Values of {column.name!r} cannot become a {wanted.value}.",
            given=f"{lost:,} of {len(column) - column.null_count():,} values",
            hint="Declare them missing (declare_missing) or replace them (replace_values) first"
            + FIRST[wanted],
        )
    return best


def _found_days(text: pl.Series) -> pl.Series:
    """Dates in the form in which most can be read; refused where two forms read all as different days."""
    missing = text.null_count()
    text = text.set(text.str.contains(r"\d{4}").not_(), None)  # a year of two digits is of no century
    tries = [(form, _days(text, form)) for form in FORMS]
    fewest = min(days.null_count() for _, days in tries)
    best = [(form, days) for form, days in tries if days.null_count() == fewest]
    if fewest == missing and any(not days.equals(best[0][1]) for _, days in best[1:]):
        forms = " or ".join(form for form, _ in best)
        raise OptionError(
            f"The dates in {text.name!r} can be read as {forms}.", hint="Say the form of the dates."
        )
    return best[0][1]


def _days(text: pl.Series, form: str) -> pl.Series:
    try:
        return text.str.to_date(form, strict=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise OptionError(
            "This is not the form of a date.", given=form, allowed="%Y year, %m month, %d day: %d.%m.%Y"
        ) from None


def _codes(labels: Any, dtype: pl.DataType) -> dict[Any, str]:
    """The labels of codes under the new type; those of codes that are no such value go."""
    if not dtype.is_numeric():
        return {} if dtype.is_temporal() else {as_text(code): text for code, text in labels.items()}
    found: dict[Any, str] = {}
    for code, text in labels.items():
        try:
            number = float(as_text(code))
        except ValueError:
            continue
        found[int(number) if dtype.is_integer() and number.is_integer() else number] = text
    return found
