"""The JSON beside a report: the same audience, plain, and with nothing planted in it."""

import json
import re

import polars as pl
import pytest

import sdckit as sdc
from report.canaries import LARGEST, NAMES, TOWN, canaries
from report.odd_data import QUOTES, SCRIPT, nasty_names
from sdckit.choose.compare import compare
from sdckit.errors import OptionError
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind
from sdckit.report import document, json_beside, report
from sdckit.report.document import VERSION
from sdckit.report.steps import steps

AUDIENCES = ("internal", "public")
NEEDS = {"regression": {"formula": "income ~ sex + town"}, "indicators": {"by": ["town"]}}


def refuse(constant: str) -> None:
    raise AssertionError(constant)


def read(path) -> dict:
    return json.loads(json_beside(path).read_text("utf-8"), parse_constant=refuse)


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Both files of a map's report, for both audiences."""
    folder = tmp_path_factory.mktemp("document")
    steps = {"k3": [{"microaggregate": {"k": 3}}], "k9": [{"microaggregate": {"k": 9}}]}
    found = compare(canaries(), steps, max_risk=0.9, seed=31337, **NEEDS)
    paths = {a: report(found, folder / f"{a}.html", audience=a) for a in AUDIENCES}
    return {a: (p.read_text("utf-8"), json_beside(p).read_text("utf-8")) for a, p in paths.items()}


@pytest.fixture(scope="module")
def documents(texts):
    return {a: json.loads(text, parse_constant=refuse) for a, (_, text) in texts.items()}


@pytest.mark.parametrize("audience", AUDIENCES)
def test_the_shape(documents, audience):
    document = documents[audience]
    assert (document["format"], document["version"]) == ("sdckit report", VERSION)
    assert list(document) == [
        *("format", "version", "audience", "date", "software", "seed", "scenario_file", "verdict", "data"),
        *("prepared", "map", "risk", "utility", "estimates", "by_key", "riskiest", "distributions"),
        *("missing", "steps", "omitted", "glossary"),
    ]
    assert document["audience"] == audience
    assert document["verdict"]["status"] == "bad"  # it has direct identifiers
    names = ["k3", "k9"] if audience == "internal" else ["scenario 1", "scenario 2"]
    assert [s["name"] for s in document["map"]["scenarios"]] == names
    assert {i["name"] for i in document["verdict"]["intruders"]} == {"neighbour", "insider", "register"}
    assert [s["name"] for s in document["risk"]] == ["intruder", "keys", "continuous"]
    measures = {m["name"]: m for s in (*document["risk"], *document["utility"]) for m in s["measures"]}
    assert {"individual_risk", "indicators", "regression"} <= {*measures}
    assert ("il1s" in measures) == (audience == "internal")  # has no upper bound
    entries = {entry["name"] for entry in document["glossary"]}
    assert {*measures} <= entries
    for measure in measures.values():
        assert measure["better"] in ("low", "high")
        assert measure["before"] is None or {*measure["before"]} == {"value", "at_most"}


def test_numbers_are_those_measured(documents):
    data = canaries()
    k9 = sdc.protect.microaggregate(data, k=9)  # in the other file the register finds too many
    document = documents["internal"]
    measures = {m["name"]: m for s in (*document["risk"], *document["utility"]) for m in s["measures"]}
    il1s = sdc.utility.il1s(data, k9).value
    assert measures["il1s"]["after"]["value"] == pytest.approx(il1s, rel=1e-5)
    before = sdc.risk.individual_risk(data).value
    assert measures["individual_risk"]["before"]["value"] == pytest.approx(before, rel=1e-5)
    rows = {r["label"]: r for t in document["estimates"] for r in t["rows"] if r["domain"] == "all records"}
    mean = sdc.utility.indicators(data, k9, indicators="mean").parts["estimate_original"][0]
    assert rows["mean of income"]["estimate_original"] == pytest.approx(mean, rel=1e-3)


@pytest.mark.parametrize("audience", AUDIENCES)
def test_planted_values_are_in_neither_file(texts, audience):
    for text in texts[audience]:
        plain = text.replace(",", "")
        for canary in (*NAMES, str(LARGEST), "987654"):
            assert canary not in plain
        if audience == "public":
            assert TOWN not in text
            assert "31337" not in text


