"""ecdf_distance against stored results, its definition, and what must and must not change it."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from conftest import oracle_cases
from naive_ecdf import naive_ecdf_distance
from sdckit.errors import ColumnError

FIGURES = ("du_max", "du_sq", "duw_max", "duw_sq")


def microdata(rows, weights=None):
    names = [f"x{j}" for j in range(len(rows[0]))]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Float64), orient="row")
    if weights is None:
        return sdc.read(frame, numeric=names)
    return sdc.read(frame.with_columns(w=pl.Series(weights, dtype=pl.Float64)), numeric=names, weight="w")


def figures(*files):
    return dict(sdc.utility.ecdf_distance(*files).figures)


@st.composite
def pairs(draw):
    """Two small files of different length, with ties and constant columns, and their weights."""
    p = draw(st.integers(1, 4))
    tops = [draw(st.sampled_from([0, 1, 3, 40])) for _ in range(p)]
    row = st.tuples(*[st.integers(0, top) for top in tops])
    files = [draw(st.lists(row, min_size=1, max_size=25)) for _ in range(2)]
    weights = [draw(st.lists(st.integers(1, 4), min_size=len(f), max_size=len(f))) for f in files]
    return (*files, *weights)


@pytest.mark.parametrize("case", oracle_cases("08", lambda c: not c["id"].endswith("_tables")))
def test_stored_results(oracles, case):
    frame, names = oracles.frame(case["dataset"]["csv"]), case["inputs"]
    data = sdc.read(frame.select(*names["x"], "w"), numeric=names["x"], weight=names["weight"])
    protected = frame.select("w", *[pl.col(z).alias(x) for x, z in zip(names["x"], names["z"], strict=True)])
    found = figures(data, data.with_frame(protected))
    expected = {name.lower(): number for name, number in case["expected"].items()}
    assert found == pytest.approx(expected, rel=1e-9, abs=0)


@settings(deadline=None, max_examples=60)
@given(pairs())
def test_by_definition(case):
    x, z, wx, wz = case
    result = sdc.utility.ecdf_distance(microdata(x, wx), microdata(z, wz))
    plain = naive_ecdf_distance(x, z, [1] * len(x), [1] * len(z))
    weighted = naive_ecdf_distance(x, z, wx, wz)
    assert [result.figures[f] for f in FIGURES] == pytest.approx([*plain, *weighted], rel=1e-12, abs=1e-15)
    assert result.value == result.figures["du_max"]
    for j, part in enumerate(result.parts.iter_rows(named=True)):
        one = naive_ecdf_distance([r[j : j + 1] for r in x], [r[j : j + 1] for r in z], wx, wz)
        assert (part["duw_max"], part["duw_sq"]) == pytest.approx(one, rel=1e-12, abs=1e-15)


@settings(deadline=None, max_examples=30)
@given(pairs())
def test_what_changes_nothing(case):
    x, z, wx, wz = case
    expected = figures(microdata(x, wx), microdata(z, wz))
    for files in (
        (microdata(z, wz), microdata(x, wx)),
        (microdata(x[::-1], wx[::-1]), microdata(z, wz)),
        (microdata(x * 2, wx * 2), microdata(z * 2, wz * 2)),
    ):
        assert figures(*files) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    same = figures(microdata(x, wx), microdata(x[::-1], wx[::-1]))
    assert same == dict.fromkeys(FIGURES, 0.0)


@settings(deadline=None, max_examples=30)
@given(pairs())
def test_whole_weights_are_repeated_records(case):
    x, z, wx, wz = case
    weighted = figures(microdata(x, wx), microdata(z, wz))
    repeated = figures(
        microdata([r for r, w in zip(x, wx, strict=True) for _ in range(w)]),
        microdata([r for r, w in zip(z, wz, strict=True) for _ in range(w)]),
    )
    assert weighted["duw_max"] == pytest.approx(repeated["du_max"], rel=1e-12, abs=1e-15)
    assert repeated["duw_max"] == repeated["du_max"]
    assert repeated["duw_sq"] == repeated["du_sq"]


def test_one_file_below_the_other_is_as_far_as_can_be():
    rng = np.random.default_rng(1)
    low, high = rng.random((50, 3)), 2 + rng.random((30, 3))
    weights = rng.uniform(1, 9, 50), rng.uniform(1, 9, 30)

    def distance(x, z):
        found = figures(microdata(x.tolist(), weights[0]), microdata(z.tolist(), weights[1]))
        return found["du_max"], found["duw_max"]

    assert distance(low[:, :1], high[:, :1]) == (1.0, 1.0)
    # in several variables no record need be above all others of its file: one record short of 1
    assert distance(low, high)[0] == pytest.approx(1 - 1 / 30)
    low[7] = 1.0
    assert distance(low, high) == (1.0, 1.0)


def test_by_hand_in_two_variables():
    # at (1,2) and (2,1) one original record of two is below, no protected one; at (2,2) both files are
    data, other = microdata([(1, 2), (2, 1)], [1, 3]), microdata([(2, 2), (2, 2)], [1, 1])
    assert figures(data, other) == pytest.approx(
        {"du_max": 0.5, "du_sq": 2 * 0.25 / 4, "duw_max": 0.75, "duw_sq": (0.25**2 + 0.75**2) / 4}
    )


def test_joint_distance_sees_what_margins_do_not():
    x = [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]
    result = sdc.utility.ecdf_distance(microdata(x), microdata([(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]))
    assert result.parts["du_max"].to_list() == [0.0, 0.0]
    assert result.value == pytest.approx(1 / 3)


def test_records_with_missing_values_are_left_out():
    x, z = [(1, 5), (2, None), (3, 7)], [(1, 6), (2, 2), (None, None), (None, 1)]
    result = sdc.utility.ecdf_distance(microdata(x, [1, 2, 3]), microdata(z, [4, 3, 2, 1]))
    expected = figures(microdata([x[0], x[2]], [1, 3]), microdata(z[:2], [4, 3]))
    assert dict(result.figures) == pytest.approx(expected)
    assert result.notes == (
        "1 record with a missing value left out of the original file.",
        "2 records with a missing value left out of the protected file.",
    )
    alone = figures(microdata([(5,), (7,)], [1, 3]), microdata([(6,), (2,), (1,)], [4, 3, 1]))
    assert result.parts.row(1)[1:] == pytest.approx(tuple(alone.values()))


def test_nothing_left_is_nan_with_a_note():
    result = sdc.utility.ecdf_distance(microdata([(1, None), (None, 2)]), microdata([(1, 2)]))
    assert math.isnan(result.value)
    assert result.notes[-1] == "One of the files has no record with all variables present."


def test_only_numbers():
    data = sdc.read(pl.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0], "g": ["a", "b"]}), numeric=["x", "y"])
    with pytest.raises(ColumnError, match=r"column 'g' does not hold numbers"):
        sdc.utility.ecdf_distance(data, data, variables=["x", "g"])
    with pytest.raises(sdc.SdcError, match="needs at least one column in 'variables'"):
        sdc.utility.ecdf_distance(data, data, variables=[])
    recoded = sdc.read(pl.DataFrame({"x": [1.0, 3.0], "y": ["low", "high"]}), numeric=["x"])
    result = sdc.utility.ecdf_distance(data, recoded)
    assert result.notes == ("Not numeric in both files, left out: y.",)
    assert result.value == 0.5


def test_curve_is_made_of_aggregates():
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(3000, 1)), rng.normal(0.5, 1, size=(2000, 1))
    wx = rng.uniform(1, 5, 3000)
    curve = sdc.utility.ecdf_distance(microdata(x.tolist(), wx), microdata(z.tolist())).tables["curve"]
    assert curve.height == 200
    both = np.concatenate([x, z])
    assert both.min() < curve["value"].min()
    assert curve["value"].max() < both.max()
    for row in curve.iter_rows(named=True):
        inside = x[:, 0] <= row["value"]
        below = (z <= row["value"]).mean()
        assert row["difference"] == pytest.approx(inside.mean() - below)
        assert row["weighted_difference"] == pytest.approx(wx[inside].sum() / wx.sum() - below)
    small = sdc.utility.ecdf_distance(microdata([(1.0,)] * 40), microdata([(2.0,)] * 20)).tables["curve"]
    assert small["difference"].to_list() == [1.0, 0.0]


def test_a_variable_without_values_does_not_take_the_records_of_the_others():
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0], "y": [None, None, None]}, schema_overrides={"y": pl.Float64})
    data = sdc.read(frame, numeric=["x", "y"])
    result = sdc.utility.ecdf_distance(data, data.with_frame(frame.with_columns(pl.col("x") + 1)))
    assert result.value == pytest.approx(1 / 3)
    assert result.notes == ("No value present in one of the files, left out: y.",)
    empty = sdc.read(frame, numeric="y")
    assert np.isnan(sdc.utility.ecdf_distance(empty, empty).value)
