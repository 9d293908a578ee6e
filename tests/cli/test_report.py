import json

import pytest


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_all_scenarios(run, plan, audience):
    out = plan.with_name("report.html")
    result = run("report", plan, "--out", out, "--audience", audience)
    assert result.exit_code == 0, result.output
    assert "report.html" in result.stdout
    assert "report.json" in result.stdout
    assert "<html" in out.read_text(encoding="utf-8")
    document = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    assert document["audience"] == audience
    assert [s["name"] for s in document["map"]["scenarios"]] == ["age5", "age20_income"]


def test_one_scenario(run, plan):
    out = plan.with_name("report.html")
    result = run("report", plan, "--scenario", "age5", "--out", out, "--json")
    document = json.loads(result.stdout)
    assert document["scenario"] == "age5"
    assert {*document["files"].values()} == {str(out), str(out.with_suffix(".json"))}
    assert "seconds" not in document
    assert "age5" in out.read_text(encoding="utf-8")


def test_timings_of_measures_or_scenarios(run, plan):
    out = plan.with_name("report.html")
    one = run("report", plan, "--scenario", "age5", "--out", out, "--timings", "--json")
    assert "individual_risk" in json.loads(one.stdout)["seconds"]
    several = run("report", plan, "--out", out, "--timings", "--force")
    assert "Slowest of 2 scenarios" in several.stdout
    assert "age20_income" in several.stdout


def test_unknown_scenario(run, plan):
    out = plan.with_name("report.html")
    result = run("report", plan, "--scenario", "age55", "--out", out)
    assert result.exit_code == 1
    assert "has no scenario 'age55'" in result.stderr
    assert not out.exists()


def test_unknown_audience_is_wrong_usage(run, plan):
    assert run("report", plan, "--out", "r.html", "--audience", "friends").exit_code == 2
