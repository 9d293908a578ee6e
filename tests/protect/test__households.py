"""What households share, they still share after a protection."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.protect._households import households, once_per_household


def shared_within(frame, column):
    """By definition: at most one present value in each household."""
    seen = {}
    for number, (home, value) in enumerate(frame.select("home", column).iter_rows()):
        if value is not None:
            seen.setdefault(("alone", number) if home is None else home, set()).add(value)
    return all(len(values) == 1 for values in seen.values())


@st.composite
def files(draw):
    homes = draw(st.lists(st.none() | st.integers(0, 4), min_size=1, max_size=14))
    value = {home: draw(st.none() | st.sampled_from("abc")) for home in range(5)}
    shared = [draw(st.none() | st.sampled_from("abc")) if h is None else value[h] for h in homes]
    gaps = [None if draw(st.integers(0, 5)) == 0 else v for v in shared]
    own = [draw(st.none() | st.sampled_from("xyz")) for _ in homes]
    return pl.DataFrame(
        {"home": homes, "shared": gaps, "own": own},
        schema={"home": pl.Int64, "shared": pl.String, "own": pl.String},
    )


@settings(max_examples=100, deadline=None)
@given(frame=files(), seed=st.integers(0, 99))
def test_shared_variables_stay_shared_and_missing_stays(frame, seed):
    data = sdc.read(frame, household="home")
    done = sdc.protect.pram(data, variables=["shared", "own"], stay=0.3, rng=seed).frame
    assert shared_within(done, "shared")
    assert not shared_within(frame, "own") or shared_within(done, "own")
    for column in ("shared", "own"):
        assert done[column].is_null().to_list() == frame[column].is_null().to_list()
        assert set(done[column]) <= set(frame[column])
    assert done["home"].equals(frame["home"])


def test_the_step_works_on_one_record_a_household_with_its_first_member():
    seen = []

    @once_per_household()
    def note(data, *, variables):
        seen.append((list(variables), data.frame))
        return data.with_frame(data.frame.with_columns(pl.col(list(variables)) * 10), values=data.height)

    frame = pl.DataFrame({"home": [7, 3, 7, None, 3], "s": [None, 2, 1, 5, 2], "own": [1, 2, 3, 4, 5]})
    done = note(sdc.read(frame, household="home"), variables=["own", "s"])
    assert done.frame["s"].to_list() == [None, 20, 10, 50, 20]
    assert done.frame["own"].to_list() == [10, 20, 30, 40, 50]
    assert [names for names, _ in seen] == [["s"], ["own"]]
    assert seen[0][1].rows() == [(7, 1, 1), (3, 2, 2), (None, 5, 4)]
    assert done.log[-1].figures == {
        "values": 5,
        "household_variables": ["s"],
        "households": 3,
        "household_values": 3,
    }
    seen.clear()
    note(sdc.read(frame), variables=["own", "s"])
    assert [(names, f.height) for names, f in seen] == [(["own", "s"], 5)]


def test_a_file_of_single_persons_is_protected_as_ever():
    frame = pl.DataFrame({"home": [1, 2, 3, 4], "x": [1.5, 2.5, 3.5, 9.5]})
    with_role = sdc.protect.round_values(sdc.read(frame, numeric="x", household="home"), base=1)
    assert "household_variables" not in with_role.log[-1].figures
    assert with_role.frame.equals(sdc.protect.round_values(sdc.read(frame, numeric="x"), base=1).frame)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("pram", {"variables": ["toilet", "region"], "stay": 0.5}),
        ("round_values", {"variables": ["wealth_index"], "method": "random", "base": 0.5}),
        ("top_code", {"variables": ["wealth_index"], "share": 0.2, "by": ["sex"]}),
        ("bottom_code", {"variables": ["wealth_index"], "share": 0.2, "replacement": "mean", "by": ["sex"]}),
    ],
)
def test_survey_variables_of_households(survey, method, options):
    done = sdc.Scenario("s", [{method: options}]).protect(survey, seed=1)
    variables = options["variables"]
    agree = done.frame.group_by("household_id").agg(pl.col(variables).drop_nulls().n_unique() <= 1)
    assert agree.select(pl.col(variables).all()).row(0) == (True,) * len(variables)
    assert done.log[-1].figures["household_variables"] == variables
    assert not done.frame[variables[0]].equals(survey.frame[variables[0]])


def test_households_are_numbered_in_order_of_appearance():
    frame = pl.DataFrame({"home": ["b", "a", None, "b", None], "x": [1, 2, 3, 4, 5]})
    homes = households(sdc.read(frame, household="home"))
    assert homes.number.tolist() == [0, 1, 2, 0, 3]
    assert homes.first.tolist() == [0, 1, 2, 4]
    assert households(sdc.read(frame)) is None
    assert homes.holders(pl.Series([None, 2, None, 4, 5])).tolist() == [3, 1, 2, 4]
    assert isinstance(homes.number, np.ndarray)
