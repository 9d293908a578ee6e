"""Pictures and numbers of one or two variables: from aggregates, with nothing rare or extreme."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.web.explore import MISSING, OTHER, _categories, _classes, explored


def test_rare_categories_are_put_together_and_labels_are_shown():
    first = pl.Series("x", [1] * 10 + [2] * 6 + [3] * 2 + [None])
    second = pl.Series("x", [1] * 12 + [2] * 4 + [3] * 2 + [None])
    levels, made = _categories(first, second, {"1": "one", "2": "two"}, 8)
    assert levels == ["one", "two", OTHER, MISSING]
    assert [int((made[0] == level).sum()) for level in levels] == [10, 6, 2, 1]
    assert [int((made[1] == level).sum()) for level in levels] == [12, 4, 2, 1]


def test_numbers_beside_another_variable_are_in_sixths():
    values = pl.Series("x", np.arange(600.0))
    levels, made = _classes(values, values + 1000, {}, 8)
    assert len(levels) == 6
    assert [int((made[0] == level).sum()) for level in levels] == [100] * 6
    assert (made[1] == levels[-1]).all()


def test_the_largest_value_is_in_no_answer():
    data = sdc.Microdata.of(pl.DataFrame({"income": [*range(100, 600), 987_654_321]}))
    text = str(explored(data, None, ["income"]))
    assert "987" not in text.replace(",", "").replace("\u202f", "").replace(" ", "")


def test_a_recoded_variable_is_drawn_in_its_new_categories():
    data = sdc.demo.survey(n=300, seed=1)
    protected = sdc.protect.recode(data, variable="age", width=20)
    found = explored(data, protected, ["age"])
    shown = str(found["chart"])
    for band in protected.frame["age"].drop_nulls().unique():
        assert str(band) in shown or OTHER in shown
    assert found["gone"] == []


def test_dates_and_dropped_columns():
    born = [date(1950, 1, 1) + timedelta(days=30 * i) for i in range(400)]
    data = sdc.Microdata.of(pl.DataFrame({"born": born, "sex": ["f", "m"] * 200}))
    protected = sdc.protect.drop(data, variables="born")
    found = explored(data, protected, ["born"])
    assert found["gone"] == ["born"]
    assert all("protected" not in row for row in found["summary"])
    assert "19" in str(found["chart"])


def test_correlations_of_both_files():
    rng = np.random.default_rng(1)
    x = rng.normal(size=500)
    data = sdc.Microdata.of(pl.DataFrame({"x": x, "y": 2 * x}), numeric=["x", "y"])
    noisy = data.with_frame(data.frame.with_columns(y=pl.Series(rng.normal(size=500))))
    rows = {row["name"]: row for row in explored(data, noisy, ["x", "y"])["summary"]}
    assert rows["correlation"]["original"] == "1.000"
    assert abs(float(rows["correlation"]["protected"])) < 0.2
    expected = np.corrcoef(x, noisy.frame["y"])[0, 1]
    assert float(rows["correlation"]["protected"]) == pytest.approx(expected, abs=5e-4)
