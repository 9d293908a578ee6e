"""Microdata: roles, checks, immutability, kinds of frames."""

import pickle
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sdckit as sdc
from sdckit.errors import ColumnError, DataError, OptionError, RoleError, SdcWarning


def test_a_frame_comes_back_as_the_kind_that_went_in():
    frame = pl.DataFrame({"sex": ["f", "m"], "x": [1.0, None]})
    for native, kind in (
        (frame, pl.DataFrame),
        (frame.to_pandas(), pd.DataFrame),
        (frame.to_arrow(), pa.Table),
    ):
        data = sdc.read(native, keys="sex", numeric="x")
        assert isinstance(data.native(), kind)
        assert data.frame["x"].to_list() == [1.0, None]


def test_the_data_do_not_change_with_the_callers_frame():
    frame = pl.DataFrame({"age": [30, 40]})
    data = sdc.read(frame)
    frame[0, "age"] = 999
    data.frame[0, "age"] = 555
    data.with_frame(frame).frame[1, "age"] = 555
    assert data.frame["age"].to_list() == [30, 40]
    later = data.with_frame(frame)
    frame[0, "age"] = 1
    assert later.frame["age"].to_list() == [999, 40]


def test_nullable_types_of_pandas_come_back():
    frame = pd.DataFrame(
        {
            "self": pd.array([1, None, 2**60 + 1], dtype="Int64"),
            "yes": pd.array([True, None, False], dtype="boolean"),
            "text": pd.array(["a", None, "b"], dtype="string"),
            "x": pd.array([1.5, None, 2], dtype="Float32"),
            "arrow": pd.array([1, None, 3], dtype="int64[pyarrow]"),
            "plain": [1.0, np.nan, 2.0],
            "dropped": pd.array([1, 2, 3], dtype="Int64"),
        }
    )
    data = sdc.read(frame, direct="dropped")
    pd.testing.assert_frame_equal(data.native(), frame.drop(columns="dropped"))
    means = data.with_frame(data.frame.with_columns(pl.lit(0.5).alias("self"), pl.lit("c").alias("yes")))
    assert means.native()["self"].dtype == "Float64"
    assert means.native()["yes"].dtype == "string"
    days = data.with_frame(data.frame.with_columns(pl.lit(timedelta(1)).alias("self")))
    assert days.native()["self"][0] == timedelta(1)


def test_categories_of_pandas_come_back():
    frame = pd.DataFrame(
        {
            "code": pd.Categorical([3, 1, None, 2**60 + 1], categories=[3, 1, 2, 2**60 + 1], ordered=True),
            "text": pd.Categorical(["x", "y", "x", None], categories=["y", "x", "never"]),
            "half": pd.Categorical([1.5, 2.5, 1.5, None]),
            "yes": pd.Categorical([True, False, None, True]),
        }
    )
    data = sdc.read(frame, keys=["code", "text"])
    assert data.frame["code"].to_list() == [3, 1, None, 2**60 + 1]
    pd.testing.assert_frame_equal(data.native(), frame)
    fewer = data.with_frame(data.frame.with_columns(code=pl.Series([3, None, None, 3])))
    assert fewer.native()["code"].cat.categories.tolist() == [
        3,
        2,
    ]  # 1 was there and is suppressed, 2 never was
    assert fewer.native()["code"].cat.ordered
    recoded = data.with_frame(data.frame.with_columns(code=pl.Series(["1–3", "1–3", None, "4–"])))
    assert recoded.native()["code"].fillna("missing").tolist() == ["1–3", "1–3", "missing", "4–"]
    days = pd.DataFrame({"day": pd.Categorical([pd.Timestamp("2024-02-29")])})
    assert sdc.read(days).native()["day"][0] == pd.Timestamp("2024-02-29")


def test_an_index_of_pandas_is_not_kept_and_said_so():
    frame = pd.DataFrame({"x": [1.0, 2.0]}, index=[9, 7])
    with pytest.warns(SdcWarning, match=r"not kept.*numbered 0, 1"):
        assert sdc.read(frame, numeric="x").native().index.tolist() == [0, 1]
    with pytest.warns(SdcWarning, match=r"index 'pid' of the data frame is not read; reset_index\(\)"):
        assert sdc.read(frame.rename_axis("pid"), numeric="x").columns == ("x",)


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_of_a_plain_index_and_unique_ids():
    sdc.read(pd.DataFrame({"x": [1.0, 2.0]}, index=[0, 1]), id="x")
    sdc.read(pl.DataFrame({"x": [1, 2]}), id="x")


@pytest.mark.parametrize("values", [[1, 1, 2], [1, 2, None]])
def test_ids_that_do_not_name_records_are_said(values):
    with pytest.warns(SdcWarning, match=r"'pid', given as id, are repeated or missing"):
        sdc.read(pl.DataFrame({"pid": values}), id="pid")


