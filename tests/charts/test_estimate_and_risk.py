"""Intervals against risk: names do not cover each other, intervals can be told apart, all is drawn."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdckit import charts
from sdckit.charts.estimate_and_risk import APART, _spread, flags
from sdckit.charts.label_places import Scale

pytestmark = pytest.mark.usefixtures("checked_charts")

poles = st.lists(st.tuples(st.floats(0, 700), st.integers(1, 200).map(float)), max_size=14)


@settings(deadline=None)
@given(poles)
def test_no_name_covers_another_or_its_pole(poles):
    lines = flags(poles)
    assert all(0 <= line < len(poles) for line in lines)
    for i, (start, length) in enumerate(poles):
        for j, (other, reach) in enumerate(poles):
            if i == j:
                continue
            if lines[i] == lines[j]:
                assert start + length <= other or other + reach <= start
            if lines[j] > lines[i] and start < other:  # the pole of j goes up through the line of i
                assert start + length <= other


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_intervals_stand_apart_in_their_order_and_move_little(risks):
    scale = Scale(-0.03, 1.2, 680)
    marks = [{"at": risk} for risk in risks]
    _spread(marks, scale)
    pixels = [scale.pixel(m["at"]) for m in marks]
    moved = [p for _, p in sorted(zip(risks, pixels, strict=True))]
    assert all(b - a > APART - 1e-6 for a, b in pairwise(moved))
    for risk, pixel in zip(risks, pixels, strict=True):
        assert abs(pixel - scale.pixel(risk)) <= APART * (len(risks) - 1) + 1e-6


@pytest.mark.parametrize("original_risk", [None, 0.0, 40.0])
@pytest.mark.parametrize("count", [0, 1, 6, 30])
def test_it_draws(original_risk, count):
    chart = charts.estimate_and_risk(
        [f"<scenario {i}>" for i in range(count)],
        [float(i) for i in range(count)],
        [(1.0, 0.5, 1.5)] * count,
        (1.0, 1.0, 1.0),
        title="<b>mean</b>",
        risk_is_share=False,
        original_risk=original_risk,
        best="<scenario 3>",
        skipped=["lost"],
    )
    svg = charts.static_svg(chart, "e", "")
    assert ("&lt;scenario 2&gt;</text>" in svg) == (count == 6)
    assert ("recommended" in svg) == (count > 3)
    assert ("Original" in svg) == (original_risk is not None)
    assert "cannot be compared there: lost" in svg
