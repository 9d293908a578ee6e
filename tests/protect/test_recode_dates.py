"""recode of dates: years, quarters, months and ages, on every engine and in every format."""

from datetime import date, datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from engine_frames import ENGINES, on_engine
from sdckit.errors import ColumnError, DataError, OptionError

FRAME = pl.DataFrame(
    {
        "birth": [date(2001, 7, 31), None, date(1999, 12, 1), date(2000, 2, 29)],
        "seen": [date(2024, 7, 30), date(2024, 1, 1), date(2024, 12, 1), None],
        "sex": ["f", "m", "f", "m"],
    }
)


def born(**roles) -> sdc.Microdata:
    return sdc.read(FRAME, **(roles or {"keys": ["birth", "sex"]}))


def recoded(data: sdc.Microdata, **options) -> list:
    return sdc.protect.recode(data, variable="birth", **options).collect().frame["birth"].to_list()


@pytest.mark.parametrize("engine", ENGINES)
def test_parts_of_dates(engine, request):
    data = on_engine(engine, born(), request)
    assert recoded(data, to="year") == [2001, None, 1999, 2000]
    assert recoded(data, to="quarter") == ["2001-Q3", None, "1999-Q4", "2000-Q1"]
    assert recoded(data, to="month") == ["2001-07", None, "1999-12", "2000-02"]
    assert recoded(data, to="age", at="2025-02-28") == [23, None, 25, 24]
    assert recoded(data, to="age", at=date(2025, 3, 1)) == [23, None, 25, 25]
    assert recoded(data, to="age", at="seen") == [22, None, 25, None]


@settings(max_examples=80, deadline=None)
@given(day=st.dates(date(1800, 1, 1), date(2020, 12, 31)), at=st.dates(date(2021, 1, 1), date(2100, 1, 1)))
def test_the_age_is_the_number_of_birthdays(day, at):
    data = sdc.read(pl.DataFrame({"birth": [day]}))

    def birthday(year: int) -> date:
        leap = (day.month, day.day) == (2, 29)
        try:
            return day.replace(year=year)
        except ValueError:
            assert leap
            return date(year, 3, 1)

    passed = sum(birthday(year) <= at for year in range(day.year + 1, at.year + 1))
    assert recoded(data, to="age", at=at.isoformat()) == [passed]


def test_categories_are_in_the_order_of_time_and_years_can_be_recoded_further():
    months = sdc.protect.recode(born(), variable="birth", to="month").frame["birth"]
    assert months.dtype == pl.Enum(["1999-12", "2000-02", "2001-07"])
    years = sdc.protect.recode(born(), variable="birth", to="year")
    assert sdc.protect.recode(years, variable="birth", width=2).frame["birth"].to_list() == [
        "2000–2001", None, "1998–1999", "2000–2001",
    ]  # fmt: skip
    moments = sdc.read(pl.DataFrame({"t": [datetime(2001, 7, 31, 23, 59), None]}))
    assert sdc.protect.recode(moments, variable="t", to="quarter").frame["t"].to_list() == ["2001-Q3", None]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".sav", ".dta", ".xlsx"])
@pytest.mark.parametrize("to", ["year", "quarter", "month", "age"])
def test_every_format_keeps_them(tmp_path, suffix, to):
    at = {"at": "2026-01-01"} if to == "age" else {}
    safe = sdc.protect.recode(born(), variable="birth", to=to, **at)
    back = sdc.read(sdc.write(safe, tmp_path / f"safe{suffix}"))
    labels = back.labels.values.get("birth", {})
    found = [labels.get(value, value) for value in back.frame["birth"].to_list()]
    assert found == safe.frame["birth"].to_list()


def test_the_same_recoding_of_another_file():
    data = born()
    safe = sdc.protect.recode(data, variable="birth", to="year")
    assert safe.roles.keys == ("birth", "sex")
    assert safe.log[-1].figures == {"variable": "birth", "categories": 3, "values_changed": 3}
    (again,) = safe.log[-1].effects.recodes["birth"]
    assert again.apply(data, "birth").frame.equals(safe.frame)
    # known dates are looked for among the released years
    assert (
        sdc.risk.reidentification_risk(data, safe).value == sdc.risk.reidentification_risk(safe, safe).value
    )


def test_refusals():
    data = born()
    with pytest.raises(ColumnError, match="needs dates; 'sex' does not hold dates"):
        sdc.protect.recode(data, variable="sex", to="year")
    with pytest.raises(ColumnError, match="To make dates coarser, say to"):
        sdc.protect.recode(data, variable="birth", width=5)
    with pytest.raises(OptionError, match="An age is the age on a day"):
        sdc.protect.recode(data, variable="birth", to="age")
    with pytest.raises(OptionError, match="neither a day nor a column of dates"):
        sdc.protect.recode(data, variable="birth", to="age", at="yesterday")
    with pytest.raises(ColumnError, match="'sex' does not hold dates"):
        sdc.protect.recode(data, variable="birth", to="age", at="sex")
    with pytest.raises(OptionError, match="'at' of recode means nothing"):
        sdc.protect.recode(data, variable="birth", to="year", at="2026-01-01")
    with pytest.raises(OptionError, match="either 'breaks' or 'width' or 'groups' or 'to'"):
        sdc.protect.recode(data, variable="birth", to="year", width=5)
    with pytest.raises(DataError, match="are after 2000-01-01"):
        sdc.protect.recode(data, variable="birth", to="age", at="2000-01-01")


def test_in_a_plan_the_day_needs_no_quotes(tmp_path):
    FRAME.write_csv(tmp_path / "born.csv")
    text = (
        "data: {file: born.csv, keys: [birth, sex]}\n"
        "scenarios: {aged: [{recode: {variable: birth, to: age, at: 2026-01-01}}]}\n"
    )
    plan = sdc.Plan.parse(text, tmp_path)
    assert plan.find("aged").protect(plan.read(), seed=1).frame["birth"].to_list() == [24, None, 26, 25]
    again = sdc.Plan.parse(plan.to_yaml(), tmp_path)
    assert again.scenarios == plan.scenarios