def test_the_callers_pandas_frame_is_not_changed():
    frame = pd.DataFrame({"x": [1.0, np.nan]})
    before = frame.copy()
    data = sdc.read(frame, numeric="x")
    sdc.protect.microaggregate(data, k=2)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("frame", "roles", "error", "text"),
    [
        (
            {"a": [1]},
            {"keys": "b"},
            ColumnError,
            "Role 'keys' names column 'b', which is not in the data. Allowed: a",
        ),
        ({"age": [1]}, {"keys": "agee"}, ColumnError, "Did you mean 'age'"),
        (
            {"a": [1]},
            {"keys": "a", "numeric": "a"},
            RoleError,
            "two conflicting roles. Given: keys and numeric",
        ),
        ({"a": [1]}, {"keys": ["a", "a"]}, RoleError, "names a column twice"),
        ({"a": [1], "b": [2]}, {"weight": ["a", "b"]}, RoleError, "takes one column"),
        ({"a": ["x"]}, {"numeric": "a"}, ColumnError, "does not hold numbers. Given: 'x' in record 1"),
        ({"a": [True]}, {"numeric": "a"}, ColumnError, "does not hold numbers"),
        ({"w": [1.0, None]}, {"weight": "w"}, DataError, "1 missing. Allowed: positive"),
        ({"w": [1.0, 0.0]}, {"weight": "w"}, DataError, "1 zero"),
        ({"w": [1.0, -2.0]}, {"weight": "w"}, DataError, "1 negative"),
        ({"w": [1.0, float("inf")]}, {"weight": "w"}, DataError, "1 infinite"),
        ({"x": [1.0, float("-inf")]}, {"numeric": "x"}, DataError, "infinite values. Given: 1 of them"),
        ({"a": [None, None]}, {"keys": "a"}, DataError, "Every key is missing in every record"),
        ({"a": pl.Series([], dtype=pl.Int64)}, {}, DataError, "no records. Given: 0 rows"),
        ({"a": [[1]]}, {"keys": "a"}, ColumnError, "lists or structs"),
        ({"a": [timedelta(1)]}, {"keys": "a"}, ColumnError, "'a' holds durations"),
        ({"a": [timedelta(1)], "k": [1]}, {"keys": "k", "strata": "a"}, ColumnError, "'a' holds durations"),
    ],
)
def test_bad_input_gets_a_clear_error(frame, roles, error, text):
    with pytest.raises(error, match=text):
        sdc.read(pl.DataFrame(frame), **roles)


def test_something_that_is_not_a_frame():
    with pytest.raises(DataError, match=r"not a data frame we know. Given: dict"):
        sdc.Microdata.of({"a": [1]})


def test_roles_that_may_be_held_together():
    data = sdc.read(pl.DataFrame({"r": [1], "h": [1]}), keys="r", strata="r", household="h", cluster="h")
    assert data.roles.of("r") == (sdc.Role.KEYS, sdc.Role.STRATA)


def test_with_frame_keeps_roles_and_refuses_a_lost_column():
    data = sdc.read(pl.DataFrame({"a": [1], "b": [2]}), keys="a")
    assert data.with_frame(pl.DataFrame({"a": [5]})).roles == data.roles
    with pytest.raises(ColumnError, match=r"names column 'a'"):
        data.with_frame(pl.DataFrame({"b": [5]}))


def test_without_drops_roles_and_labels():
    data = sdc.Microdata.of(
        pl.DataFrame({"a": [1], "b": [2]}), labels=sdc.Labels({"a": "A"}, {"a": {1: "one"}}), keys=["a", "b"]
    )
    less = data.without(("a",))
    assert less.columns == ("b",)
    assert less.roles.keys == ("b",)
    assert not less.labels.variables


def test_direct_identifiers_are_dropped_unless_kept():
    frame = pl.DataFrame({"name": ["Ann"], "x": [1.0]})
    assert sdc.read(frame, direct="name").columns == ("x",)
    assert sdc.read(frame, direct="name", keep_direct=True).roles.direct == ("name",)


@pytest.mark.parametrize("values", [[1, "x", None], ["x", 2.5, 1], [object()] * 3])
def test_pandas_columns_of_several_or_unknown_types_are_named(values):
    frame = pd.DataFrame({"fine": [1, 2, 3], "odd one": pd.Series(values, dtype=object)})
    with pytest.raises(ColumnError, match=r"Column 'odd one' has values of several types.*astype"):
        sdc.read(frame, keys="fine")


