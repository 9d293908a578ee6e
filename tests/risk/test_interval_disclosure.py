"""Interval disclosure against its plain twin, sdcMicro's dRisk and by hand."""

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from conftest import oracle_cases
from naive_linkage import naive_intervals
from sdckit.risk.interval_disclosure import interval_disclosure

NUMBER = st.one_of(st.none(), st.integers(-8, 8).map(lambda v: v / 8))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(NUMBER, NUMBER, NUMBER, NUMBER), min_size=1, max_size=12),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    st.sampled_from(["sd", "rank", "percent"]),
)
def test_same_as_the_plain_twin(records, width, method):
    u1, u2, v1, v2 = (list(c) for c in zip(*records, strict=True))
    types = {"u": pl.Float64, "v": pl.Float64}
    data = sdc.read(pl.DataFrame({"u": u1, "v": v1}, schema=types), numeric=["u", "v"])
    other = data.with_frame(pl.DataFrame({"u": u2, "v": v2}, schema=types))
    result = interval_disclosure(data, other, width=width, method=method)
    each = [naive_intervals(u1, u2, width, method), naive_intervals(v1, v2, width, method)]
    asked = [[hit for hit in pair if hit is not None] for pair in zip(*each, strict=True)]
    n = sum(u is not None or v is not None for u, v in zip(u1, v1, strict=True))
    if not n:
        assert math.isnan(result.value)
        assert result.notes
        return
    assert result.value == pytest.approx(sum(bool(a) and all(a) for a in asked) / n)
    assert result.figures["any"] == pytest.approx(sum(any(a) for a in asked) / n)
    there = [sum(a is not None for a in x) for x in (u1, v1)]
    alone = [sum(h for h in e if h is not None) for e in each]
    assert result.parts["inside"].to_list() == [
        h / m if m else None for h, m in zip(alone, there, strict=True)
    ]
    assert result.parts["originals"].to_list() == there
    assert result.tables["records"]["compared"].to_list() == [len(a) for a in asked]


@pytest.mark.parametrize("case", oracle_cases("03b", lambda c: "dRisk_k" in c["expected"]))
def test_stored_shares_inside(case, oracles):
    data = oracles.data(case["dataset"], numeric=case["inputs"]["variables"])
    other = data.with_frame(oracles.frame(case["dataset"]["perturbed_csv"]))
    for width, share in case["expected"]["dRisk_k"].items():
        assert interval_disclosure(data, other, width=float(width)).value == pytest.approx(share, rel=1e-12)


def pair() -> tuple[sdc.Microdata, sdc.Microdata]:
    data = sdc.read(pl.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": [5.0, 6.0, 7.0, 9.0]}), numeric=["x", "y"])
    return data, data.with_frame(pl.DataFrame({"x": [0.0, 3.0, 1.0, 2.0], "y": [5.0, 6.0, None, 10.0]}))


def test_all_variables_must_be_inside_and_missing_ones_are_not_asked():
    assert interval_disclosure(*pair(), width=1, method="rank").value == 1  # from the smallest to the largest
    tight = interval_disclosure(*pair(), width=0.25, method="rank")
    assert tight.tables["records"]["disclosed"].to_list() == [True, False, True, False]
    assert tight.figures["any"] == 1
    assert "1 record lacks some number in a file: only those in both were asked." in tight.notes


def test_records_without_a_number_are_not_counted_and_blanked_ones_are():
    data = sdc.read(pl.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, None]}), numeric="x")
    other = data.with_frame(pl.DataFrame({"x": [0.0, 1.0, 9.0, None, None]}))
    result = interval_disclosure(data, other)
    assert result.value == result.parts["inside"][0] == 0.5
    assert "1 record has no number in the original: nothing to disclose, not counted." in result.notes


def test_the_spread_may_be_that_of_the_original():
    data = sdc.read(pl.DataFrame({"x": [0.0, 10.0]}), numeric="x")
    other = data.with_frame(pl.DataFrame({"x": [5.0, 5.0]}))
    assert interval_disclosure(data, other, width=1).value == 0
    assert interval_disclosure(data, other, width=1, spread="original").value == 1


def test_nothing_changed_is_disclosed_at_any_width():
    data, _ = pair()
    for method in ("sd", "rank", "percent"):
        assert interval_disclosure(data, data, width=0, method=method).value == 1


def test_ends_belong_to_the_interval_in_spite_of_rounding():
    data = sdc.read(pl.DataFrame({"x": [1.1, 0.9]}), numeric="x")
    other = data.with_frame(pl.DataFrame({"x": [1.0, 1.0]}))
    assert interval_disclosure(data, other, width=0.1, method="percent").value == 1


def test_huge_numbers_do_not_overflow():
    data = sdc.read(pl.DataFrame({"x": [1e300, 2e300, 3e300]}), numeric="x")
    other = data.with_frame(pl.DataFrame({"x": [1.01e300, 2.5e300, 3e300]}))
    assert interval_disclosure(data, other).value == pytest.approx(2 / 3)


def test_a_recoded_variable_is_left_out_with_a_note():
    data, _ = pair()
    other = sdc.read(pl.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": ["a", "b", "c", "d"]}))
    result = interval_disclosure(data, other)
    assert result.value == 1
    assert result.notes[0] == "Not numeric in both files, left out: y."


def test_the_interval_is_told_in_the_unit_of_the_variable():
    data = sdc.read(pl.DataFrame({"pay": [1000.0, 3000.0, 5000.0]}), numeric="pay")
    assert "The interval is pay ± 100." in sdc.risk.interval_disclosure(data, data).notes
    other = sdc.risk.interval_disclosure(data, data, method="percent")
    assert not any("The interval is" in note for note in other.notes)
