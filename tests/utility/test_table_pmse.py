"""table_pmse: pairs and classes by hand and by loops, several sets, and syntheses told apart."""

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_table_statistics as naive
import sdckit as sdc
from sdckit.errors import ColumnError, OptionError
from sdckit.utility._classes import quantile_classes

ROW = st.tuples(st.sampled_from(["x", "y", None]), st.sampled_from([1, 2, 3]), st.sampled_from("ab"))
SCHEMA = {"a": pl.String, "b": pl.Int64, "c": pl.String}


def both(first, second):
    data = sdc.read(pl.DataFrame(first, schema=SCHEMA, orient="row"), keys=["a", "b", "c"])
    return data, data.with_frame(pl.DataFrame(second, schema=SCHEMA, orient="row"))


@settings(max_examples=40, deadline=None)
@given(st.lists(ROW, min_size=2, max_size=15), st.lists(ROW, min_size=2, max_size=15), st.booleans())
def test_all_pairs_as_by_loops(first, second, drop):
    first, second = ([("x", 1, "a"), *rows] for rows in (first, second))
    result = sdc.utility.table_pmse(*both(first, second), missing="drop" if drop else "category")
    wanted = [(0,), (1,), (2,), *combinations(range(3), 2)]
    for row, places in zip(result.parts.iter_rows(named=True), wanted, strict=True):
        o, s = (
            Counter(cell for r in rows if None not in (cell := tuple(r[i] for i in places)) or not drop)
            for rows in (first, second)
        )
        expected = naive.statistics(o, s)
        for name in ("pmse", "jensen_shannon", "pmse_ratio", "deviance_ratio"):
            if expected[name] is None:
                assert row[name] is None
            else:
                assert row[name] == pytest.approx(expected[name], rel=1e-9, abs=1e-12)
    pairs = result.parts.filter(pl.col("with").is_not_null())["pmse_ratio"].drop_nulls()
    if pairs.len():
        assert result.value == pytest.approx(pairs.mean())
        assert result.figures["largest"] == pytest.approx(pairs.max())
        assert result.figures["median"] == pytest.approx(pairs.median())


def test_a_relation_that_is_lost_is_the_worst_pair():
    rng = np.random.default_rng(1)
    a, c = rng.integers(0, 4, 2000), rng.integers(0, 3, 2000)
    frame = pl.DataFrame({"a": a, "b": (a + (rng.random(2000) < 0.1)) % 4, "c": c})
    data = sdc.read(frame, keys=["a", "b", "c"])
    drawn = data.with_frame(frame[rng.integers(0, 2000, 2000)])
    alone = data.with_frame(frame.with_columns(pl.col("b").shuffle(seed=2)))
    good, poor = sdc.utility.table_pmse(data, drawn), sdc.utility.table_pmse(data, alone, limit=5)
    assert 0.4 < good.value < 1.8
    assert good.figures["above_limit"] == 0
    worst = poor.parts.sort("pmse_ratio", nulls_last=True).row(-1, named=True)
    assert (worst["variable"], worst["with"]) == ("a", "b")
    assert poor.figures["largest"] > 100
    assert poor.figures["above_limit"] == pytest.approx(1 / 3)
    assert poor.figures["single_largest"] == 0  # margins stay


def test_sets_are_averaged():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"a": rng.integers(0, 3, 200), "b": rng.integers(0, 2, 200)})
    data = sdc.read(frame, keys=["a", "b"])
    sets = [data.with_frame(frame[rng.integers(0, 200, 150)]) for _ in range(3)]
    one = [sdc.utility.table_pmse(data, s) for s in sets]
    all_of_them = sdc.utility.table_pmse(data, sets)
    assert all_of_them.value == pytest.approx(np.mean([r.value for r in one]))
    mean = np.mean([r.parts["pmse_ratio"].to_numpy() for r in one], axis=0)
    assert all_of_them.parts["pmse_ratio"].to_numpy() == pytest.approx(mean)
    assert "Means over 3 synthetic sets." in all_of_them.notes


