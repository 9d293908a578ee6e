"""Files of a handful of records, and columns of types that no measure can compare."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.people import persons
from attacks.test_found import verdict
from sdckit.choose.row_order import is_random_order

NAMES = [f"{letter}{letter.lower()}a" for letter in "ABCDEFGHIJKLMNOPQR"]


def open_ones(found) -> list[str]:
    return [c.name for c in found if not c.met]


@pytest.mark.parametrize("n", [4, 9, 18])
def test_a_class_in_the_order_of_its_names(n):
    """Who has the list of names reads off every grade, though the names themselves are gone."""
    grades = np.random.default_rng(1).integers(1, 4, n)
    frame = pl.DataFrame({"name": NAMES[:n], "school": ["A"] * n, "grade": grades})
    data = sdc.read(frame, keys="school", sensitive="grade", direct="name")
    assert open_ones(verdict(data, data, max_risk=0.3)) == ["order of the rows"]
    shuffled = verdict(data, sdc.protect.shuffle_order(data, rng=2), max_risk=0.3)
    assert "order of the rows" not in open_ones(shuffled)


def test_few_rows_that_are_sorted_by_a_year():
    n = 25
    frame = pl.DataFrame({"school": ["A"] * n, "points": np.arange(n) // 3})
    data = sdc.read(frame, keys="school", sensitive="points")
    assert open_ones(verdict(data, data)) == ["order of the rows"]


def test_random_orders_of_few_rows_are_hardly_ever_suspected():
    draw = np.random.default_rng(3)
    seen = [is_random_order(draw.permutation(n)) for n in (8, 12, 20) for _ in range(200)]
    assert np.mean(seen) > 0.98
    assert not is_random_order(np.arange(5))
    assert not is_random_order(np.arange(5)[::-1])


@pytest.mark.parametrize(
    "written",
    [
        lambda age: [bytes([int(a)]) for a in age],
        lambda age: [[int(a), 1] for a in age],
        lambda age: [{"years": int(a)} for a in age],
    ],
    ids=["bytes", "lists", "structures"],
)
def test_an_age_in_a_type_that_no_measure_compares(written):
    frame = persons(1_000).select((pl.col("region") > 2).cast(pl.Int64), "sex", "age")
    frame = frame.with_columns(answer=pl.Series(written(frame["age"])))
    data = sdc.read(frame, keys=["region", "sex", "age"], sensitive="answer")
    done = sdc.protect.recode(data, variable="age", breaks=[16, 35, 50, 65, 90])
    assert "columns that no risk looks at" in open_ones(verdict(data, done))


def test_an_age_as_a_length_of_time_is_read():
    frame = persons(1_000).select((pl.col("region") > 2).cast(pl.Int64), "sex", "age")
    frame = frame.with_columns(answer=pl.duration(days=pl.col("age")))
    data = sdc.read(frame, keys=["region", "sex", "age"], sensitive="answer")
    done = sdc.protect.recode(data, variable="age", breaks=[16, 35, 50, 65, 90])
    assert "columns that tell what was hidden" in open_ones(verdict(data, done))


@pytest.mark.parametrize("changed", ["rounded", "little noise"])
def test_sensitive_numbers_that_hardly_moved(changed):
    """Who has the payroll finds every record by its income, to the unit or not."""
    n = 600
    draw = np.random.default_rng(5)
    pay = np.exp(draw.normal(8.5, 0.8, n))
    frame = pl.DataFrame({"sex": draw.choice(["f", "m"], n), "pay": pay}).sample(n, shuffle=True, seed=1)
    data = sdc.read(frame, keys="sex", sensitive="pay")
    if changed == "rounded":
        done = sdc.protect.round_values(data, variables="pay", base=1)
    else:
        done = sdc.protect.add_noise(data, variables="pay", sd=0.0001, rng=1)
    done = sdc.protect.shuffle_order(done, rng=2)
    assert open_ones(verdict(data, done)) == ["sensitive numbers left unchanged"]
    coarse = sdc.protect.shuffle_order(sdc.protect.round_values(data, variables="pay", base=2000), rng=2)
    assert "sensitive numbers left unchanged" not in open_ones(verdict(data, coarse))
