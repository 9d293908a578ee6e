"""Tables for mosaics: counted right, in order, and for the public without small numbers."""

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.choose.cross_table import FEW, tabulated
from sdckit.errors import ColumnError, DataError, OptionError

OTHER = "other"


def file(values, other=None, weights=None) -> sdc.Microdata:
    columns = {"key_0": values}
    if other is not None:
        columns["mass"] = other
    if weights is not None:
        columns["w"] = weights
    roles = {"weight": "w"} if weights is not None else {}
    return sdc.read(pl.DataFrame(columns), keys=[c for c in columns if c != "w"], **roles)


def test_counts_and_order():
    found = tabulated([file(["10", "9", None, "b"]), file(["9", "9", "a", "b"])], "key_0")
    assert found.levels == (("a", "b", "9", "10", "missing"),)
    assert found.files[0] == {("10",): 1, ("9",): 1, ("missing",): 1, ("b",): 1}
    assert found.files[1] == {("9",): 2, ("a",): 1, ("b",): 1}


def test_sizes_are_weights_and_labels_name_the_categories():
    data = sdc.demo.survey(n=200, seed=1)
    found = tabulated([data], ["sex", "urban"])
    assert found.titles == ("Sex", "Urban or rural")
    assert found.levels == (("Male", "Female"), ("Urban", "Rural"))
    assert sum(found.files[0].values()) == pytest.approx(data.weights().sum())
    rural = data.frame.filter(pl.col("sex") == 2, pl.col("urban") == 2)["weight"].sum()
    assert found.files[0]["Female", "Rural"] == pytest.approx(rural)


def test_of_many_categories_the_largest_stay():
    values = [c for i, c in enumerate("abcdefghijkl") for _ in range(20 - i)]
    found = tabulated([file(values)], "key_0")
    assert found.levels == ((*"abcdefgh", OTHER),)
    assert found.files[0][(OTHER,)] == sum(20 - i for i in range(8, 12))


categories = st.lists(st.sampled_from([*"abcd", None]), min_size=1, max_size=60)


@settings(deadline=None, max_examples=40)
@given(categories, categories, st.data())
def test_the_public_sees_no_small_count(first, second, draw):
    files = []
    for values in (first, second):
        others = draw.draw(st.lists(st.sampled_from("xyz"), min_size=len(values), max_size=len(values)))
        files.append(file(values, others))
    for names in ("key_0", ["key_0", "mass"]):
        try:
            found = tabulated(files, names, public=True)
        except DataError:
            continue
        for data, cells in zip(files, found.files, strict=True):
            assert sum(cells.values()) == data.height
            assert all(count >= FEW for count in cells.values())
            _nothing_is_hidden_of_what_is_shown(data, names, found, cells)
    exact = tabulated(files, ["key_0", "mass"])
    for data, cells in zip(files, exact.files, strict=True):
        rows = data.frame.rows()
        assert cells == Counter(("missing" if a is None else a, b) for a, b in rows)


def _nothing_is_hidden_of_what_is_shown(data, names, found, cells):
    """Else the total of a category, as another table has it, less what is shown here tells a small count."""
    for axis, name in enumerate([names] if isinstance(names, str) else names):
        totals = Counter("missing" if v is None else v for v in data.frame[name].to_list())
        for level in {*found.levels[axis]} - {OTHER}:
            assert sum(n for place, n in cells.items() if place[axis] == level) == totals[level]


def test_a_hidden_count_is_not_the_difference_of_two_public_tables():
    first = ["x"] * 20 + ["y"] * 40 + ["z"] * 40
    second = ["p"] * 17 + ["q"] * 3 + (["p"] * 10 + ["q"] * 10 + ["r"] * 20) * 2
    data = file(first, second)
    assert tabulated([data], "mass", public=True).files[0]["q",] == 23
    shown = tabulated([data], ["key_0", "mass"], public=True)
    assert shown.levels == (("z", OTHER), ("p", "q", "r"))
    assert shown.files[0][OTHER, "q"] == 13


def test_too_few_for_the_public():
    with pytest.raises(DataError, match="too few records"):
        tabulated([file(["a", "a", "b"])], "key_0", public=True)


def test_a_real_category_called_other_is_not_merged_with_the_rest():
    values = [*"abcdefghijkl", "other"]
    data = file([c for i, c in enumerate(values) for _ in range(20 - i if c != "other" else 30)])
    found = tabulated([data], "key_0")
    assert found.rest == ("all other",)
    assert found.files[0]["other",] == 30
    assert found.levels[0][-1] == "all other"
    rare = tabulated([file(["a"] * 9 + ["other"] * 9 + ["b"] * 3)], "key_0", public=True)
    assert rare.files[0] in ({("all other",): 12, ("other",): 9}, {("all other",): 12, ("a",): 9})


def test_what_cannot_be_drawn():
    data = file(["a"], ["b"])
    with pytest.raises(OptionError, match="one variable or two"):
        tabulated([data], ["key_0", "key_0"])
    with pytest.raises(ColumnError, match="no column 'key'"):
        tabulated([data], "key")
    with pytest.raises(ColumnError, match="no longer has the column 'mass'"):
        tabulated([data, file(["a"])], "mass")
    named = sdc.read(pl.DataFrame({"name": ["x"]}), direct="name", keep_direct=True)
    with pytest.raises(OptionError, match="direct identifier"):
        tabulated([named], "name")
