"""group: maps and prefixes, codes and labels, nothing invented."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.errors import DataError, OptionError


def labelled(values=(1, 2, 3, None), **labels):
    frame = pl.DataFrame({"r": pl.Series(values)})
    texts = {1: "North", 2: "South", 3: "East", 4: "West"}
    return sdc.Microdata.of(frame, labels=sdc.Labels({"r": "Region"}, {"r": texts, **labels}), keys="r")


def test_categories_are_named_by_code_or_by_label():
    for members in ([1, 2], ["North", "South"], ["1", "South"], [1.0, "2"]):
        done = sdc.protect.group(labelled(), variables="r", map={"Axis": members})
        assert done.frame["r"].to_list() == ["Axis", "Axis", "East", None]
        assert done.frame["r"].dtype == pl.Enum(["Axis", "East"])
        assert done.labels == sdc.Labels({"r": "Region"}, {})
    floats = labelled((1.0, 2.0, None))
    assert sdc.protect.group(floats, variables="r", map={"Axis": [2]}).frame["r"].to_list() == [
        "North",
        "Axis",
        None,
    ]


def test_the_rest_and_new_names_that_exist():
    data = sdc.read(pl.DataFrame({"c": ["a", "b", "c", "d", None]}), keys="c")

    def out(**options):
        return sdc.protect.group(data, variables="c", **options).frame["c"].to_list()

    assert out(map={"ab": ["a", "b"]}, rest="Other") == ["ab", "ab", "Other", "Other", None]
    assert out(map={"a": ["b"]}) == ["a", "a", "c", "d", None]
    assert out(map={"x": ["d"], "y": ["a", "c"]}) == ["y", "b", "y", "x", None]


def test_the_log_says_what_was_merged():
    data = sdc.read(pl.DataFrame({"c": ["a", "a", "b", "c", None], "d": ["a", "b", "c", "c", "c"]}))
    entry = sdc.protect.group(data, variables=["c", "d"], map={"ab": ["a", "b"]}).log[-1]
    assert entry.figures == {
        "values_changed": 5,
        "categories_before": {"c": 3, "d": 3},
        "categories_after": {"c": 2, "d": 2},
    }
    assert (
        sdc.protect.group(labelled(), variables="r", map={"North": [1]}).log[-1].figures["values_changed"]
        == 0
    )


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.none() | st.sampled_from("abcde"), min_size=1, max_size=20).filter(any),
    of=st.dictionaries(st.sampled_from("abcde"), st.sampled_from(["new", "other"]), min_size=1),
    rest=st.none() | st.just("rest"),
)
def test_every_record_gets_the_group_of_its_category(values, of, rest):
    frame = pl.DataFrame({"c": pl.Series(values, dtype=pl.Enum(list("edcba")))})
    wanted = {name: [c for c, new in of.items() if new == name] for name in dict.fromkeys(of.values())}
    done = sdc.protect.group(sdc.read(frame, keys="c"), variables="c", map=wanted, rest=rest)
    assert done.frame["c"].to_list() == [None if v is None else of.get(v, rest or v) for v in values]


def test_digits_of_text_codes():
    codes = ["1011", "10.12", "C10.1", "A", "", None]
    data = sdc.read(pl.DataFrame({"nace": codes, "x": 1}), keys=["nace", "x"])
    done = sdc.protect.group(data, variables="nace", digits=2)
    assert done.frame["nace"].to_list() == ["10", "10", "C1", "A", "", None]
    assert sdc.protect.group(data, variables="nace", digits=3).frame["nace"].to_list()[:3] == [
        "101",
        "10.1",
        "C10",
    ]


def test_negative_codes_belong_to_no_hierarchy_and_stay():
    data = labelled((11, 12, 21, -1, -2), r={-1: "not employed", 11: "a", 1: "One"})
    done = sdc.protect.group(data, variables="r", digits=1)
    assert done.frame["r"].to_list() == [1, 1, 2, -1, -2]
    assert done.labels.values == {"r": {1: "One", -1: "not employed"}}
    assert done.log[-1].figures["values_changed"] == 3


def test_digits_of_numbers_and_labels_that_still_fit():
    data = labelled((11, 12, 21, None), r={11: "a", 12: "b", 1: "One", 3: "Three"})
    done = sdc.protect.group(data, variables="r", digits=1)
    assert done.frame["r"].to_list() == [1, 1, 2, None]
    assert done.frame["r"].dtype == pl.Int64
    assert done.labels.values == {"r": {1: "One"}}
    with pytest.raises(
        DataError, match=r"numbers of different length. Given: 111, 1011.*read the codes as text"
    ):
        sdc.protect.group(labelled((1011, 111)), variables="r", digits=2)
    with pytest.raises(DataError, match=r"must be text or numbers. Given: 1e-07"):
        sdc.protect.group(labelled((1e-7, 2.0)), variables="r", digits=1)


def test_codes_with_a_point_that_were_read_as_numbers():
    """NACE in a text file without any division below 10 looks like numbers."""
    data = sdc.read(pl.DataFrame({"nace": [10.11, 25.1, 25.12, -1.0, None]}), keys="nace")
    division = sdc.protect.group(data, variables="nace", digits=2)
    assert division.frame["nace"].to_list() == ["10", "25", "25", "-1", None]
    group = sdc.protect.group(data, variables="nace", digits=3)
    assert group.frame["nace"].to_list() == ["10.1", "25.1", "25.1", "-1", None]
    mixed = sdc.read(pl.DataFrame({"nace": [1.11, 25.1]}), keys="nace")
    with pytest.raises(DataError, match=r"different length.*before the point"):
        sdc.protect.group(mixed, variables="nace", digits=2)


def test_business_activities_by_division():
    data = sdc.demo.business(n=300, seed=1)
    done = sdc.protect.group(data, variables="nace", digits=2)
    assert done.frame["nace"].cast(pl.String).equals(data.frame["nace"].str.slice(0, 2))


def test_roles_of_numbers():
    frame = pl.DataFrame({"x": [1, 2, 3], "y": [1, 2, 3], "k": [1, 1, 2]})
    data = sdc.read(frame, numeric=["x", "y"], sensitive="y", keys="k")
    done = sdc.protect.group(data, variables=["x", "y"], map={"low": [1, 2]})
    assert (done.roles.keys, done.roles.numeric, done.roles.sensitive) == (("k",), (), ("y",))
    assert done.log[-1].figures["no_longer_numeric"] == ["x", "y"]


def test_labels_that_two_codes_share_stay_apart():
    data = labelled((1, 2, 3), r={1: "Other", 2: "Other", 3: "Main"})
    done = sdc.protect.group(data, variables="r", map={"Core": [3]})
    assert done.frame["r"].to_list() == ["Other (1)", "Other (2)", "Core"]


def test_mistakes():
    with pytest.raises(
        OptionError, match=r"'r' has no category 'Nord'.*Allowed: North, South.*Did you mean 'North'"
    ):
        sdc.protect.group(labelled(), variables="r", map={"x": ["Nord"]})
    with pytest.raises(OptionError, match=r"in two groups. Given: 1 in 'x' and 'y'"):
        sdc.protect.group(labelled(), variables="r", map={"x": ["North"], "y": [1]})
    with pytest.raises(OptionError, match=r"needs 'map' or 'digits'. Given: neither"):
        sdc.protect.group(labelled(), variables="r")
    with pytest.raises(OptionError, match=r"takes either 'map' or 'digits'. Given: map, digits"):
        sdc.protect.group(labelled(), variables="r", map={"x": [1]}, digits=1)
    with pytest.raises(OptionError, match=r"'rest' of group means nothing without 'map'"):
        sdc.protect.group(labelled(), variables="r", digits=1, rest="x")
    assert (
        sdc.protect.group(labelled(), variables="r", map={"x": ["West"]}).frame["r"].to_list()[0] == "North"
    )


def test_group_on_duckdb(duckdb_connection):
    frame = pl.DataFrame({"c": ["a", "b", "c", None]})
    data = sdc.read(duckdb_connection.from_arrow(frame.to_arrow()), keys="c")
    done = sdc.protect.group(data, variables="c", map={"ab": ["a", "b"]})
    assert sorted(done.collect().frame["c"].to_list(), key=str) == [
        None,
        "ab",
        "ab",
        "c",
    ]
