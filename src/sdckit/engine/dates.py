"""Parts of dates, on every engine; NULL stays NULL."""

from datetime import date

import narwhals as nw

from sdckit.engine.tables import Table

YEAR, QUARTER, MONTH = "year", "quarter", "month"


def is_date(kind: nw.dtypes.DType) -> bool:
    """Whether a column of this type holds days or moments: times of day and durations have no year."""
    return isinstance(kind, nw.Date | nw.Datetime)


def parts(table: Table, column: str, part: str) -> Table:
    """The column as the year (a whole number), the quarter "2001-Q3" or the month "2001-07"."""
    moment = nw.col(column).dt
    year, month = moment.year().cast(nw.Int64), moment.month().cast(nw.Int64)
    if part == YEAR:
        return table.with_columns(year.alias(column))
    number = (month + 2) // 3 if part == QUARTER else month
    between = (
        nw.lit("-Q") if part == QUARTER else nw.when(month < 10).then(nw.lit("-0")).otherwise(nw.lit("-"))
    )
    text = nw.concat_str([year.cast(nw.String), between, number.cast(nw.String)])
    return table.with_columns(nw.when(~nw.col(column).is_null()).then(text).alias(column))


def ages(table: Table, column: str, at: date | str) -> Table:
    """The column as completed years on a day, or on the days of another column.

    Who was born on 29 February has the birthday on 1 March where there is no such day.
    """
    born = nw.col(column).dt
    if isinstance(at, str):
        then = nw.col(at).dt
        years = then.year().cast(nw.Int64) - born.year().cast(nw.Int64)
        due = then.month().cast(nw.Int64) * 100 + then.day().cast(nw.Int64)
    else:
        years = at.year - born.year().cast(nw.Int64)
        due = nw.lit(at.month * 100 + at.day)
    birthday = born.month().cast(nw.Int64) * 100 + born.day().cast(nw.Int64)
    return table.with_columns((years - (birthday > due).cast(nw.Int64)).alias(column))
