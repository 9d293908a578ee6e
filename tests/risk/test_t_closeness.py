"""t-closeness against the paper's example and a plain twin."""

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from naive_sensitive import distribution, earth_movers_distance, group
from sdckit.data.key_cells import key_codes
from sdckit.errors import OptionError

SALARIES = [3, 4, 5, 6, 11, 8, 7, 9, 10]  # thousands; the nine patients of Li, Li & Venkatasubramanian (2007)


def test_example_of_the_paper():
    # {3, 4, 5} is 0.375 from all nine values, {6, 8, 11} is 0.167
    frame = pl.DataFrame({"class": [1, 1, 1, 2, 2, 2, 3, 3, 3], "salary": [float(s) for s in SALARIES]})
    parts = sdc.risk.t_closeness(sdc.read(frame, keys="class", sensitive="salary"), ordinal="salary").parts
    assert parts["distance"][0] == pytest.approx(0.375)
    assert parts["distance"][3] == pytest.approx(1 / 6)


@settings(max_examples=120, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["a", "b", None]),
            st.sampled_from([1, 2, None]),
            st.sampled_from([1, 2, 5, 9, None]),
            st.sampled_from([1.0, 2.0, 0.5]),
        ),
        min_size=1,
        max_size=25,
    ),
    rule=st.sampled_from(["wildcard", "category"]),
    ordered=st.booleans(),
)
def test_agrees_with_the_definition(rows, rule, ordered):
    names = {"a": pl.String, "b": pl.Int64, "s": pl.Int64, "w": pl.Float64}
    frame = pl.DataFrame(rows, schema=names, orient="row")
    if frame.select(pl.all_horizontal(pl.col("a", "b").is_null()).all()).item():
        return
    data = sdc.read(frame, keys=["a", "b"], sensitive="s", weight="w")
    result = sdc.risk.t_closeness(data, missing=rule, ordinal=["s"] if ordered else [])
    codes = key_codes(frame, ["a", "b"]).tolist()
    present = [i for i in range(len(rows)) if rows[i][2] is not None]
    domain = sorted({rows[i][2] for i in present})
    overall = distribution([rows[i][2] for i in present], [rows[i][3] for i in present], domain)
    for i in range(len(rows)):
        mine = [j for j in group(codes, i, rule) if j in present]
        if not mine:
            assert result.parts["distance"][i] is None
            continue
        shares = distribution([rows[j][2] for j in mine], [rows[j][3] for j in mine], domain)
        expected = earth_movers_distance(shares, overall, ordered=ordered)
        assert result.parts["distance"][i] == pytest.approx(expected, abs=1e-12)


def test_order_comes_from_type_and_role():
    frame = pl.DataFrame(
        {
            "k": [1, 1, 2, 2],
            "code": [1, 2, 3, 3],
            "level": pl.Series(["low", "low", "mid", "top"], dtype=pl.Enum(["low", "mid", "top"])),
            "pay": [1.5, 2.0, 3.0, 4.0],
        }
    )
    data = sdc.read(frame, keys="k", sensitive=["code", "level", "pay"])
    table = sdc.risk.t_closeness(data).tables["variables"]
    assert table["ordered"].to_list() == [False, True, True]
    assert sdc.risk.t_closeness(data, sensitive="code").value == pytest.approx(0.5)
    # levels keep the order of the Enum: {low, low} against (½, ¼, ¼) moves (½ + ¼)/2
    assert sdc.risk.t_closeness(data, sensitive="level").parts["distance"][0] == pytest.approx(0.375)


def test_extremes():
    frame = pl.DataFrame({"k": [1, 1, 2, 2], "same": list("abab"), "one": list("xxxx")})
    data = sdc.read(frame, keys="k", sensitive=["same", "one"])
    assert sdc.risk.t_closeness(data).value == 0
    many = pl.DataFrame({"k": [0] * 999 + [1], "s": ["a"] * 999 + ["b"]})
    result = sdc.risk.t_closeness(sdc.read(many, keys="k", sensitive="s"))
    assert result.value == pytest.approx(0.999)
    assert result.figures["violations"] == 1


def test_nothing_present_and_refusals():
    frame = pl.DataFrame({"k": [1, 2], "s": pl.Series([None, None], dtype=pl.Float64)})
    data = sdc.read(frame, keys="k", sensitive="s")
    result = sdc.risk.t_closeness(data)
    assert math.isnan(result.value)
    assert "No sensitive value is present in any group." in result.notes
    with pytest.raises(OptionError, match=r"ordinal names a variable that is not sensitive. Given: k"):
        sdc.risk.t_closeness(data, ordinal=["k"])


def test_codes_stay_codes_when_stored_as_floats_and_fractions_are_ordered():
    frame = pl.DataFrame({"k": list("aabb"), "s": [1, 2, 3, None]})
    whole, floats, numbers = (
        sdc.risk.t_closeness(sdc.read(f, keys="k", sensitive="s"))
        for f in (frame, frame.to_pandas(), frame.with_columns(pl.col("s") / 2))
    )
    assert floats.value == whole.value == pytest.approx(2 / 3)
    assert floats.tables["variables"]["ordered"].to_list() == [False]
    assert numbers.tables["variables"]["ordered"].to_list() == [True]
    assert numbers.value == pytest.approx((1 / 3 + 2 / 3) / 2)
