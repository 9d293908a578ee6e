"""Columns of dates: which they are, and their calendar years, quarters, months and ages."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any

import narwhals as nw
import polars as pl

from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.data.values import in_words
from sdckit.engine import dates, frames
from sdckit.engine.dates import is_date
from sdckit.errors import ColumnError, DataError, OptionError
from sdckit.methods.recoding import SameCall
from sdckit.protect._categories import recoded


class DatePart(StrEnum):
    """What a date becomes."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    AGE = "age"


def iso_text(value: Any) -> Any:
    """A date as text, as a plan has it; anything else unchanged."""
    if isinstance(value, datetime):
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, date) else value


def date_columns(data: Microdata) -> tuple[str, ...]:
    """The columns of days and moments."""
    return tuple(c for c, kind in frames.schema(data.frame).items() if is_date(kind))


def require_dates(data: Microdata, columns: tuple[str, ...], method: str) -> None:
    """Refuse columns that hold no dates."""
    schema = frames.schema(data.frame)
    for column in columns:
        if not is_date(schema[column]):
            raise ColumnError(
                f"{method} needs dates; {column!r} does not hold dates.",
                given=in_words(schema[column]),
                allowed=join_names(date_columns(data)) or "the data have no column of dates",
                hint="In a text file dates are read where all are written as 2001-07-31.",
            )


def to_part(data: Microdata, variable: str, part: DatePart, at: str | None) -> Microdata:
    """The file with a date as its year, quarter or month, or as the age on a day."""
    require_dates(data, (variable,), "recode(to=…)")
    if part is DatePart.AGE:
        day = _reference_day(data, variable, at)
        table = dates.ages(data.table, variable, day)
        _refuse_negative(table, variable, day)
    else:
        table = dates.parts(data.table, variable, part.value)
    frame = table.to_native()
    if data.engine == "polars":
        gathered = frames.gather(table)
        frame = gathered.with_columns(_ordered(gathered[variable]))
    values = nw.col(variable)
    counts = frames.gather(
        table.select(values.count().alias("present"), values.n_unique().alias("different"))
    )
    present, different = counts.row(0)
    options = {"to": part.value} | ({"at": at} if at is not None else {})
    return recoded(
        data,
        frame,
        {variable: SameCall("recode", "variable", options)},
        variable=variable,
        categories=different - (present < data.height),  # missing is counted as a value of its own
        values_changed=present,
    )


def _ordered(column: pl.Series) -> pl.Series:
    """Texts such as 2001-07 as categories in the order of time; numbers stay numbers."""
    if column.dtype != pl.String:
        return column
    found = sorted(column.drop_nulls().unique(), key=lambda text: (int(text.split("-")[0]), text))
    return column.cast(pl.Enum(found))


def _reference_day(data: Microdata, variable: str, at: str | None) -> date | str:
    """The day on which people have the age: a date, or the column that has it."""
    if at is None:
        raise OptionError(
            "An age is the age on a day.", given="to: age without at", allowed='at: "2026-01-01", or a column'
        )
    if at in data.columns and at != variable:
        require_dates(data, (at,), "Option 'at' of recode")
        return at
    try:
        return date.fromisoformat(at)
    except ValueError:
        others = [c for c in date_columns(data) if c != variable]
        raise OptionError(
            "Option 'at' of recode is neither a day nor a column of dates.",
            given=repr(at),
            allowed=join_names(["a day such as 2026-01-01", *others]),
        ) from None


def _refuse_negative(table: Any, variable: str, day: date | str) -> None:
    below = frames.gather(table.select((nw.col(variable) < 0).cast(nw.Int64).sum().alias("n")))["n"][0]
    if below:
        raise DataError(
            f"Some dates in {variable!r} are after {day}: no age can be negative.",
            given=f"{below} of them",
            hint="Choose a later day, or make these dates missing before.",
        )