def test_numbers_are_cut_at_quantiles_and_spikes_stand_alone():
    rng = np.random.default_rng(4)
    income = np.where(rng.random(1000) < 0.3, 0.0, np.round(np.exp(rng.normal(7, 1, 1000)), 2))
    codes = quantile_classes(income, income, 5)
    sizes = np.bincount(codes)
    zero = codes[income == 0]
    assert len(np.unique(zero)) == 1
    assert sizes[zero[0]] == (income == 0).sum()
    others = sizes[(sizes > 0) & (np.arange(len(sizes)) != zero[0])]
    assert len(others) == 4  # 70 % of 5 classes, rounded
    assert others.max() - others.min() <= 1
    order = np.argsort(income, kind="stable")
    assert (np.diff(codes[order]) >= 0).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=40), st.integers(2, 6))
def test_equal_numbers_are_in_one_class_and_classes_are_in_order(values, groups):
    x = np.array(values)
    codes = quantile_classes(x, x, groups)
    for i in range(len(x)):
        for j in range(len(x)):
            assert (x[i] == x[j]) <= (codes[i] == codes[j])
            assert (x[i] < x[j]) <= (codes[i] <= codes[j])


def test_a_spike_that_moves_is_seen():
    frame = pl.DataFrame({"income": [0.0] * 30 + [float(i) for i in range(1, 71)]})
    data = sdc.read(frame, numeric="income")
    moved = data.with_frame(
        frame.with_columns(income=pl.when(pl.col("income") == 0).then(0.5).otherwise("income"))
    )
    result = sdc.utility.table_pmse(data, moved)
    assert result.value > 10  # as 30 of 100 records are in a class of their own
    assert "There is no pair of variables" in result.notes[-1]


def test_missing_numbers_are_a_class():
    frame = pl.DataFrame({"x": [float(i) for i in range(50)], "y": ["a", "b"] * 25})
    data = sdc.read(frame, numeric="x", keys="y")
    blank = data.with_frame(frame.with_columns(x=pl.when(pl.col("x") < 10).then(None).otherwise("x")))
    counted = sdc.utility.table_pmse(data, blank).parts.row(1, named=True)
    dropped = sdc.utility.table_pmse(data, blank, missing="drop").parts.row(1, named=True)
    assert counted["variable"] == "x"
    assert counted["degrees_of_freedom"] == 5  # five classes and the missing ones
    assert counted["pmse"] == pytest.approx(
        naive.statistics({0: 10, 1: 10, 2: 10, 3: 10, 4: 10}, {1: 10, 2: 10, 3: 10, 4: 10, None: 10})["pmse"]
    )
    assert dropped["pmse"] != pytest.approx(counted["pmse"])


def test_constant_and_dropped_and_recoded_columns():
    frame = pl.DataFrame({"a": [1] * 6, "b": [1, 1, 2, 2, 3, 3], "c": list("xxyyzz")})
    data = sdc.read(frame, keys=["a", "b", "c"])
    result = sdc.utility.table_pmse(data, sdc.protect.drop(data, variables="c"))
    assert result.lost == ("c",)
    assert result.parts.filter(pl.col("variable") == "a")["pmse_ratio"][0] is None
    only = sdc.utility.table_pmse(data, data, variables=["a"])
    assert np.isnan(only.value)
    assert only.notes
    grouped = sdc.protect.group(data, variables="c", map={"xy": ["x", "y"]})
    assert sdc.utility.table_pmse(data, grouped).value == 0
    with pytest.raises(ColumnError, match="no column 'c'"):
        sdc.utility.table_pmse(data, sdc.protect.drop(data, variables="c"), variables=["b", "c"])
    other = data.with_frame(frame.with_columns(b=pl.Series(["one"] * 6)))
    assert "b" in sdc.utility.table_pmse(data, other).lost
    with pytest.raises(OptionError):
        sdc.utility.table_pmse(data, data, groups=1)


def test_many_categories_and_the_picture():
    rng = np.random.default_rng(6)
    names = {f"v{i}": rng.integers(0, 2, 300) for i in range(30)}
    frame = pl.DataFrame({**names, "town": [f"town {min(i, 250)}" for i in range(300)]})
    data = sdc.read(frame, keys=list(frame.columns))
    other = data.with_frame(frame.with_columns(pl.col("v3").shuffle(seed=1)))
    result = sdc.utility.table_pmse(data, other)
    assert any("251 categories" in note for note in result.notes)
    assert "24 worst of 31 variables" in str(result.chart().to_dict())
