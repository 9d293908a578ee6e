"""The axes of the map: titles, texts, and what the public sees of their numbers."""

import polars as pl
import pytest

from sdckit._support.number_text import SPACE
from sdckit.choose.compare import compare
from sdckit.data.microdata import Microdata
from sdckit.methods.registry import find
from sdckit.report import report
from sdckit.report.axis import Axis
from sdckit.report.summarize import summarize


def few_unique() -> Microdata:
    """Two records with keys of their own among a hundred."""
    keys = ["a"] * 60 + ["b"] * 38 + ["c", "d"]
    return Microdata.of(
        pl.DataFrame({"key": keys, "income": [float(i) for i in range(100)]}), keys="key", numeric="income"
    )


STEPS = {"k3": [{"microaggregate": {"k": 3}}], "k9": [{"microaggregate": {"k": 9}}]}


def test_counts_below_five_on_an_axis_are_not_told_to_the_public():
    found = compare(few_unique(), STEPS, risk="k_anonymity.violations", utility="il1s")
    assert found.original.risk == 2
    public, internal = (summarize(found, audience) for audience in ("public", "internal"))
    assert public["map"]["original_risk"] == public["map"]["points"][0]["risk"] == 5
    assert public["map"]["original_text"] == public["map"]["points"][0]["risk_text"] == "<5"
    assert internal["map"]["original_text"] == "2"


def test_extremes_on_an_axis_are_not_shown_to_the_public(tmp_path):
    found = compare(few_unique(), STEPS, risk="individual_risk.highest", utility="il1s", max_risk=1)
    public = summarize(found, "public")
    assert public["map"]["original_risk"] is None
    assert {p["risk"] for p in public["map"]["points"]} == {None}
    assert {p["risk_text"] for p in public["map"]["points"]} == {"not shown"}
    assert "could not be measured" not in str(public["verdict"])
    html = report(found, tmp_path / "r.html", audience="public").read_text("utf-8")
    assert "not shown" in html
    assert 'class="failed"' not in html
    inside = summarize(found)["map"]
    assert inside["original_risk"] == found.original.risk
    assert inside["points"][0]["risk_text"] == "100\N{NO-BREAK SPACE}%"


def test_a_mean_gives_no_small_count_away():
    mean = Axis({"k_anonymity": 1.0, "individual_risk": 1.0})
    assert {str(mean.public(0.25 + n / 200, 100)) for n in range(1, 3)} == {"0.25"}
    hidden = Axis({"individual_risk.highest": 1.0, "individual_risk": 1.0})
    assert hidden.public(0.4, 100) is None
    assert Axis({"il1s": 1.0}).public_title.endswith("brought to 0 to 1")
    assert Axis({"l_diversity": 1.0}).public(0.4, 100) is None  # of the one group that is worst off


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("l_diversity.violating_share", 0.001, f"<1{SPACE}%"),
        ("individual_risk.expected_reidentifications", 0.3, "<5"),
        ("missing_values.new_missing", 2, "<5"),
        ("moments.mean_change", 0.3456, "0.26"),
        ("k_anonymity.violations", 0, "0"),
        ("k_anonymity.violations", 8, "10"),
        ("regression", 0.123, "0.12"),
    ],
)
def test_figures_by_their_kind(name, value, text):
    assert str(Axis({name: 1.0}).public(value, 1000)) == text


def test_an_axis_says_that_a_measure_was_turned_round():
    axis = Axis({"regression": 1.0})
    assert axis.title == "Regression coefficients and their confidence intervals, as a loss from 0 to 1"
    assert axis.text(0.25) == "0.25"
    assert Axis({"l_diversity": 1.0}).title.endswith(", as a risk from 0 to 1")
    assert Axis({"regression.lost": 1.0}).text(0.25) == f"25{SPACE}%"
    assert Axis({"il1s": 1.0}).title.endswith(find("il1s").unit)
