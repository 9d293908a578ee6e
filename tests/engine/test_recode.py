import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdckit.engine import frames, recode


def recoded(table, column="x"):
    rows = frames.gather(table)
    return dict(zip(rows["row"], rows[column], strict=True))


def naive_label(x, breaks, labels, right):
    if x is None:
        return None
    for i, label in enumerate(labels):
        low, high = breaks[i], breaks[i + 1]
        if (low < x <= high) if right else (low <= x < high):
            return label
    if right and x == breaks[0]:
        return labels[0]
    return labels[-1] if not right and x == breaks[-1] else None


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("breaks", [[0, 10], [0, 2, 4.5, 10], [float("-inf"), 3, float("inf")]])
def test_intervals(lazy, right, breaks):
    x = [0, 1, 2, 3, 4, 5, 10, 11, -1, None]
    labels = [f"group {i}" for i in range(len(breaks) - 1)]
    frame = pl.DataFrame({"row": range(len(x)), "x": x, "y": x})
    table = recode.intervals(lazy(frame), "x", breaks, labels, right=right)
    assert list(table.collect_schema()) == ["row", "x", "y"]
    assert recoded(table) == {i: naive_label(v, breaks, labels, right) for i, v in enumerate(x)}


def test_many_intervals_with_numbers_as_labels(lazy):
    frame = pl.DataFrame({"row": range(200), "x": [i + 0.5 for i in range(200)]})
    table = recode.intervals(lazy(frame), "x", list(range(201)), list(range(200)), right=True)
    assert recoded(table) == {i: i for i in range(200)}


numbers = st.integers(-9, 9)


@settings(max_examples=60, deadline=None)
@given(st.sets(numbers, min_size=2), st.lists(st.one_of(st.none(), numbers), min_size=1), st.booleans())
def test_any_intervals(cuts, x, right):
    breaks, labels = sorted(cuts), [f"l{i}" for i in range(len(cuts) - 1)]
    frame = pl.DataFrame({"row": range(len(x)), "x": x}, schema={"row": pl.Int64, "x": pl.Int64})
    table = recode.intervals(frames.lazy(frame), "x", breaks, labels, right=right)
    assert recoded(table) == {i: naive_label(v, breaks, labels, right) for i, v in enumerate(x)}


def test_values(lazy):
    x = ["a", "b", "it's", None, "A"]
    frame = pl.DataFrame({"row": range(5), "x": x, "n": [1, 2, 3, None, 4]})
    assert recoded(recode.values(lazy(frame), "x", {"a": "b", "b": "c", "it's": None})) == {
        0: "b",
        1: "c",
        2: None,
        3: None,
        4: "A",
    }
    assert recoded(recode.values(lazy(frame), "n", {1: 10, 2: None}), "n") == {
        0: 10,
        1: None,
        2: 3,
        3: None,
        4: 4,
    }
    assert recoded(recode.values(lazy(frame), "n", {1: "one"}), "n") == {
        0: "one",
        1: "2",
        2: "3",
        3: None,
        4: "4",
    }
    assert recoded(recode.values(lazy(frame), "n", {}), "n") == {0: 1, 1: 2, 2: 3, 3: None, 4: 4}
    assert recoded(recode.values(lazy(frame), "n", {3: None}), "n") == {0: 1, 1: 2, 2: None, 3: None, 4: 4}


def test_values_of_an_enum_may_be_new():
    frame = pl.DataFrame({"row": [0, 1], "x": pl.Series(["u", "v"], dtype=pl.Enum(["u", "v"]))})
    assert recoded(recode.values(frames.lazy(frame), "x", {"u": "other"})) == {0: "other", 1: "v"}
