"""What the criterion on columns that tell what was hidden names, and where it leads."""

import re

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.choose.criteria import Status
from sdckit.choose.place import Place

N = 400
MEASURES = ["revealing_columns"]


def told(original, protected, **options):
    found = sdc.assess(original, protected, measures=MEASURES, **options).verdict
    return next(c for c in found if c.name == "columns that tell what was hidden")


def homes() -> sdc.Microdata:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"person": range(N), "home": np.repeat(range(N // 4), 4), "sex": rng.choice(["f", "m"], N)}
    )
    return sdc.read(frame, id="person", household="home", keys=["sex"])


@pytest.mark.parametrize("before", [[], ["shuffle_order"]], ids=["unshuffled", "shuffled by household"])
def test_where_the_order_of_the_rows_tells_it_is_shuffled_and_no_column_dropped(before):
    data = homes()
    done = sdc.Scenario("homes", [*before, {"drop": {"variables": ["home"]}}]).protect(data, seed=1)
    found = told(data, done)
    assert found.status is Status.NOT_MET
    assert "home is told by order of the rows" in found.why
    assert found.mends == "Shuffle the rows in the last step."
    assert found.places == (Place.step("shuffle_order"),)


def test_the_number_of_members_is_told_by_the_household_and_this_is_dropped():
    data = homes()
    size = np.repeat([1, 2, 3], [60, 80, 60])
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"home": np.repeat(range(len(size)), size), "size": np.repeat(size, size)})
    data = sdc.read(
        frame.with_columns(sex=rng.choice(["f", "m"], frame.height)), household="home", keys="size"
    )
    steps = [{"recode": {"variable": "size", "breaks": [2]}}, {"new_ids": {}}, "shuffle_order"]
    found = told(data, sdc.Scenario("coarse", steps).protect(data, seed=1))
    assert "size is told by number of records with the same home" in found.why
    assert found.mends == "Drop home."  # a number of households cannot be made coarser
    assert found.places[0] == Place.step("drop", ["home"])


def test_below_the_alarm_it_says_which_column_tells_what_of_how_many_persons():
    rng = np.random.default_rng(3)
    age = rng.integers(0, 90, N)
    known = rng.random(N) < 0.3  # a copy for some persons
    frame = pl.DataFrame({"age": age, "copy": pl.Series(age).set(pl.Series(~known), None)})
    data = sdc.read(frame.with_columns(order=rng.permutation(N)).sort("order").drop("order"), keys=["age"])
    done = sdc.Scenario("w", [{"recode": {"variable": "age", "width": 30}}, "shuffle_order"]).protect(
        data, seed=1
    )
    found = told(data, done, max_risk=0.05)
    assert found.status is Status.NOT_JUDGED
    assert re.search(
        r"hid \(.*\): age is told of 3\d.* % of the persons with near certainty by copy\.", found.why
    )
    assert found.value == pytest.approx(0.3, abs=0.05)
    assert found.mends == "Drop copy, or make it coarser."
    assert found.places == (Place.step("drop", ["copy"]), Place.step("recode", ["copy"]))


def test_what_tells_most_comes_first_and_classes_of_what_was_hidden_are_called_so():
    rng = np.random.default_rng(4)
    age = rng.integers(20, 60, N)
    near = np.where(rng.random(N) < 0.8, age, rng.integers(20, 60, N))  # tells, but less
    frame = pl.DataFrame({"near": near, "age": age, "classes": [f"about {a // 2 * 2}" for a in age]})
    data = sdc.read(frame, keys=["age"])
    steps = [{"recode": {"variable": "age", "breaks": [40]}}, "shuffle_order"]
    found = told(data, sdc.Scenario("half", steps).protect(data, seed=1), max_risk=0.01)
    assert "classes, which follows from it" in found.why
    assert found.mends.startswith("Drop classes, or make it coarser.")
    assert found.places[:2] == (Place.step("drop", ["classes"]), Place.step("group", ["classes"]))
