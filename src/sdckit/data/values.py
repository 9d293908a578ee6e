"""Values of several files on one footing: 1 and 1.0 are the same value.

pandas turns whole numbers into floating-point ones when one of them is suppressed, so a code may be an
integer in the original and a float in the protected file.
"""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit._support.messages import join_names
from sdckit.errors import preview

_INTEGERS = 2.0**62  # floats below are safe as 64-bit integers
_FEW = 50  # more different values than this are hardly categories
_TEXT = (pl.String, pl.Categorical, pl.Enum, pl.Boolean)


def as_text(value: object) -> str:
    """A value as people write it: 1 for 1.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def text_of(column: str, kind: Any) -> nw.Expr:
    """A column of this type (narwhals') as text, on any engine; whole floats as integers."""
    x = nw.col(column)
    if not kind.is_numeric() or kind.is_integer():
        return x.cast(nw.String)
    number = x.cast(nw.Float64)
    small = nw.when(number.abs() < _INTEGERS).then(number).otherwise(0.5)
    integer = small.cast(nw.Int64)
    whole = integer.cast(nw.Float64) == small
    return nw.when(whole).then(integer.cast(nw.String)).otherwise(number.cast(nw.String)).alias(column)


def in_words(kind: Any) -> str:
    """What a column of this type (Polars' or narwhals') holds, for people: numbers, text, dates.

    >>> in_words(pl.Int64()), in_words(pl.Enum(["a"])), in_words(pl.Date())
    ('numbers', 'text', 'dates or times')
    """
    if kind.is_numeric():
        return "numbers"
    if kind.is_temporal():
        return "dates or times"
    if kind.is_nested():
        return "lists"
    return "true or false" if str(kind) == "Boolean" else "text"


def are_categories(number: int, kind: Any) -> bool:
    """Whether so many different values of this type may be told: few, and no measurements or dates.

    Messages reach reports; names and incomes of persons must not.
    """
    measured = kind.is_temporal() or (kind.is_numeric() and not kind.is_integer())
    return number <= _FEW and not measured


def instead_of_numbers(frame: Any, column: str, kind: Any, *, reading: bool = False) -> str:
    """What a column of this type holds that is no number: its categories, or in words.

    On reading, when nobody but the owner of the data sees the message, the first such value.

    >>> frame = pl.DataFrame({"x": ["1", "2,5", None, "k.A."]})
    >>> instead_of_numbers(frame, "x", pl.String(), reading=True), instead_of_numbers(frame, "x", pl.String())
    ("'k.A.' in record 4", 'text')
    """
    categories = list(getattr(kind, "categories", ()))
    if categories and are_categories(len(categories), kind):
        return f"categories: {join_names(categories, 6)}"
    if reading and isinstance(frame, pl.DataFrame) and str(kind) == "String":
        text = frame[column].str.strip_chars()
        odd = text.is_not_null() & text.str.replace(",", ".").cast(pl.Float64, strict=False).is_null()
        if odd.any():
            record = int(odd.arg_max() or 0)
            return f"{preview(frame[column][record])} in record {record + 1:,}"
    return in_words(kind)


def texts(column: pl.Series) -> pl.Series:
    """A column as text; whole floats as integers, missing stays missing.

    >>> texts(pl.Series([[1, 2], None])).to_list(), texts(pl.Series([2.0, 2.5])).to_list()
    (['{"":[1,2]}', None], ['2', '2.5'])
    """
    if column.dtype.is_nested():  # no cast to text is known for lists
        written = column.to_frame("").to_struct().struct.json_encode()
        return written.zip_with(column.is_not_null(), pl.Series([None], dtype=pl.String)).alias(column.name)
    column = column.to_physical() if column.dtype == pl.Duration else column
    table = nw.from_native(column.to_frame("x"), eager_only=True)
    made: pl.DataFrame = table.select(text_of("x", table.schema["x"])).to_native()
    return made["x"].alias(column.name)


def is_date(kind: pl.DataType) -> bool:
    """Whether a column of this type holds days or moments."""
    return isinstance(kind, pl.Date | pl.Datetime)


def as_numbers(column: pl.Series) -> Floats:
    """Numbers, and dates as days since 1970, with the time of day as a part; nan where missing.

    >>> from datetime import date, datetime
    >>> as_numbers(pl.Series([date(1970, 1, 3), None])), as_numbers(pl.Series([datetime(1970, 1, 1, 12)]))
    (array([ 2., nan]), array([0.5]))
    """
    if is_date(column.dtype):
        column = column.cast(pl.Datetime("us")).to_physical().cast(pl.Float64) / 86_400e6
    return np.asarray(column.cast(pl.Float64).fill_null(float("nan")).to_numpy(), dtype=np.float64)


def in_one_column(columns: Sequence[pl.Series]) -> pl.Series | None:
    """One column of all, in a type in which equal values are equal; None where there is no such type.

    Text of different kinds is text; a column without any value goes with all others. Only an
    Enum that is the same in all stays one.
    """
    name, first = columns[0].name, columns[0].dtype
    if not (isinstance(first, pl.Enum) and all(c.dtype == first for c in columns)):
        columns = [c.cast(pl.String) if c.dtype in _TEXT else c for c in columns]
    present = [c for c in columns if c.null_count() < len(c)]
    types = {c.dtype for c in present}
    if len(types) > 1 and not all(t.is_numeric() for t in types):
        return None
    # of numbers of several types: the narrowest that holds them all
    shared = (
        pl.concat([c.to_frame("x") for c in present], how="vertical_relaxed")["x"].dtype if present else first
    )
    shared = pl.Float64() if shared == pl.Null else shared
    return pl.concat([c.cast(shared, strict=False).alias(name) for c in columns])
