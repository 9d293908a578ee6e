"""Every chart is valid Vega-Lite, draws as clean SVG and shows what it is given."""

from itertools import pairwise
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdckit import charts
from sdckit._support.number_text import SPACE, number, percent, round_marks
from sdckit.charts.label_places import LINE, Scale, place
from sdckit.charts.mosaic import spread
from sdckit.charts.risk_utility_map import not_measured

pytestmark = pytest.mark.usefixtures("checked_charts")

NASTY = "<script>alert('x')</script> \"quoted\" 🎉"
SVG = "{http://www.w3.org/2000/svg}"


def points(**change: object) -> pl.DataFrame:
    frame = pl.DataFrame(
        {
            "scenario": ["weak", NASTY, "failed"],
            "description": ["k = 3", NASTY, ""],
            "risk": [0.02, 0.005, None],
            "loss": [0.1, 0.4, None],
            "on_front": [True, True, False],
            "best": [False, True, False],
            "objection": ["", "", ""],
        }
    )
    return frame.with_columns(**{k: pl.lit(v) for k, v in change.items()})


def made() -> dict[str, object]:
    return {
        "map": charts.risk_utility_map(points(), original_risk=0.03, max_risk=0.01),
        "histogram": charts.histogram([0, 10, 20], [0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], title=NASTY),
        "mosaic": charts.mosaic(
            ["a", NASTY],
            ["u", "missing"],
            [[1, 2], [3, 0]],
            [[2, 1], [0, 3]],
            first_title="A",
            second_title=NASTY,
        ),
        "before_after": charts.before_after([NASTY, "b"], [0.5, 0.2], [0.1, 0.0], axis="share"),
        "variable_bars": charts.variable_bars([NASTY, "x", "x"], [3.0, 0.5, -1.0], axis="loss"),
    }


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    return {name: charts.static_svg(chart, name, f"about {NASTY}") for name, chart in made().items()}


def test_every_chart_is_valid_svg_that_holds_no_script_and_scales(drawn):
    for name, svg in drawn.items():
        tree = ElementTree.fromstring(svg)
        assert "<script" not in svg, name
        assert tree.get("viewBox")
        assert tree.get("width") is None
        assert tree.get("aria-label") == f"about {NASTY}"
        assert not any(a.startswith("on") or "href" in a for e in tree.iter() for a in e.attrib), name


def test_tooltips_stand_in_the_drawing(drawn):
    titles = {
        name: [t.text for t in ElementTree.fromstring(svg).iter(f"{SVG}title")] for name, svg in drawn.items()
    }
    assert f"below 0: original 10{SPACE}%, protected 40{SPACE}%" in titles["histogram"]
    assert any(t.startswith(f"{NASTY}: {NASTY}. Risk 0.5{SPACE}%") for t in titles["map"])
    assert f"a × u: 16.7{SPACE}% of all, 33.3{SPACE}% of a" in titles["mosaic"]
    assert f"{NASTY}, original: 50{SPACE}%" in titles["before_after"]
    assert "x: −1" in titles["variable_bars"]


def test_ids_of_two_charts_on_a_page_differ(drawn):
    chart = made()["histogram"]
    ids = [
        {
            e.get("id")
            for e in ElementTree.fromstring(charts.static_svg(chart, name, "")).iter()
            if e.get("id")
        }
        for name in ("one", "two")
    ]
    assert not ids[0] & ids[1]


def test_map_names_both_ends_and_the_recommended_point_but_no_failed_one(drawn):
    texts = [t.text or "" for t in ElementTree.fromstring(drawn["map"]).iter(f"{SVG}text")]
    assert "Original" in texts
    assert "No release" in texts
    assert any("recommended" in t for t in texts)
    assert any("accepted risk: 1" in t for t in texts)
    assert "failed" not in texts


@pytest.mark.parametrize(
    "case",
    [
        {"original_risk": 0.0},
        {"original_risk": 0.5, "max_risk": 0.5, "log": True},
        {"original_risk": 0.03, "max_risk": 1.0},
        {"original_risk": 0.9, "risk_is_share": False},
    ],
)
def test_map_with_no_risk_wide_risks_or_a_far_ceiling(case):
    svg = charts.static_svg(charts.risk_utility_map(points(), **case), "m", "")
    assert ("above this chart" in svg) == (case.get("max_risk") == 1.0)


def test_map_without_any_scenario_that_worked():
    chart = charts.risk_utility_map(points(risk=None, loss=None), original_risk=0.03)
    assert "Original" in charts.static_svg(chart, "m", "")


def test_names_do_not_cover_each_other():
    x, y = Scale(0, 1, 600), Scale(0, 1, 400)
    crowd = [(0.5 + i / 500, 0.5 + i / 300, f"scenario {i}") for i in range(12)]
    places = place(crowd, [(a, b) for a, b, _ in crowd], [], x, y)
    boxes = [
        (x.pixel(p[0]), y.pixel(p[1]), 6.0 * len(t)) for p, (_, _, t) in zip(places, crowd, strict=True) if p
    ]
    assert len(boxes) >= 3
    for i, (left, up, length) in enumerate(boxes):
        for other_left, other_up, other_length in boxes[i + 1 :]:
            apart = left + length <= other_left + 1e-6 or other_left + other_length <= left + 1e-6
            assert apart or abs(up - other_up) >= LINE - 1e-6


@pytest.mark.parametrize("constant", [0.0, 0.01])
def test_scale_goes_there_and_back(constant):
    scale = Scale(-0.01, 2.0, 300, constant)
    for value in (-0.01, 0.0, 0.3, 2.0):
        assert scale.value(scale.pixel(value)) == pytest.approx(value, abs=1e-12)


def test_numbers_for_people():
    assert percent(0.0123) == f"1.2{SPACE}%"
    assert percent(0.00034) == f"0.034{SPACE}%"
    assert number(float("nan")) == "–"
    assert number(float("inf")) == "∞"
    assert number(-1234567) == "−1,234,567"
    assert round_marks(0.3, 0.3, 4) == []


def test_scenarios_that_could_not_be_measured_are_named_above_the_map(drawn):
    found = points()
    failed = found.filter(pl.col("risk").is_null() | pl.col("risk").is_nan())["scenario"].to_list()
    assert failed
    told = not_measured(found, 120)
    assert told == f"{len(failed)} not measured: {', '.join(failed)}"
    texts = [t.text for t in ElementTree.fromstring(drawn["map"]).iter(f"{SVG}text")]
    assert told in texts
    assert not_measured(found.filter(~pl.col("scenario").is_in(failed)), 120) == ""


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=12))
def test_names_of_columns_stand_apart_in_their_order(sizes):
    total, left, names = sum(sizes), 0.0, []
    for size in sizes:
        names.append({"at": left + size / total / 2, "share": size / total})
        left += size / total
    places = [n["at"] for n in spread(names, 0.08)]
    assert len(places) == len(sizes)
    assert all(b - a > 0.0799 for a, b in pairwise(places))
    assert max(places) <= 1
