import json

import pytest
from typer.testing import CliRunner

import sdckit.cli
from cli.codes import RAN
from cli.conftest import PLAN


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
    names = {"internal": ["age5", "age20_income"], "public": ["scenario 1", "scenario 2"]}
    assert [s["name"] for s in document["map"]["scenarios"]] == names[audience]


@pytest.fixture(scope="module")
def saved(tmp_path_factory, survey_csv):
    """Results of a comparison, without its plan and data, and what was said of them."""
    folder = tmp_path_factory.mktemp("saved")
    plan, data, results = (folder / name for name in ("plan.yaml", "survey.csv", "results.json"))
    plan.write_text(PLAN, encoding="utf-8")
    data.write_bytes(survey_csv.read_bytes())
    result = CliRunner().invoke(sdckit.cli.app, ["compare", str(plan), "--save", str(results)])
    plan.unlink()
    data.unlink()
    return results, result


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize("audience", ["internal", "public"])
def test_a_report_of_saved_results(run, saved, tmp_path, audience):
    (results, told), out = saved, tmp_path / "report.html"
    assert told.exit_code in RAN, told.output
    assert f"Wrote {results}, for internal use" in told.stderr
    result = run("report", results, "--out", out, "--audience", audience)  # nothing is measured again
    assert result.exit_code == 0, result.output
    document = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    assert document["audience"] == audience
    assert (document["seed"] == 7) == (audience == "internal")


@pytest.mark.usefixtures("no_pictures")
def test_results_of_an_assessment(run, plan, tmp_path):
    data, results = plan.with_name("survey.csv"), tmp_path / "r.json"
    words = ("assess", data, data, "--plan", plan, "--measures", "frequencies,il1s", "--save", results)
    assert run(*words).exit_code in RAN
    assert "exists already" in run(*words).stderr
    assert "ends in .json" in run(*words[:-1], tmp_path / "r.txt").stderr
    assert (
        run("report", results, "--out", tmp_path / "r.html").exit_code == 1
    )  # its JSON would be the results
    assert run("report", results, "--out", tmp_path / "other.html").exit_code == 0
    assert "as they are" in run("report", results, "--out", tmp_path / "n.html", "--seed", 3).stderr
    alone = run("assess", data, "--keys", "sex", "--save", tmp_path / "n.json")
    assert "A report compares two files" in alone.stderr


@pytest.mark.usefixtures("no_pictures")
def test_one_scenario(run, plan):
    out = plan.with_name("report.html")
    result = run("report", plan, "--scenario", "age5", "--out", out, "--json")
    document = json.loads(result.stdout)
    assert document["scenario"] == "age5"
    assert {*document["files"].values()} == {str(out), str(out.with_suffix(".json"))}
    assert "seconds" not in document
    assert "age5" in out.read_text(encoding="utf-8")


@pytest.mark.usefixtures("no_pictures")
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
