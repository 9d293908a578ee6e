"""The coverage study in small, and the study of Templ (2019)."""

import math

import pytest

import sdckit as sdc
from conftest import study


@pytest.mark.parametrize(("design", "size"), [("simple", 400), ("clusters", 60)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(design, size, monkeypatch):
    """60 runs: within 4 binomial standard errors of 95 %, one false alarm in 16,000; a little more below for
    the small samples.
    """
    coverage = study("coverage")
    monkeypatch.setattr(coverage, "METHODS", [coverage.Method.TAYLOR, coverage.Method.RESCALED])
    found = coverage.simulate(design, 60, people=coverage.population(8000), size=size, replicates=40)
    assert found["coverage"].min() > 95 - 400 * math.sqrt(0.05 * 0.95 / 60) - 3
    assert found["se_ratio"].is_between(0.7, 1.5).all()
    assert "| gini |" in coverage.markdown(found, design)


def test_the_share_ratio_of_a_hundred_persons_is_held_about_as_often_as_said(monkeypatch):
    """400 runs: the true coverage is about 92 % (symmetric intervals had 77 %); within 4 standard errors."""
    coverage = study("coverage")
    monkeypatch.setattr(coverage, "METHODS", [coverage.Method.TAYLOR])
    monkeypatch.setattr(coverage, "ROWS", [row for row in coverage.ROWS if "s80s20" in row.indicator.name])
    found = coverage.simulate("simple", 400, people=coverage.population(50_000), size=100)
    assert found["indicator"].to_list() == ["s80s20", "s80s20 split"]
    assert found["coverage"].min() > 92 - 400 * math.sqrt(0.92 * 0.08 / 400)


def test_the_gini_study_shows_the_misspelt_weights(oracles, monkeypatch):
    gini = study("templ_2019_gini")
    monkeypatch.setattr(gini, "FILE", oracles.path("eusilc"))
    page = gini.page(many=20)
    assert "| Burgenland | 31.7461 | 32.0549 |" in page
    assert "weigths" in page


def test_an_unknown_option_is_refused_and_not_ignored():
    data = sdc.demo.survey(n=200, seed=1)
    with pytest.raises(sdc.SdcError, match=r"no option 'variabels'.*variables"):
        sdc.utility.indicators(data, data, variabels="income")
