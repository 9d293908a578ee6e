"""Table 6.1 of the practice guide in small: its scenarios, what is kept of each, and the page."""

import re
from pathlib import Path

import pytest

import conftest
import sdckit as sdc
from sdckit import charts

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def study():
    return conftest.study("benschop_2019")


@pytest.fixture(scope="module")
def maps(study):
    data = study.survey(500, seed=2)
    fewer = {name: study.MORE[name] for name in ("age in fives", "PRAM sex 0.6")}
    pram = sdc.compare(data, study.PRAM, utility="contingency_loss", seed=study.SEED)
    return study.compared(data, extra_measures=study.ALSO), study.compared(data, fewer), pram


def test_the_scenarios_are_those_of_the_table(study):
    k = {
        name: next(s["suppress"]["k"] for s in steps if "suppress" in s)
        for name, steps in study.SCENARIOS.items()
    }
    assert list(k.values()) == [3, 5, 3, 5, 3, 3]
    important = [
        sorted(next(s["suppress"].get("importance", {}) for s in steps if "suppress" in s))
        for steps in study.SCENARIOS.values()
    ]
    three = ["literacy", "toilet", "water"]
    assert important == [three, [], ["toilet"], three, [], []]
    for name, steps in study.SCENARIOS.items():
        assert steps[0] == {"recode": {"variable": "age", "width": 5}}
        grouped = {s["group"]["variables"][0] for s in steps if "group" in s}
        assert grouped == ({"region", "urban", "education", "occupation"} if name[-1] in "3456" else set())
    assert "microaggregate" in study.SCENARIOS["scenario 5"][-1]
    assert study.SCENARIOS["scenario 6"][-1] == {"pram": {"variables": ["literacy"]}}


def test_every_scenario_keeps_its_k(study, maps):
    for point in maps[0].results[:5]:  # the sixth randomises a key afterwards
        k = next(s.options["k"] for s in point.scenario.steps if s.method == "suppress")
        assert sdc.risk.k_anonymity(maps[0].protect(point.name), k=k).value == 0


def test_what_the_page_says_holds(study, maps):
    found, more, pram = maps
    loss = {p.name[-1]: p.loss for p in found.results}
    blank = {p.name[-1]: p.value("missing_values") for p in found.results}
    assert max(loss["1"], loss["2"]) < min(loss[s] for s in "3456")
    assert min(blank["1"], blank["2"]) > max(blank["3"], blank["5"])
    assert found.results[5].risk > found.results[4].risk
    assert [p.value("il1s") > 0 for p in found.results] == [False] * 4 + [True, False]
    gone = found.estimates.filter(scenario="scenario 3")
    education = gone.filter(gone["name"].str.starts_with("education"))
    assert education.height == 5
    assert education["estimate"].null_count() == 5
    sex = {row["scenario"]: row["estimate"] for row in more.estimates.filter(name=study.GENDER).to_dicts()}
    assert abs(sex["PRAM sex 0.6"]) < 0.5 * abs(sex["age in fives"])
    changed = study.changes(found, "sex")
    assert changed["scenario 5"] == changed["scenario 6"] < changed["scenario 1"]
    before, after = (
        study.cramers_v(d, "roof", "toilet") for d in (pram.data, pram.protect("invariant PRAM"))
    )
    assert after < 0.75 * before


def test_the_page_and_its_pictures(study, maps):
    text = study.page(*maps)
    drawn = study.pictures(*maps)
    assert set(re.findall(r"benschop-2019-([a-z-]+)\.svg", text)) == set(drawn)
    for name, chart in drawn.items():
        assert "<svg" in charts.static_svg(chart, name, ""), name
    assert text.count("| scenario 4 |") == 1
    assert "nan" not in text


def test_the_written_page_has_its_pictures():
    folder = ROOT / "docs" / "studies"
    text = (folder / "benschop-2019.md").read_text(encoding="utf-8")
    named = re.findall(r"\((benschop-2019-[a-z-]+\.svg)\)", text)
    assert len(named) == 9
    assert all(0 < (folder / name).stat().st_size < 150_000 for name in named)