def test_no_value_of_a_record_is_in_either_file(texts):
    """Medians and means of small groups are rounded, so that they are no record's own value."""
    income = canaries().frame["income"]
    values = {f"{v:.2f}" for v in income} | {f"{v:.1f}" for v in income}
    for files in texts.values():
        for text in files:
            found = set(re.findall(r"\d+\.\d{1,2}(?!\d)", text.replace(",", "")))
            assert not {v for v in found & values if len(v) > 6}


def test_the_public_sees_only_how_many_estimates_got_which_verdict(documents):
    public = {t["measure"]: t for t in documents["public"]["estimates"]}
    internal = {t["measure"]: t for t in documents["internal"]["estimates"]}
    assert {*public} == {*internal} == {"indicators", "regression"}
    assert public["regression"]["rows"] == public["indicators"]["rows"] == []
    assert public["regression"]["verdicts"] == internal["regression"]["verdicts"]
    assert any(row["domain"] == TOWN or "town" in row["label"] for row in internal["regression"]["rows"])


def test_the_public_sees_no_settings_and_no_riskiest(documents):
    public, internal = documents["public"], documents["internal"]
    assert internal["seed"] == 31337
    assert "microaggregate" in internal["scenario_file"]
    assert internal["riskiest"]["rows"]
    assert internal["by_key"]
    assert public["seed"] is public["scenario_file"] is public["riskiest"] is None
    assert public["by_key"] == []
    for section in (*public["risk"], *public["utility"]):
        assert all(m["figures"] == m["notes"] == [] for m in section["measures"])
        assert all(m["options"] == {} for m in section["measures"])


def floats(value) -> list[float]:
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return [f for part in parts for f in floats(part)]
    return [value] if isinstance(value, float) else []


def test_the_public_gets_no_more_figures_than_the_page_shows(documents):
    public, internal = (floats(documents[a]) for a in ("public", "internal"))
    assert public
    assert all(v == float(f"{v:.3g}") or (abs(v) >= 1000 and v == round(v)) for v in public)
    assert all(v == float(f"{v:.6g}") for v in internal)
    assert any(v != float(f"{v:.3g}") for v in internal)


def test_few_records_are_an_upper_limit_for_the_public(tmp_path):
    keys = ["a"] * 60 + ["b"] * 38 + ["c", "d"]
    data = sdc.read(pl.DataFrame({"key": keys}), keys="key")
    done = sdc.assess(data, data, measures=["frequencies"])
    for audience, told in (
        ("internal", {"value": 0.02, "at_most": False}),
        ("public", {"value": 0.05, "at_most": True}),
    ):
        document = read(report(done, tmp_path / "r.html", audience=audience))
        assert document["risk"][0]["measures"][0]["before"] == told


def test_names_stay_as_they_are(tmp_path):
    data = nasty_names()
    document = read(report(sdc.assess(data, data, measures=["il1s"]), tmp_path / "r.html"))
    assert {SCRIPT, QUOTES} <= {v["name"] for v in document["data"]["variables"]}


def test_it_can_be_left_out_and_takes_the_place_of_no_html(tmp_path):
    data = nasty_names()
    done = sdc.assess(data, data, measures=["il1s"])
    report(done, tmp_path / "r.html", json=False)
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]
    with pytest.raises(OptionError, match="HTML file"):
        report(done, tmp_path / "r.json")


def test_both_files_appear_or_none(tmp_path, monkeypatch):
    data = nasty_names()
    done = sdc.assess(data, data, measures=["il1s"])
    for name in ("r.html", "r.json"):
        (tmp_path / name).write_text("old")
    monkeypatch.setattr(document, "to_json", lambda content: "\ud800")  # cannot be written
    with pytest.raises(UnicodeEncodeError):
        report(done, tmp_path / "r.html")
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"r.html": "old", "r.json": "old"}


def test_a_report_names_no_method_as_code_has_it(texts):
    for audience, (html, _) in texts.items():
        page = html.partition("<h3>Plan</h3>")[0] + html.rpartition("</pre>")[2]
        named = [s.name for kind in Kind for s in specs(kind) if f">{s.name}</code>" in page]
        assert (audience, named) == (audience, [])


def test_options_that_mean_nothing_beside_the_others_are_not_in_the_steps():
    """Trees promise no differential privacy, and have no δ."""
    data = sdc.demo.survey(n=200, seed=1)
    made = sdc.protect.synthesize(data, rng=1)
    labels = {pair["label"] for pair in steps(data, made)[0]["options"]}
    assert {"Donors in a leaf", "Least gain"} <= labels
    assert not {"δ (delta)", "Unit of protection", "Number of records"} & labels