def test_microdata_are_made_with_read(survey):
    pandas = survey.frame.to_pandas()
    for wrong in ((pandas,), (None,), (survey.frame, ["sex"]), (survey.frame.lazy(),), ("survey.csv",)):
        with pytest.raises(OptionError, match=r"Microdata are made with sdckit.read"):
            sdc.Microdata(*wrong)
    assert sdc.Microdata(survey.frame, survey.roles).roles == survey.roles


@pytest.mark.parametrize("odd", [".", "k.A.", "1.234,56"])
def test_the_first_value_that_is_no_number_is_shown(odd):
    frame = pl.DataFrame({"x": ["1", None, "2,5", odd, odd]})
    with pytest.raises(ColumnError) as met:
        sdc.read(frame, numeric="x")
    assert f"Given: '{odd}' in record 4." in str(met.value)
    assert "missing is empty, NA or NaN" in str(met.value)


def test_categories_are_not_numbers(survey):
    ages = sdc.protect.recode(survey, variable="age", width=5)
    with pytest.raises(
        ColumnError, match=r"Given: categories: 0–4, 5–9, .*… \(\d+ in all\). To merge"
    ) as met:
        sdc.protect.recode(ages, variable="age", width=10)
    assert "Enum" not in str(met.value)


def test_data_are_equal_to_themselves_alone():
    data = sdc.demo.survey(n=20, seed=1)
    assert data in [data]
    assert data != sdc.demo.survey(n=20, seed=1)
    assert len({data, data}) == 1


def test_steps_since_the_original():
    data = sdc.demo.survey(n=50, seed=1)
    first = sdc.protect.round_values(data, variables=["income"])
    both = sdc.protect.drop(first, variables=["health"])
    assert [e.method for e in both.steps_since(data)] == ["round_values", "drop"]
    assert [e.method for e in both.steps_since(first)] == ["drop"]
    assert both.steps_since(both) == ()
    other = sdc.protect.drop(data, variables=["health"])
    assert both.steps_since(other) == both.log


def test_facts_of_columns_go_with_the_values_alone():
    data = sdc.Microdata.of(pl.DataFrame({"a": [1, 2, 2], "b": [1, 1, 1]}))
    asked = []

    def different(column: pl.Series) -> int:
        asked.append(column.name)
        return column.n_unique()

    keys = data.with_roles(keys=["a"])
    assert keys.column_fact("different", "a", different) == 2
    assert data.with_roles(sensitive=["a"]).column_fact("different", "a", different) == 2
    assert keys.without(("b",)).column_fact("different", "a", different) == 2
    assert asked == ["a"]
    assert keys.without(("a",)).column_fact("different", "b", different) == 1
    assert data.column_fact("different", "b", different) == 1
    assert asked == ["a", "b"]
    other = keys.with_frame(data.frame.with_columns(a=pl.lit(5)))
    assert other.column_fact("different", "a", different) == 1
    assert replace(keys, frame=data.frame.head(1)).column_fact("different", "a", different) == 1
    assert pickle.loads(pickle.dumps(keys)).column_facts == {}


def test_a_file_that_is_handed_on_does_not_tell_which_record_was_which():
    data = sdc.Microdata.of(pl.DataFrame({"a": [1, 2, 3, 4]}), keys=["a"])
    for step in (sdc.protect.shuffle_order, sdc.protect.sample_records):
        done = step(data, rng=1, **({"n": 3} if step is sdc.protect.sample_records else {}))
        again = pickle.loads(pickle.dumps(done))
        assert again.frame.equals(done.frame)
        assert done.log[0].effects.source_rows is not None
        assert again.log[0].effects.source_rows is None
        assert again.log == done.log


def test_what_is_known_of_columns_outlives_a_step_that_leaves_them_alone():
    data = sdc.Microdata.of(pl.DataFrame({"a": [1, 2], "b": [1, 2], "w": [1.0, 2.0]}), keys=["b"], weight="w")
    assert data.is_unique("a")
    assert data.is_unique("b")
    other = data.with_frame(data.frame.with_columns(b=pl.lit(1)), changed=["b"])
    assert other.cache == {("is_unique", "a"): True}
    assert not other.is_unique("b")
    assert data.but(prepared=()).cache == {("is_unique", "a"): True, ("is_unique", "b"): True}
    for column, value in (("w", -1.0), ("b", None)):
        with pytest.raises(DataError):
            data.with_frame(data.frame.with_columns(pl.lit(value).alias(column)), changed=[column])


def test_direct_identifiers_that_go_are_remembered():
    data = sdc.Microdata.of(pl.DataFrame({"name": ["x", "y"], "sex": ["f", "m"]}), direct=["name"])
    assert data.without(("name",), direct=True).dropped == ("name",)
    assert data.without(("name",)).dropped == ()
