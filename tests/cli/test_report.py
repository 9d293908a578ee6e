import json

import pytest


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_all_scenarios(run, plan, audience):
    out = plan.with_name("report.html")
    result = run("report", plan, "--out", out, "--audience", audience)
    assert result.exit_code == 0, result.output
    assert "report.html" in result.stdout
    assert "<html" in out.read_text(encoding="utf-8")


def test_one_scenario(run, plan):
    out = plan.with_name("report.html")
    result = run("report", plan, "--scenario", "age5", "--out", out, "--json")
    document = json.loads(result.stdout)
    assert document["scenario"] == "age5"
    assert "age5" in out.read_text(encoding="utf-8")


def test_unknown_scenario(run, plan):
    out = plan.with_name("report.html")
    result = run("report", plan, "--scenario", "age55", "--out", out)
    assert result.exit_code == 1
    assert "has no scenario 'age55'" in result.stderr
    assert not out.exists()


def test_unknown_audience_is_wrong_usage(run, plan):
    assert run("report", plan, "--out", "r.html", "--audience", "friends").exit_code == 2
