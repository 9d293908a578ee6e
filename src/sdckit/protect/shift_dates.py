"""Dates moved by a random number of days, all dates of a person by the same."""

from enum import StrEnum
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Ints
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.errors import ColumnError, DataError, RoleError
from sdckit.methods.options import Column, Columns, OneOf, Option
from sdckit.methods.registry import protection
from sdckit.protect._dates import date_columns, require_dates
from sdckit.protect._households import households

LONGEST = 36_500  # days: a century


class Together(StrEnum):
    """Whose dates are moved by the same number of days."""

    PERSON = "person"
    HOUSEHOLD = "household"


@protection(
    "Shift of dates",
    family="Changed values",
    reference="Hripcsak et al. (2016)",
    rules=(OneOf(("unit", "person")),),
)
def shift_dates(
    data: Microdata,
    *,
    variables: Annotated[
        Columns, Option("Variables", "The dates to move.", basic=True, absent="every column of dates")
    ] = (),
    days: Annotated[
        int,
        Field(ge=1, le=LONGEST),
        Option(
            "Days", "The most days by which a date is moved, forwards or backwards.", basic=True, unit="days"
        ),
    ] = 365,
    unit: Annotated[
        Together,
        Option(
            "Moved together",
            "Whose dates are moved by the same number of days.",
            basic=True,
            choices={
                "person": "each person's, by a number of days of the person's own",
                "household": "those of all members of a household",
            },
        ),
    ] = Together.PERSON,
    person: Annotated[
        Column,
        Option(
            "Number of the person",
            "The column that numbers persons, where a person has several records.",
            absent="the id, or a record is a person",
        ),
    ]
    | None = None,
    rng: np.random.Generator,
) -> Microdata:
    """Move all dates of a person, or of a household, by the same random number of days.

    The number is drawn evenly from −days, …, −1, 1, …, days for each unit, so that no date stays. What lies
    between two dates of the same unit stays what it was, to the day: lengths of stay, ages at an event, the
    interval between births of siblings with `unit="household"`. Times of day stay (UTC where there is a time
    zone). Seasons, weekdays and
    trends of calendar time are lost the more, the larger `days`.

    **What is not protected**: the pattern of intervals. Whoever knows two dates of a person knows the days
    between them, and finds the record by these as surely as before; with `unit="household"` the birth dates
    of two members are enough. Whoever knows one date looks among the records of ±`days` around it, and
    categories known beside it leave few of them: `reidentification_risk` carries both attacks out. For a
    birth date `recode` to years protects more than a shift by a few weeks.

    Units: `person` names the column that numbers persons where they have several records; without it the
    column of the role id, else every record is a person. Records without a number are units of their own.
    Missing stays missing. Weights are not used. Reference: Hripcsak et al. (2016).

    >>> import polars as pl, sdckit as sdc
    >>> from datetime import date
    >>> frame = pl.DataFrame({"birth": [date(1990, 5, 1)] * 2, "visit": [date(2024, 1, 31), None]})
    >>> moved = sdc.protect.shift_dates(sdc.read(frame), days=30, rng=1).frame
    >>> (moved["visit"] - moved["birth"]).to_list() == (frame["visit"] - frame["birth"]).to_list()
    True
    >>> (moved["birth"] - frame["birth"]).dt.total_days().to_list()
    [-2, 1]
    """
    names = tuple(dict.fromkeys(variables)) or date_columns(data)
    if not names:
        raise ColumnError("shift_dates has no column of dates to move.", given="no column of dates")
    require_dates(data, names, "shift_dates")
    number = _units(data, unit, person)
    units = int(number.max(initial=-1)) + 1
    drawn = rng.integers(1, 2 * days + 1, size=units) - days
    shift = np.where(drawn > 0, drawn, drawn - 1)[number]
    columns = [_moved(data.frame[c], shift) for c in names]
    present = data.frame.select(pl.col(names).is_not_null())
    return data.with_frame(
        data.frame.with_columns(columns),
        effects=Effects(randomises=names),
        values_changed=int(present.select(pl.sum_horizontal(pl.all().sum())).item()),
        records_touched=int(present.select(pl.any_horizontal(pl.all()).sum()).item()),
        units_moved=units,
    )


def _units(data: Microdata, unit: Together, person: str | None) -> Ints:
    """For each record the number 0, 1, … of the person or household to which it belongs."""
    if unit is Together.HOUSEHOLD:
        homes = households(data)
        if homes is None:
            raise RoleError(
                "shift_dates with unit='household' needs the role 'household', and the data have none.",
                hint="Give the role household to the column that numbers households.",
            )
        return homes.number
    name = person or data.roles.id
    if name is None:
        return np.arange(data.height)
    if data.frame.schema[name].is_nested():
        raise ColumnError(f"Column {name!r} holds lists or structs.", given=str(data.frame.schema[name]))
    rows = pl.DataFrame([data.frame[name].alias("of")]).with_row_index("row")
    first = pl.when(pl.col("of").is_null()).then("row").otherwise(pl.col("row").first().over("of"))
    return np.unique(rows.select(first).to_series().to_numpy(), return_inverse=True)[1].astype(np.int64)


def _moved(column: pl.Series, shift: Ints) -> pl.Series:
    """The dates so many days later; refused where the calendar of the type ends before."""
    moved = pl.select((column + pl.Series(shift * 86_400_000).cast(pl.Duration("ms"))).alias(column.name))
    later = moved.to_series().cast(column.dtype)
    right = ((later > column) == pl.Series(shift > 0)).fill_null(value=False)
    dated = later.dt.year().is_between(1, 9999).fill_null(value=False)  # what programs can write as dates
    wrong = column.is_not_null() & ~(right & dated)
    if wrong.any():
        raise DataError(
            f"Dates in {column.name!r} lie so far off that they cannot be moved.",
            given=f"{int(wrong.sum())} of them",
        )
    return later
