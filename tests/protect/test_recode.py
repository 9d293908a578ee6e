"""recode: intervals, labels, roles."""

import math
import sys
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sdckit as sdc
from engine_frames import ENGINES, on_engine
from sdckit.errors import ColumnError, OptionError


def ages(values, **roles):
    return sdc.read(
        pl.DataFrame({"age": values}, schema_overrides={"age": pl.Int64}), **(roles or {"keys": "age"})
    )


def test_width_and_breaks():
    data = ages([0, 4, 5, 23, None])
    assert sdc.protect.recode(data, variable="age", width=5).frame["age"].to_list() == [
        "0–4",
        "0–4",
        "5–9",
        "20–24",
        None,
    ]
    named = sdc.protect.recode(data, variable="age", breaks=[5, 18], labels=["small", "child", "adult"])
    assert named.frame["age"].to_list() == ["small", "small", "child", "adult", None]
    assert named.frame["age"].dtype.categories.to_list() == ["small", "child", "adult"]


def test_fractions_and_negative_numbers():
    data = sdc.read(pl.DataFrame({"x": [-0.5, 0.0, 0.25, 0.5]}), numeric="x")
    protected = sdc.protect.recode(data, variable="x", width=0.5)
    assert protected.frame["x"].to_list() == ["[-0.5, 0)", "[0, 0.5)", "[0, 0.5)", "[0.5, 1)"]
    assert protected.roles.numeric == ()
    assert protected.roles.keys == ()
    assert protected.log[-1].figures["no_longer_numeric"] == ["x"]


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.none() | st.integers(-1000, 1000), min_size=1, max_size=40).filter(
        lambda v: any(x is not None for x in v)
    ),
    width=st.integers(1, 50),
)
def test_every_value_lies_in_its_interval_and_missing_stays_missing(values, width):
    out = sdc.protect.recode(ages(values, numeric="age"), variable="age", width=width).frame["age"].to_list()
    for value, label in zip(values, out, strict=True):
        if value is None:
            assert label is None
        else:
            low = value // width * width
            assert label == (f"{low}–{low + width - 1}" if width > 1 else f"{low}")


def test_all_missing_is_left_alone():
    data = sdc.read(
        pl.DataFrame({"x": [None, None], "k": [1, 2]}, schema_overrides={"x": pl.Float64}),
        numeric="x",
        keys="k",
    )
    assert sdc.protect.recode(data, variable="x", width=5).frame["x"].to_list() == [None, None]


def test_value_labels_go_with_the_old_values():
    data = sdc.Microdata.of(
        pl.DataFrame({"a": [1, 2]}), labels=sdc.Labels({"a": "A"}, {"a": {1: "one"}}), keys="a"
    )
    labels = sdc.protect.recode(data, variable="a", width=2).labels
    assert labels.variables == {"a": "A"}
    assert labels.values == {}


def test_mistakes():
    data = ages([1, 2])
    with pytest.raises(OptionError, match=r"needs 'breaks' or 'width' or 'groups' or 'to'. Given: neither"):
        sdc.protect.recode(data, variable="age")
    with pytest.raises(OptionError, match=r"labels must name every interval once. Given: 1. Allowed: 2"):
        sdc.protect.recode(data, variable="age", breaks=[2], labels=["x"])
    with pytest.raises(OptionError, match=r"too many intervals"):
        sdc.protect.recode(ages([1, 10**7]), variable="age", width=0.5)
    with pytest.raises(ColumnError, match=r"needs numbers; 'k' does not.*use group"):
        sdc.protect.recode(sdc.read(pl.DataFrame({"k": ["a"]}), keys="k"), variable="k", width=1)


def test_recode_on_duckdb():
    duckdb = pytest.importorskip("duckdb")
    frame = pl.DataFrame({"age": [3, 18, 64, 65, None]})
    data = sdc.read(duckdb.from_arrow(frame.to_arrow()), keys="age")
    protected = sdc.protect.recode(data, variable="age", breaks=[18, 65]).collect()
    assert sorted(protected.frame["age"].to_list(), key=str) == ["18–64", "18–64", "65+", "<18", None]


def quantile(ordered, p):
    """Linear between order statistics, in exact arithmetic."""
    place = (len(ordered) - 1) * p
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


