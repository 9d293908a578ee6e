"""What the public sees of the numbers on the axes of the map."""

import polars as pl
import pytest

from sdckit._support.number_text import SPACE
from sdckit.choose.compare import compare
from sdckit.choose.quantity import Quantity
from sdckit.data.microdata import Microdata
from sdckit.methods.registry import find
from sdckit.report import report, summarize
from sdckit.report.axis import Axis
from sdckit.report.disclosure import FEW, counts_records, drawable, drawable_quantity, measured


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
    assert public["map"]["original_risk"] == public["map"]["points"][0]["risk"] == FEW
    assert public["map"]["original_text"] == public["map"]["points"][0]["risk_text"] == "<5"
    assert [row["after"] for row in public["map"]["figures"]] == ["<5"]
    assert internal["map"]["original_text"] == internal["map"]["figures"][0]["after"] == "2"


def test_extremes_on_an_axis_are_not_shown_to_the_public(tmp_path):
    found = compare(few_unique(), STEPS, risk="individual_risk.highest", utility="il1s", max_risk=1)
    public = summarize(found, "public")
    assert public["map"]["original_risk"] is None
    assert {p["risk"] for p in public["map"]["points"]} == {None}
    assert {p["risk_text"] for p in public["map"]["points"]} == {"not shown"}
    assert [row["after"] for row in public["map"]["figures"]] == ["not shown"]
    assert "could not be measured" not in str(public["verdict"])
    html = report(found, tmp_path / "r.html", audience="public").read_text("utf-8")
    assert "not shown" in html
    assert 'class="failed"' not in html
    inside = summarize(found)["map"]
    assert inside["original_risk"] == found.original.risk
    assert inside["points"][0]["risk_text"] == "100\N{NO-BREAK SPACE}%"


def test_a_mean_gives_no_small_count_away():
    shares = {"k_anonymity.violations": 1.0, "individual_risk": 1.0}
    parts = [{"k_anonymity.violations": float(n), "individual_risk": 0.5} for n in range(1, FEW)]
    values = [0.5 * p["k_anonymity.violations"] / (1 + p["k_anonymity.violations"]) + 0.25 for p in parts]
    public, internal = (Axis(shares, 100, p) for p in (True, False))
    assert len({public.value(v, p) for v, p in zip(values, parts, strict=True)}) == 1
    assert public.text(values[0], parts[0]).startswith("<")
    assert internal.value(values[0], parts[0]) == values[0]
    hidden = Axis({"individual_risk.highest": 1.0, "individual_risk": 1.0}, 100, True)
    assert hidden.value(0.4, {"individual_risk.highest": 0.7, "individual_risk": 0.1}) is None


def test_figures_by_their_kind():
    def shown(name, value):
        return drawable_quantity(Quantity.named(name), value, 1000, public=True)

    assert shown("l_diversity.violating_share", 0.001) == FEW / 1000
    assert shown("individual_risk.expected_reidentifications", 0.3) == FEW
    assert shown("missing_values.new_missing", 2) == FEW
    assert shown("moments.mean_change", 0.3) == 0.3
    assert shown("k_anonymity.violations", 0) == 0
    assert shown("k_anonymity.violations", 7) == 7


@pytest.mark.parametrize("name", ["population_uniques", "identification_risk"])
def test_measures_that_count_records_show_no_few(name):
    spec = find(name)
    assert counts_records(spec)
    assert {measured(spec, n, 1000, public=True) for n in (0.5, 1, 4.9)} == {"<5"}
    assert {drawable(spec, n, 1000, public=True) for n in (0.5, 1, 4.9)} == {FEW}
    assert measured(spec, 0, 1000, public=True) == "0"
    assert measured(spec, 12, 1000, public=True) == "12"
    assert measured(spec, 2, 1000, public=False) == "2"
    assert measured(spec, float("nan"), 1000, public=True) == "–"
    assert measured(find("contingency_tables"), 2, 1000, public=True) == "2"  # a mean over cells


def test_an_axis_says_that_a_measure_was_turned_round():
    axis = Axis({"regression": 1.0}, 100, False)
    assert axis.title == "Regression coefficients and their confidence intervals, as a loss from 0 to 1"
    assert axis.text(0.25, {"regression": 0.75}) == "0.25"
    assert Axis({"l_diversity": 1.0}, 100, False).title.endswith(", as a risk from 0 to 1")
    assert Axis({"regression.lost": 1.0}, 100, False).text(0.25, {"regression.lost": 0.25}) == f"25{SPACE}%"
    assert Axis({"il1s": 1.0}, 100, False).title.endswith(find("il1s").unit)
