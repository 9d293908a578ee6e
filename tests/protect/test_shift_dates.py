"""shift_dates: who moves together, how far, and what stays."""

from datetime import date, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.errors import ColumnError, DataError, OptionError, RoleError

DAYS = st.dates(date(1900, 1, 1), date(2100, 1, 1))


def visits(**roles) -> sdc.Microdata:
    frame = pl.DataFrame(
        {
            "home": [1, 1, 2, 2, None, None],
            "patient": ["a", "b", "c", "c", "d", "e"],
            "birth": [date(1980, 1, i) for i in range(1, 7)],
            "seen": [datetime(2024, 2, 28, 13, 5, i) for i in range(6)],
            "sex": list("fmfmfm"),
        }
    )
    return sdc.read(frame, **roles)


def moved_by(data: sdc.Microdata, **options) -> list[int]:
    after = sdc.protect.shift_dates(data, **{"rng": 1, "days": 1_000, **options}).frame
    return (after["birth"] - data.frame["birth"]).dt.total_days().to_list()


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(st.none() | DAYS, st.none() | DAYS), min_size=1, max_size=30),
    days=st.integers(1, 400),
    seed=st.integers(0, 99),
)
def test_intervals_stay_nothing_stays_in_place_and_missing_stays_missing(rows, days, seed):
    frame = pl.DataFrame(rows, schema={"a": pl.Date, "b": pl.Date}, orient="row").with_columns(x=1)
    after = sdc.protect.shift_dates(sdc.read(frame), days=days, rng=seed).frame
    assert (after["b"] - after["a"]).to_list() == (frame["b"] - frame["a"]).to_list()
    for column in "ab":
        assert after[column].is_null().to_list() == frame[column].is_null().to_list()
        change = (after[column] - frame[column]).dt.total_days().drop_nulls()
        assert change.abs().is_between(1, days).all()


def test_all_numbers_of_days_are_drawn_alike():
    frame = pl.DataFrame({"day": [date(2000, 1, 1)] * 6_000})
    moved = moved_by(sdc.read(frame.rename({"day": "birth"})), days=3)
    values, counts = np.unique(moved, return_counts=True)
    assert values.tolist() == [-3, -2, -1, 1, 2, 3]
    assert np.abs(counts - 1_000).max() < 5 * np.sqrt(1_000)


def test_units():
    assert len(set(moved_by(visits()))) == 6
    by_patient = moved_by(visits(), person="patient")
    assert by_patient[2] == by_patient[3]
    assert len(set(by_patient)) == 5
    assert moved_by(visits(id="patient")) == by_patient
    at_home = moved_by(visits(household="home"), unit="household")
    assert at_home[0] == at_home[1]
    assert at_home[2] == at_home[3]
    assert len(set(at_home)) == 4  # records without a household are their own


def test_moments_keep_their_time_of_day_and_move_with_the_days():
    data = visits()
    after = sdc.protect.shift_dates(data, days=100, rng=2).frame
    assert after["seen"].dt.time().to_list() == data.frame["seen"].dt.time().to_list()
    assert (after["seen"] - data.frame["seen"]).dt.total_days().to_list() == (
        after["birth"] - data.frame["birth"]
    ).dt.total_days().to_list()
    assert after["seen"].dtype == data.frame["seen"].dtype
    assert after["sex"].equals(data.frame["sex"])


def test_one_column_alone_and_the_same_seed():
    data = visits()
    one = sdc.protect.shift_dates(data, variables="birth", days=9, rng=4)
    assert one.frame["seen"].equals(data.frame["seen"])
    assert one.frame.equals(sdc.protect.shift_dates(data, variables="birth", days=9, rng=4).frame)
    assert one.log[-1].effects.randomises == ("birth",)
    assert one.log[-1].figures == {"values_changed": 6, "records_touched": 6, "units_moved": 6}


def test_refusals():
    data = visits()
    with pytest.raises(ColumnError, match="needs dates; 'sex' does not hold dates"):
        sdc.protect.shift_dates(data, variables=["sex"], rng=1)
    with pytest.raises(ColumnError, match="no column of dates"):
        sdc.protect.shift_dates(sdc.read(pl.DataFrame({"x": [1]})), rng=1)
    with pytest.raises(RoleError, match="needs the role 'household'"):
        sdc.protect.shift_dates(data, unit="household", rng=1)
    with pytest.raises(OptionError, match="days"):
        sdc.protect.shift_dates(data, days=0, rng=1)
    with pytest.raises(OptionError, match="either 'unit' or 'person'"):
        sdc.protect.shift_dates(data.with_roles(household="home"), unit="household", person="patient", rng=1)


def test_dates_at_the_end_of_the_calendar():
    far = pl.DataFrame({"day": pl.Series([2**31 - 2, 0], dtype=pl.Int32).cast(pl.Date)})
    with pytest.raises(DataError, match="so far off"):
        sdc.protect.shift_dates(sdc.read(far), days=30_000, rng=1)


def test_in_a_plan(tmp_path):
    visits().frame.write_csv(tmp_path / "visits.csv")
    text = """
        data: {file: visits.csv, keys: [sex, birth]}
        scenarios: {moved: [{shift_dates: {days: 30, person: patient}}]}
    """
    plan = sdc.Plan.parse(text, tmp_path)
    data = plan.read()
    after = plan.find("moved").protect(data, seed=3)
    change = after.frame["birth"] - data.frame["birth"]
    assert change[2] == change[3]
    assert change.abs().max() <= timedelta(days=30)
    assert sdc.Plan.parse(plan.to_yaml(), tmp_path).scenarios == plan.scenarios


@pytest.mark.parametrize("day", [date(1, 1, 1), date(9999, 12, 31)])
def test_no_date_leaves_the_years_1_to_9999(day):
    data = sdc.read(pl.DataFrame({"day": [day] * 40}))
    with pytest.raises(sdc.SdcError, match="cannot be moved"):
        sdc.protect.shift_dates(data, rng=1)
