"""Scenarios side by side in a report: other utilities, estimates against the risk, mosaics."""

import pytest

from report.canaries import TOWN, canaries
from report.page import Page
from sdckit.choose.compare import compare
from sdckit.choose.risk_utility_map import RiskUtilityMap
from sdckit.report import json_beside, report
from sdckit.report.document import document
from sdckit.report.summarize import summarize

STEPS = {
    "k3": [{"microaggregate": {"k": 3}}],
    "noise": [{"add_noise": {"sd": 3.0}}, {"suppress": {"k": 3}}],
    "never": [{"suppress": {"k": 1000}}],
}


@pytest.fixture(scope="module")
def found() -> RiskUtilityMap:
    return compare(
        canaries(),
        STEPS,
        utility="il1s",
        extra_measures=["missing_values", "records_changed", "k_anonymity"],
        indicators={"by": ["town"]},
        max_risk=0.9,
    )


@pytest.fixture(scope="module")
def contents(found):
    return {a: summarize(found, a) for a in ("internal", "public")}


def test_every_other_utility_has_a_small_map(contents, found):
    content = contents["internal"]
    small = content["map"]["small"]
    assert [m["name"] for m in small["maps"]] == ["missing_values", "records_changed", "indicators"]
    assert small["all"] == 3
    for panel in small["maps"]:
        assert [p["scenario"] for p in panel["points"]] == list(STEPS)
        assert [p["best"] for p in panel["points"]] == [p["best"] for p in content["map"]["points"]]
    assert contents["public"]["map"]["small"]["maps"] == []
    shown = {m["name"]: m for m in small["maps"]}
    values = [p["loss"] for p in shown["missing_values"]["points"]]
    measured = [p.extra["missing_values"] if p.ok else None for p in found.results]
    assert values == measured


def test_estimates_of_every_scenario_for_those_inside_only(contents, found):
    inside = contents["internal"]["map"]["estimates"]
    assert contents["public"]["map"]["estimates"] is None
    assert contents["public"]["map"]["mosaics"] is None
    assert inside["charts"]
    names = {row["name"] for row in inside["rows"]}
    assert "mean of income" in names
    assert not any(TOWN in name for name in names)
    assert any(TOWN in e.name for e in found.original.estimates)
    assert TOWN not in str(inside)


def test_estimates_are_rounded(contents, found):
    (shown,) = {
        r["original"]
        for r in contents["internal"]["map"]["estimates"]["rows"]
        if r["name"] == "mean of income"
    }
    exact = next(e.original for e in found.original.estimates if e.name == "mean of income")
    assert shown != exact
    assert shown == pytest.approx(exact, rel=1e-3)


def test_mosaics_of_every_scenario(contents):
    drawn = contents["internal"]["map"]["mosaics"]
    first = contents["internal"]["mosaics"]["charts"][0]
    assert drawn["title"] == f"{first['first_title']} by {first['second_title']}"
    assert {"Original", "k3", "noise"} <= {str(c["title"]["text"]) for c in drawn["chart"]["concat"]}


def test_the_page_and_the_document_have_them(found, tmp_path):
    path = report(found, tmp_path / "r.html")
    page = Page(path.read_text("utf-8"))
    labels = [a["aria-label"] for tag, a in page.elements if tag == "svg"]
    for words in ("against other utilities", "under every scenario against the risk", "and every scenario"):
        assert any(words in str(label) for label in labels)
    assert "losses" in json_beside(path).read_text("utf-8")


def test_the_document_has_losses_and_estimates(contents):
    told = {a: document(content)["map"] for a, content in contents.items()}
    assert {*told["internal"]["further"][0]["losses"]} == {*STEPS}
    assert told["internal"]["estimates"]
    assert told["public"]["estimates"] == []
    assert [s["name"] for s in told["public"]["scenarios"]] == ["scenario 1", "scenario 2", "scenario 3"]


def test_a_map_of_one_utility_has_nothing_beside_it():
    found = compare(canaries(), {"k3": STEPS["k3"]}, utility="il1s")
    content = summarize(found)["map"]
    assert content["small"] == {"maps": [], "all": 0}
    assert content["estimates"]["charts"] == []
