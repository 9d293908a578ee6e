import json

import pytest

import sdckit as sdc

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
    assert result.exit_code == 0
    assert len(json.loads(result.stdout)["scenarios"]) == 6
    kept = sorted((plan.parent / ".sdckit").iterdir())
    assert len(kept) == 7  # six trials and the original
    again = run("search", plan, "--trials", 6)
    assert again.exit_code == 0
    assert sorted((plan.parent / ".sdckit").iterdir()) == kept
    assert "recommended" in again.stdout


def test_a_plan_without_a_space(run, plan):
    plan.write_text("data: {file: survey.csv, keys: [sex]}")
    result = run("search", plan)
    assert result.exit_code == 1
    assert "no search space" in result.stderr


def test_a_ceiling_that_cannot_be_met(run, plan):
    assert run("search", plan, "--trials", 3, "--max-risk", 0).exit_code == 3
