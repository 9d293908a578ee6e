"""Gower distance against its plain twin, by hand, and on every engine."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from engine_frames import ENGINES, on_engine
from naive_gower import naive_gower
from sdckit.utility.gower_distance import gower_distance

LEVELS = ["low", "middle", "high"]
ROW = st.tuples(
    *(st.one_of(st.none(), st.sampled_from(LEVELS)) for _ in range(4)),
    *(st.one_of(st.none(), st.integers(-3, 3).map(float)) for _ in range(2)),
    st.integers(1, 3),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=8))
def test_same_as_the_plain_twin(rows):
    o1, o2, n1, n2, v1, v2, w = (list(column) for column in zip(*rows, strict=True))
    types = {"o": pl.Enum(LEVELS), "n": pl.String, "v": pl.Float64, "w": pl.Int64, "always": pl.Int64}
    one = [1] * len(w)
    x, y = (
        pl.DataFrame({"o": o, "n": n, "v": v, "w": w, "always": one}, schema=types)
        for o, n, v in ((o1, n1, v1), (o2, n2, v2))
    )
    data = sdc.read(x, keys=["o", "n", "always"], numeric="v", weight="w")
    result = gower_distance(data, data.with_frame(y))
    expected = [
        naive_gower(o1, o2, "ordinal", w, LEVELS),
        naive_gower(n1, n2, "nominal", w),
        0.0,
        naive_gower(v1, v2, "numeric", w),
    ]
    assert result.parts["distance"].to_list() == pytest.approx(expected)
    assert result.parts["kind"].to_list() == ["ordinal", "nominal", "nominal", "numeric"]
    assert result.value == pytest.approx(sum(expected) / 4)


def pair() -> tuple[sdc.Microdata, sdc.Microdata]:
    x = pl.DataFrame({"id": [1, 2, 3], "grade": [1, 2, 5], "size": ["s", "m", "l"], "v": [0.0, 5.0, None]})
    data = sdc.read(x, id="id", keys=["grade", "size"], numeric="v")
    return data, data.with_frame(
        x.with_columns(
            grade=pl.Series([2, 2, 1]), size=pl.Series(["s", "l", "s"]), v=pl.Series([0.0, 10.0, 1.0])
        )
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_by_hand_on_every_engine(engine, request):
    x, y = (on_engine(engine, d, request) for d in pair())
    result = gower_distance(x, y, ordinal={"size": ["s", "m", "l"], "grade": [1, 2, 3, 4, 5]})
    assert result.parts["distance"].to_list() == pytest.approx(
        [(1 / 4 + 0 + 1) / 3, (0 + 1 / 2 + 1) / 3, (0 + 1 / 2 + 1) / 3]
    )


def test_ordinal_numbers_without_levels_take_the_values_that_occur():
    result = gower_distance(*pair(), variables="grade", ordinal="grade")  # 1 < 2 < 5
    assert result.value == pytest.approx((1 / 2 + 0 + 1) / 3)


def test_text_has_no_order_of_its_own():
    with pytest.raises(sdc.SdcError, match=r"order of 'size' is not known.*lowest"):
        gower_distance(*pair(), ordinal="size")


def test_levels_must_hold_every_value():
    with pytest.raises(sdc.SdcError, match=r"hold every value.*Given: l"):
        gower_distance(*pair(), ordinal={"size": ["s", "m"]})
    with pytest.raises(sdc.SdcError, match="not compared"):
        gower_distance(*pair(), variables="v", ordinal="grade")


def test_a_recoded_variable_is_as_far_as_can_be_where_present():
    x, y = pair()
    recoded = y.frame.with_columns(v=pl.Series(["0-5", "0-5", None]), grade=pl.Series(["1-2", "1-2", "5"]))
    result = gower_distance(x, sdc.read(recoded, id="id", keys=["grade", "size"]), ordinal="grade")
    distances = dict(result.parts.select("variable", "distance").iter_rows())
    assert distances["v"] == pytest.approx(2 / 3)  # missing in both files in the third record
    assert distances["grade"] == pytest.approx(2 / 3)  # 5 is still 5
    assert [note.split(" than")[0] for note in result.notes] == ["grade, v have other categories"]


def test_the_farthest_there_can_be_is_1_and_swapping_the_files_changes_nothing():
    x = sdc.read(pl.DataFrame({"a": ["x", "y"], "v": [-1.5e308, 1.5e308]}), keys="a", numeric="v")
    y = x.with_frame(pl.DataFrame({"a": ["y", None], "v": [1.5e308, -1.5e308]}))
    assert gower_distance(x, y).value == 1
    assert gower_distance(y, x).value == 1
    assert gower_distance(x, x).value == 0
