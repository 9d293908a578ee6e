"""Measures as rows of a report: figures and options in the words of the registry."""

import pytest

import sdckit as sdc
from sdckit import protect
from sdckit._support.number_text import SPACE
from sdckit.choose.assess import assess
from sdckit.data.result import Result
from sdckit.demo import survey
from sdckit.methods import registry
from sdckit.methods.registry import find
from sdckit.report import measures as rows
from sdckit.report.file_risks import FileRisks
from sdckit.report.summarize import summarize


@pytest.fixture(scope="module")
def found():
    data = survey(n=600, seed=5)
    made = protect.add_noise(protect.suppress(data, k=2), sd=0.3, rng=1)
    return assess(data, made, regression="income ~ sex + education")


def test_every_figure_is_declared_and_shares_are_within_0_and_1(found):
    results = {**found.after, **found.utility}
    assert len(results) > 25
    for name, result in results.items():
        spec = find(name)
        for figure, value in result.figures.items():
            assert spec.figure(figure).label
            assert not spec.figure(figure).share or 0 <= value <= 1, (name, figure)


def test_units_are_not_mixed_in_a_row():
    linkage = find("record_linkage")
    after = Result(0.27, {"certain": 0.134, "second": 0.268, "by_chance": 0.00033})
    told = rows._figures(linkage, None, after)
    assert [f["after"].replace(SPACE, " ") for f in told] == ["13.4 %", "26.8 %", "0.033 %"]
    assert told[2]["label"] == "Right by guessing"
    assert find("indicators").share
    assert not find("cluster_overlap").share  # a distance of shares
    assert not find("t_closeness").figure("mean_distance").share


def test_options_are_told_by_their_labels_where_they_are_basic_or_not_as_usual():
    usual = {"k": 3, "missing": "wildcard", "missing_weight": 1.0}
    assert rows.option_words(find("k_anonymity"), usual) == "k: 3 records"
    told = rows.option_words(find("k_anonymity"), {**usual, "missing": "category", "missing_weight": 0.5})
    assert "Missing keys: missing is a value of its own" in told
    assert "Weight of a match by a missing value: 0.5" in told


def test_a_measure_of_which_more_is_better_is_reported(found):
    @registry.utility("Smiles kept", bounds=(0, 1), better="high", interpretation="1: all of them.")
    def smiles_kept(original: sdc.Microdata, protected: sdc.Microdata) -> Result:
        return Result(0.75, {"lost": 0.25})

    @registry.risk("Secrets kept", bounds=(0, 1), better="high", share=True)
    def secrets_kept(data: sdc.Microdata) -> Result:
        return Result(0.5)

    try:
        done = assess(found.original, found.protected[0], measures=["smiles_kept", "secrets_kept"])
        content = summarize(done)
        told = {r["name"]: r for s in (*content["utility"], *content["risk"]) for r in s["rows"]}
        assert told["smiles_kept"]["better"] == told["secrets_kept"]["better"] == "higher is better"
        assert told["smiles_kept"]["figures"][0]["label"] == "Lost"
        assert {e["better"] for e in content["glossary"]} == {"high"}
        public = summarize(done, "public")
        assert not [r for s in (*public["utility"], *public["risk"]) for r in s["rows"]]  # not ours
    finally:
        registry.unregister("smiles_kept")
        registry.unregister("secrets_kept")


def test_no_change_in_percent_between_numbers_that_are_practically_0(found):
    def row_of(after, before):
        about = FileRisks.of(found)
        return rows._row(find("individual_risk"), Result(after), Result(before), about, found)

    row = row_of(5e-6, 2e-6)
    assert (row["change"], row["bar"], row["improved"]) == ("both near 0", None, None)
    assert row_of(0.0, 0.0)["change"] == "no change"
    assert row_of(0.2, 0.1)["change"].startswith("+100")
