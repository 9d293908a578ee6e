import json

import pytest

import sdckit as sdc
from cli.codes import RAN

PLAN = """
data: {file: survey.csv, keys: [sex, age], numeric: [expenditure]}
search:
- recode: {variable: age, width: {choices: [1, 10, 20]}}
- microaggregate: {k: {range: [2, 20]}}
assess: {utility: [il1s, entropy_loss.share]}
"""


@pytest.fixture
def plan(tmp_path):
    sdc.write(sdc.demo.survey(n=200, seed=1), tmp_path / "survey.csv")
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def test_search_shows_the_front_and_keeps_its_trials(run, plan):
    result = run("search", plan, "--trials", 6, "--json")
    assert result.exit_code in RAN
    assert len(json.loads(result.stdout)["scenarios"]) == 6
    kept = sorted((plan.parent / ".sdckit").iterdir())
    assert len(kept) == 7  # six trials and the original
    again = run("search", plan, "--trials", 6)
    assert again.exit_code in RAN
    assert sorted((plan.parent / ".sdckit").iterdir()) == kept
    assert "★ loses least" in again.stdout


def test_a_plan_without_a_space(run, plan):
    plan.write_text("data: {file: survey.csv, keys: [sex]}")
    result = run("search", plan)
    assert result.exit_code == 1
    assert "no search space" in result.stderr


def test_a_ceiling_that_cannot_be_met(run, plan):
    assert run("search", plan, "--trials", 3, "--max-risk", 0).exit_code == 3


def test_the_recommended_trial_is_shown_in_words_and_as_yaml(run, plan):
    found = json.loads(run("search", plan, "--trials", 6, "--json").stdout)
    best = next(s for s in found["scenarios"] if s["name"] == found["best"])
    shown = run("search", plan, "--trials", 6).stdout
    width, k = best["steps"][0]["recode"]["width"], best["steps"][1]["microaggregate"]["k"]
    assert f"1. Recode a number or a date (recode), with variable=age, width={width}" in shown
    assert f"  {best['name']}:\n  - recode: {{variable: age, width: {width}}}\n" in shown
    assert f"  - microaggregate: {{k: {k}}}" in shown


def test_the_best_can_be_saved_as_a_plan_and_carried_out(run, plan):
    (plan.parent / "chosen").mkdir()
    saved, out = plan.parent / "chosen" / "best.yaml", plan.parent / "out.csv"
    words = ("search", plan, "--trials", 6, "--max-risk", "30%", "--seed", 3, "--save", saved)
    searched = run(*words)
    assert searched.exit_code in RAN
    found = json.loads(run("search", plan, *words[2:-2], "--json").stdout)
    written = sdc.Plan.load(saved)
    assert written.scenarios[0].name == found["best"]
    assert {s.name for s in written.scenarios} == {s["name"] for s in found["scenarios"] if s["on_front"]}
    assert (written.seed, written.assess["max_risk"]) == (3, 0.3)
    assert f'sdckit protect {saved} --scenario "{found["best"]}"' in searched.stderr
    assert run("protect", saved, "--scenario", found["best"], "--out", out).exit_code == 0
    again = json.loads(run("compare", saved, "--json").stdout)
    assert (again["best"], again["reason"]) == (found["best"], found["reason"])


def test_a_saved_plan_is_not_replaced_unasked(run, plan):
    saved = plan.parent / "chosen.yaml"
    saved.write_text("mine")
    assert "--force" in run("search", plan, "--trials", 2, "--save", saved).stderr
    assert run("search", plan, "--trials", 2, "--save", plan, "--force").exit_code == 1
    assert saved.read_text() == "mine"
    assert run("search", plan, "--trials", 2, "--save", saved, "--force").exit_code in RAN
    assert saved.read_text().startswith("# Found by sdckit search in plan.yaml.")


@pytest.mark.parametrize("words", [("protect", "--out", "x.csv"), ("compare",)])
def test_a_plan_with_a_space_alone_is_searched_first(run, plan, words):
    result = run(words[0], plan, *words[1:])
    assert result.exit_code == 1
    assert "sdckit search PLAN.yaml --save CHOSEN.yaml" in result.stderr


def test_the_help_has_an_example_of_a_space(run):
    shown = " ".join(run("search", "--help").stdout.replace("│", " ").split())
    assert "- recode: {variable: age, width: {choices: [5, 10, 20]}}" in shown


def test_a_saved_plan_in_a_linked_folder_finds_the_data(run, plan):
    folder = plan.parent / "far" / "away"
    folder.mkdir(parents=True)
    (plan.parent / "a link").symlink_to(folder)
    saved = plan.parent / "a link" / "chosen.yaml"
    result = run("search", plan, "--trials", 2, "--save", saved)
    assert result.exit_code in RAN, result.output
    assert sdc.Plan.load(saved).data["file"] == "../../survey.csv"
    assert sdc.Plan.load(saved).read().height == 200
    assert f"sdckit protect '{saved}' --scenario" in result.stderr


def test_what_was_found_is_shown_before_it_is_saved(run, plan, monkeypatch):
    monkeypatch.setenv("HOME", str(plan.parent))
    monkeypatch.setenv("USERPROFILE", str(plan.parent))
    assert run("search", plan, "--trials", 2, "--max-risk", 0, "--save=~/home.yaml").exit_code == 3
    assert sdc.Plan.load(plan.with_name("home.yaml")).scenarios

    def full(text, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sdckit._support.files.write_text", full)
    result = run("search", plan, "--trials", 2, "--save", plan.with_name("chosen.yaml"))
    assert result.exit_code == 1
    assert "★ loses least" in result.stdout
    assert "No space left" in result.stderr


def test_a_saved_plan_keeps_the_intruders(run, plan):
    saved = plan.parent / "chosen.yaml"
    plan.write_text(PLAN + "intruders:\n  colleague: {knows: [keys, {expenditure: 20%}], max_risk: 30%}\n")
    run("search", plan, "--trials", 2, "--save", saved)
    assert sdc.Plan.load(saved).intruders == sdc.Plan.load(plan).intruders != ()


def test_search_on_duckdb(run, plan):
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    plan.write_text(
        PLAN.replace("keys:", "id: person_id, keys:").replace(
            "utility: [il1s, entropy_loss.share]", "utility: il1s"
        )
    )
    chosen = plan.with_name("chosen.yaml")
    result = run("search", plan, "--trials", 2, "--engine", "duckdb", "--save", chosen)
    assert result.exit_code in RAN, result.output
    assert "with engine: duckdb the data are not in memory" in result.stderr
    assert "engine: duckdb" in chosen.read_text()