@settings(max_examples=80, deadline=None)
@example(values=[0, 1], groups=3, kind="whole")
@example(values=[0, 1], groups=3, kind="whole, stored as decimals")
@example(values=[0, 1], groups=3, kind="decimal")
@given(
    values=st.lists(st.none() | st.integers(-30, 60), min_size=1, max_size=40).filter(
        lambda v: any(x is not None for x in v)
    ),
    groups=st.integers(2, 6),
    kind=st.sampled_from(["whole", "whole, stored as decimals", "decimal"]),
)
def test_equal_counts_cut_at_quantiles_and_keep_the_order(values, groups, kind):
    if kind == "decimal":
        values = [None if v is None else v + Fraction(1, 4) for v in values]
    numbers = [None if v is None else float(v) for v in values]
    column = pl.Series("x", numbers, dtype=pl.Int64 if kind == "whole" else pl.Float64, strict=False)
    data = sdc.read(pl.DataFrame({"x": column}), numeric="x")
    done = sdc.protect.recode(data, variable="x", groups=groups).frame["x"]
    present = sorted(v for v in values if v is not None)
    cuts = {quantile(present, Fraction(i, groups)) for i in range(1, groups)}
    if kind != "decimal":  # between two whole numbers all cuts are one
        cuts = {math.ceil(c) for c in cuts}
    for value, name in zip(values, done, strict=True):
        assert (value is None) == (name is None)
    code = done.to_physical().to_list()
    expected = [None if v is None else sum(c <= v for c in cuts if c > present[0]) for v in values]
    assert code == expected
    assert done.dtype.categories.len() <= groups


def test_equal_counts_are_equal_without_ties():
    data = sdc.read(pl.DataFrame({"x": [i + 0.5 for i in range(1000)]}), numeric="x")
    done = sdc.protect.recode(data, variable="x", groups=5)
    assert done.frame["x"].value_counts()["count"].to_list() == [200] * 5
    figures = dict(done.log[-1].figures)
    assert figures.pop("breaks") == pytest.approx([200.3, 400.1, 599.9, 799.7])
    assert figures.pop("labels") == done.frame["x"].dtype.categories.to_list()
    assert figures.pop("no_longer_numeric") == ["x"]
    assert figures == {"variable": "x", "categories": 5, "values_changed": 1000}
    close = sdc.read(pl.DataFrame({"x": [1.00000001, 1.00000002, 1.00000003, 1.00000004]}), numeric="x")
    assert sdc.protect.recode(close, variable="x", groups=4).frame["x"].n_unique() == 4
    one = sdc.read(pl.DataFrame({"x": [7, 7, None]}), numeric="x")
    assert sdc.protect.recode(one, variable="x", groups=3).frame["x"].to_list() == ["7", "7", None]


