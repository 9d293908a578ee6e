"""What a notebook shows of data, results, assessments and maps: complete, escaped, no value of a record."""

import polars as pl
import pytest

import sdckit as sdc

NASTY = "<b>sex</b>"
SAFE = "&lt;b&gt;sex&lt;/b&gt;"


@pytest.fixture(scope="module")
def data():
    rows = pl.DataFrame(
        {
            "person": [f"secret{i}" for i in range(40)],
            NASTY: ["woman", "man"] * 20,
            "region": ["north", "south", "east", "west"] * 10,
            "income": [1234.5 + 17 * (i**2 % 31) for i in range(40)],
            "w": [2.25] * 40,
        }
    )
    return sdc.read(rows, id="person", keys=[NASTY, "region"], numeric=["income"], weight="w")


@pytest.fixture(scope="module")
def found(data):
    ways = {"<i>k3</i>": [{"microaggregate": {"k": 3}}], "k9": [{"microaggregate": {"k": 9}}]}
    return sdc.compare(data, ways, risk="record_linkage", utility="il1s")


def test_microdata(data):
    shown = sdc.protect.microaggregate(data, k=3)._repr_html_()
    assert "40 records × 5 columns (polars)" in shown
    assert f"{SAFE}, region" in shown
    assert '<td style="text-align:right">90</td>' in shown, "the sum of weights"
    assert "step 1: microaggregate(" in shown
    assert "values changed" in shown
    for value in ("woman", "north", "secret", "1234"):
        assert value not in shown
    assert NASTY not in shown


def test_microdata_show_their_warnings():
    survey = sdc.demo.survey(n=60, seed=1).with_roles(keys=["region", "sex"])
    protected = sdc.protect.suppress(survey, k=4)
    assert protected.warnings
    assert "Warnings" in protected._repr_html_()


def test_an_engine_sums_the_weights_itself(data, duckdb_connection):
    relation = duckdb_connection.from_arrow(data.frame.to_arrow())
    assert ">90</td>" in sdc.read(relation, keys=["region"], weight="w")._repr_html_()


def test_a_result_has_its_picture_and_short_tables(data):
    shown = sdc.risk.k_anonymity(data, k=3)._repr_html_()
    assert "k_anonymity = " in shown
    assert "k=3" in shown
    assert "<svg" in shown
    assert "violations" in shown
    assert SAFE in shown
    assert NASTY not in shown


def test_a_result_names_tables_of_records_without_their_rows(data):
    shown = sdc.risk.individual_risk(data)._repr_html_()
    assert "parts: 40 rows × person" in shown
    assert "secret" not in shown


def test_a_result_without_a_picture_or_tables():
    shown = sdc.Result(float("nan"), notes=("<i>why</i>",))._repr_html_()
    assert shown == "<div><p><b>result = nan</b></p><ul><li>&lt;i&gt;why&lt;/i&gt;</li></ul></div>"


def test_an_assessment_begins_with_the_verdict(data):
    protected = sdc.protect.microaggregate(data, k=3)
    done = sdc.assess(data, protected, measures=["k_anonymity", "il1s"])
    shown = done._repr_html_()
    places = [
        shown.index(text)
        for text in (
            "released",
            "criterion",
            ">before</th>",
            "k_anonymity</td>",
            ">utility</th>",
            "il1s</td>",
        )
    ]
    assert places == sorted(places)
    assert all(criterion.status.value in shown for criterion in done.verdict)
    assert NASTY not in shown
    assert "secret" not in shown


def test_a_map_shows_every_scenario_and_the_verdict(found):
    shown = found._repr_html_()
    places = [shown.index(text) for text in ("Risk–utility map of 2", "<svg", ">scenario</th>", "criterion")]
    assert places == sorted(places)
    assert "&lt;i&gt;k3&lt;/i&gt;</td>" in shown
    assert "k9</td>" in shown
    assert "<i>k3" not in shown
    assert found.recommendation.replace("<", "&lt;").replace(">", "&gt;") in shown


def test_charts_are_saved_offline(found, data, tmp_path):
    for made in (
        found.save_chart(tmp_path / "map.html"),
        sdc.risk.k_anonymity(data).save_chart(tmp_path / "k.html"),
    ):
        text = made.read_text(encoding="utf-8")
        scripts = [part.split(">")[0] for part in text.split("<script")[1:]]
        assert scripts
        assert not [script for script in scripts if "http" in script or "src" in script]
    assert found.save_chart(tmp_path / "map.svg").stat().st_size
