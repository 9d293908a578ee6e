"""1 and 1.0 are one value: a file that pandas turned into floats compares like the same file of integers."""

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from model_matrices import matrices
from sdckit.data.values import as_text, in_one_column, text_of, texts
from sdckit.estimate.formula import parse


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.none() | st.integers(-(10**12), 10**12), min_size=1, max_size=10))
def test_whole_floats_read_like_integers(values):
    whole = pl.Series("x", values, dtype=pl.Int64)
    assert texts(whole).to_list() == texts(whole.cast(pl.Float64)).to_list()
    assert texts(whole).to_list() == [None if v is None else as_text(float(v)) for v in values]


def test_other_numbers_and_text_as_text():
    column = pl.Series("x", [1.0, 2.5, None, 1e300, float("inf"), -0.0])
    assert texts(column).to_list() == ["1", "2.5", None, "1e+300", "inf", "0"]
    assert texts(column).name == "x"
    assert texts(pl.Series(["1.0", None])).to_list() == ["1.0", None]
    assert texts(pl.Series([None, None])).to_list() == [None, None]
    assert texts(pl.Series(["a"], dtype=pl.Categorical)).to_list() == ["a"]


def test_text_on_duckdb():
    table = nw.from_native(duckdb.sql("select unnest([1.0::double, 2.5, NULL, 1e300]) as x"))
    found = table.select(text_of("x", table.collect_schema()["x"])).collect("polars").to_native()
    assert found["x"].to_list() == ["1", "2.5", None, "1e+300"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (pl.Series([1, 2]), pl.Series([1.0, None]), pl.Float64),
        (pl.Series([1], dtype=pl.Int32), pl.Series([2**60]), pl.Int64),
        (pl.Series([1]), pl.Series([None]), pl.Int64),
        (pl.Series([None]), pl.Series([None]), pl.Float64),
        (pl.Series([None], dtype=pl.String), pl.Series([None], dtype=pl.Int64), pl.String),
        (pl.Series(["a"], dtype=pl.Enum(["a"])), pl.Series(["a"], dtype=pl.Enum(["a"])), pl.Enum(["a"])),
        (pl.Series(["a"], dtype=pl.Enum(["a"])), pl.Series(["a"], dtype=pl.Categorical), pl.String),
        (pl.Series([True]), pl.Series(["true"]), pl.String),
        (pl.Series(["1"]), pl.Series([1]), None),
    ],
)
def test_together(first, second, expected):
    both = in_one_column([first, second])
    assert (both is None) if expected is None else (both.dtype == expected)
    if both is not None:
        assert len(both) == len(first) + len(second)


def file(n=400, **roles):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {"k": rng.integers(1, 4, n), "s": rng.integers(0, 3, n), "x": rng.lognormal(0, 1, n).round(2)}
    )
    return sdc.read(frame, keys="k", sensitive="s", numeric="x", **roles)


def as_integers_and_as_floats(data):
    """The same suppressed and changed file, in Polars' types and as pandas has them."""
    change = data.frame.with_columns(
        k=pl.Series([None, 3, *data.frame["k"][2:]]), s=data.frame["s"].reverse()
    )
    change[5, "s"] = None
    pandas = change.to_pandas()
    assert pandas["k"].dtype == pandas["s"].dtype == np.float64
    return data.with_frame(change), data.with_frame(pandas)


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("indicators", {"by": "k"}),
        ("indicators", {"indicators": {"proportion": {"category": 2, "variable": "k"}}}),
        ("indicators", {"indicators": {"proportion": {"category": 2.0, "variable": "k"}}}),
        ("regression", {"formula": "x ~ C(k) + s"}),
        ("gower_distance", {}),
        ("gower_distance", {"ordinal": "k"}),
        ("gower_distance", {"ordinal": {"k": [1, 2, 3]}}),
        ("variable_loss", {}),
        ("variable_loss", {"ordinal": "k"}),
        ("variable_loss", {"ordinal": {"k": [1.0, 2.0, 3.0]}}),
        ("records_changed", {}),
        ("contingency_tables", {}),
        ("entropy_loss", {}),
        ("missing_values", {}),
        ("propensity", {}),
        ("cluster_overlap", {}),
    ],
)
def test_measures_do_not_see_the_storage_type(measure, options):
    data = file()
    whole, floats = (
        getattr(sdc.utility, measure)(data, other, **options) for other in as_integers_and_as_floats(data)
    )
    assert floats.value == pytest.approx(whole.value, rel=1e-12)
    assert floats.figures == pytest.approx(whole.figures, rel=1e-12)


def test_records_changed_with_codes_as_text():
    data = sdc.read(pl.DataFrame({"k": ["1", "2", "x"]}), keys="k")
    floats = data.with_frame(pl.DataFrame({"k": [1.0, 3.0, None]}))
    assert sdc.utility.records_changed(data, floats).figures["values_changed"] == 2


def test_levels_of_large_codes_and_their_labels():
    codes = [1_000_000.0, 2_000_000.0, 2_000_000.0]
    labels = sdc.Labels({}, {"k": {1_000_000: "one", 2_000_000: "two"}})
    data = sdc.Microdata.of(pl.DataFrame({"y": [1.0, 2.0, 4.0], "k": codes}), labels=labels)
    found, _ = matrices(parse("y ~ k", data), [data], binary=False)
    assert found[0].names == ("Intercept", "k[T.two]")


def test_values_that_are_no_numbers_are_shown_on_reading_only():
    frame = pl.DataFrame({"name": ["Anna Maier", "Bert Huber"]})
    with pytest.raises(sdc.SdcError, match="Given: 'Anna Maier' in record 1"):
        sdc.read(frame, numeric="name")
    data = sdc.read(frame)
    names = [f"Anna {i}" for i in range(60)]
    many = sdc.read(pl.DataFrame({"name": pl.Series(names, dtype=pl.Enum(names))}))
    for refused in (
        lambda: sdc.protect.add_noise(data, variables="name", rng=1),
        lambda: sdc.protect.recode(data, variable="name", width=5),
        lambda: sdc.protect.recode(many, variable="name", width=5),
        lambda: data.with_roles(numeric="name"),
    ):
        with pytest.raises(sdc.SdcError, match=r"does not hold numbers\. Given: text\.") as met:
            refused()
        assert "Anna" not in str(met.value)


def test_transitions_are_found_for_floats():
    data = sdc.read(pl.DataFrame({"a": [1.0, 2.0, None]}), keys="a")
    stays = {"a": {"1": {"1": 1.0}, "2": {"2": 1.0}}}
    assert sdc.utility.entropy_loss(data, data, transitions=stays).value == 0