def test_logarithmic_intervals():
    def out(values, **options):
        data = sdc.read(pl.DataFrame({"x": values}), numeric="x")
        return sdc.protect.recode(data, variable="x", log=True, **options).frame["x"].to_list()

    assert out([1, 9, 10, 99, 1000], width=10) == ["1–9", "1–9", "10–99", "10–99", "1000–9999"]
    assert out([-5, 0, 3, None, 1000], width=10) == ["≤0", "≤0", "1–9", None, "1000–9999"]
    assert out([0.02, 0.5, 7.0], width=10) == ["[0.01, 0.1)", "[0.1, 1)", "[1, 10)"]
    assert out([1.0, 5.5, 50.0, 1000.0], groups=3) == ["<10", "<10", "[10, 100)", "≥100"]
    assert out([1.0, 5.0, 50.0, 1000.0], groups=3) == ["<10", "<10", "10–99", "100+"]
    assert out([-1, 0], groups=3) == ["≤0", "≤0"]
    assert out([1, 2, 4, 8, 7], width=2) == ["1", "2–3", "4–7", "8–15", "4–7"]
    assert out([5.0, 5.0], groups=4) == ["5", "5"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("options", [{"width": 5}, {"breaks": [18.0, 65.0]}, {"groups": 3}])
def test_whole_numbers_have_the_same_names_however_they_are_stored(options, engine, request):
    whole = ages([3, 18, 34, 64, 65, -7, None])
    stored = whole.with_frame(whole.frame.with_columns(pl.col("age").cast(pl.Float64)))
    names, others = (
        sdc.protect.recode(on_engine(engine, data, request), variable="age", **options).collect().frame["age"]
        for data in (whole, stored)
    )
    assert sorted(names.cast(pl.String).to_list(), key=str) == sorted(
        others.cast(pl.String).to_list(), key=str
    )
    huge = whole.with_frame(whole.frame.with_columns(age=pl.lit(1e200)))
    assert sdc.protect.recode(huge, variable="age", breaks=[1e100]).frame["age"][0] == "≥1e+100"


def test_a_number_made_coarser_is_no_new_key():
    data = sdc.demo.survey(n=300, seed=1)
    keys = data.roles.keys
    done = sdc.protect.recode(data, variable="income", groups=5)
    assert done.roles.keys == keys
    assert "income" not in done.roles.numeric
    both = sdc.assess(data, done, measures=["individual_risk", "il1s"])
    assert both.before["individual_risk"].value == pytest.approx(both.after["individual_risk"].value)
    assert both.utility["il1s"].lost == ("income",)
    assert sdc.protect.recode(data, variable="age", width=10).roles.keys == keys


def test_intervals_that_exclude_each_other():
    data = ages([1, 2])
    with pytest.raises(OptionError, match=r"takes either 'breaks'.*Given: width, groups"):
        sdc.protect.recode(data, variable="age", width=1, groups=2)
    with pytest.raises(OptionError, match=r"takes either 'breaks' or 'log'"):
        sdc.protect.recode(data, variable="age", breaks=[1], log=True)
    with pytest.raises(OptionError, match=r"log goes with a width above 1.*Given: width=1"):
        sdc.protect.recode(data, variable="age", width=1, log=True)


def test_a_sensitive_number_becomes_a_sensitive_category():
    data = sdc.read(pl.DataFrame({"x": [1, 2]}), numeric="x", sensitive="x")
    roles = sdc.protect.recode(data, variable="x", width=2).roles
    assert (roles.keys, roles.numeric, roles.sensitive) == ((), (), ("x",))


@pytest.mark.parametrize("kind", [pl.Int64, pl.Float64])
def test_rounding_errors_of_quantiles_move_no_cut(kind):
    data = sdc.read(pl.DataFrame({"x": pl.Series(range(101)).cast(kind)}), numeric="x")
    done = sdc.protect.recode(data, variable="x", groups=100).frame["x"]
    assert done.to_physical().to_list() == [*range(100), 99]  # 100 · 7/100 > 7 in floating point


@pytest.mark.parametrize(
    ("values", "options", "breaks", "names"),
    [
        ([3, 18, 24], {"width": 10}, [0, 10, 20, 30], ["0–9", "10–19", "20–29"]),
        ([3, 18], {"width": 10, "labels": ["a", "b"]}, [0, 10, 20], ["a", "b"]),
        ([3, 18], {"breaks": [20, 10]}, [10, 20], ["<10", "10–19", "20+"]),
        ([1, 2, 3, 4], {"groups": 2}, [3], ["<3", "3+"]),
        ([7, 7], {"groups": 3}, [7, 8], ["7"]),
        ([0.5, 0.5], {"groups": 3}, [0.5, math.nextafter(0.5, 1)], ["0.5"]),
        ([0, 3, 20], {"width": 10, "log": True}, [0, 1, 10, 100], ["≤0", "1–9", "10–99"]),
        ([1, 10, 100], {"groups": 2, "log": True}, [10], ["<10", "10+"]),
        ([0, -1], {"groups": 2, "log": True}, [0], ["≤0"]),
        ([1e308, 1.5e308], {"width": 1e308}, [1e308, sys.float_info.max], ["[1e+308, inf)"]),
    ],
)
def test_the_log_says_where_every_way_of_cutting_cut(values, options, breaks, names):
    done = sdc.protect.recode(sdc.read(pl.DataFrame({"x": values}), numeric="x"), variable="x", **options)
    assert done.log[-1].figures["breaks"] == breaks
    assert done.log[-1].figures["labels"] == names
