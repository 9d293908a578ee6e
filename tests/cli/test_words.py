"""Messages of the library in the language of plans."""

import re

import pytest

import sdckit as sdc
from cli.codes import RAN
from sdckit.cli._words import for_plans
from sdckit.io import write

PYTHON = re.compile(r"\w=(True|False|\[|\{|…)|data\.\w|'\w+':")


@pytest.mark.parametrize(
    ("python", "words"),
    [
        ("Give variables=[…].", "Give variables: […]."),
        ("Give radius={'age': …} or relative_radius.", "Give radius: {age: …} or relative_radius."),
        ("say max_risk=0.25.", "say max_risk: 0.25."),
        ("(direct=)", "(direct: under data: in a plan, or --direct)"),
        ("jobs=1, or put", "--jobs 1, or put"),
        ("recode needs the option 'a'.", "recode needs the option 'a'. In the plan: - recode: {a: …}"),
        ("mine needs the option 'x'.", "mine needs the option 'x'."),
        ("There is no column 'a=b'.", "There is no column 'a=b'."),
    ],
)
def test_python_becomes_yaml(python, words):
    assert for_plans(python) == words


@pytest.fixture
def sent(run, plan):
    """A command that fails, with entries of the plan replaced; its words."""

    def asked(*words, **replaced):
        text = plan.read_text(encoding="utf-8")
        for old, new in replaced.values():
            assert old in text
            text = text.replace(old, new)
        plan.write_text(text, encoding="utf-8")
        result = run(words[0], plan, *words[1:])
        assert result.exit_code == 1
        assert not PYTHON.search(result.stderr)
        return " ".join(result.stderr.split())

    return asked


def test_a_measure_that_must_be_told_something(sent):
    words = sent("compare", utility=("[il1s, missing_values]", "regression"))
    assert "assess: {regression: {formula: …}}" in words


def test_direct_identifiers_that_the_plan_keeps(sent, tmp_path):
    words = sent(
        "protect",
        *("--scenario", "age5", "--out", tmp_path / "out.csv"),
        kept=("id: person_id", "direct: [person_id], keep_direct: true"),
    )
    assert "Take keep_direct out of the plan's data section" in words


def test_an_engine_that_a_step_cannot_use(sent, tmp_path):
    words = sent(
        "protect",
        *("--scenario", "age20_income", "--out", tmp_path / "out.csv"),
        engine=("file: survey.csv", "file: survey.csv, engine: duckdb"),
    )
    assert "Take engine out of the plan's data section" in words


def test_reasons_of_measures_left_out(run, plan, tmp_path):
    data = sdc.demo.survey(n=200, seed=1)
    protected = write(data, tmp_path / "protected.csv")
    shown = run("assess", plan.parent / "survey.csv", protected, "--plan", plan).stdout
    words = " ".join(shown.split())
    assert "closest_record: is about synthetic files: say so with assess: {linked: false} in a plan" in words
    assert "assess: {regression: {formula: …}}" in words
    assert not PYTHON.search(words)


def test_a_plan_can_say_that_files_are_not_linked(run, plan):
    plan.write_text(plan.read_text().replace("assess: {", "assess: {linked: false, "), encoding="utf-8")
    file = plan.parent / "survey.csv"
    shown = run("assess", file, file, "--plan", plan, "--measures", "il1s").stdout
    assert "the records are not the same people" in " ".join(shown.split())
    assert run("compare", plan).exit_code in RAN


@pytest.mark.parametrize("name", ["/tmp/x/run_k=5.csv", "run_k=5.csv", "/data/k=5/part.csv", "my-jobs=1.csv"])
def test_names_of_files_stay_as_they_are(name):
    text = f"There is no such file. Given: {name}."
    assert for_plans(text) == text
