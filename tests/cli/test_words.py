"""Messages of the library in the language of plans."""

import re

import pytest

import sdckit as sdc
from cli.codes import RAN
from sdckit.io import write

PYTHON = re.compile(r"\w=(True|False|\[|\{|…)|data\.\w|\{'\w+':")


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
    assert "Without keep_direct under data: in the plan" in words


def test_an_engine_that_a_step_cannot_use(sent, tmp_path):
    words = sent(
        "protect",
        *("--scenario", "age20_income", "--out", tmp_path / "out.csv"),
        engine=("file: survey.csv", "file: survey.csv, engine: duckdb"),
        step=("microaggregate: {variables: [income], k: 3}", "shift_dates: {days: 5}"),
    )
    assert "Without engine under data: in the plan" in words


def test_reasons_of_measures_left_out(run, plan, tmp_path):
    data = sdc.demo.survey(n=200, seed=1)
    protected = write(data, tmp_path / "protected.csv")
    shown = run("assess", plan.parent / "survey.csv", protected, "--plan", plan).stdout
    words = " ".join(shown.split())
    assert "closest_record: is about synthetic files: say so (linked: false)" in words
    assert "assess: {regression: {formula: …}}" in words
    assert not PYTHON.search(words)


def test_a_plan_can_say_that_files_are_not_linked(run, plan):
    plan.write_text(plan.read_text().replace("assess: {", "assess: {linked: false, "), encoding="utf-8")
    file = plan.parent / "survey.csv"
    shown = run("assess", file, file, "--plan", plan, "--measures", "il1s").stdout
    assert "the records are not the same people" in " ".join(shown.split())
    assert run("compare", plan).exit_code in RAN


def test_a_step_without_an_option_it_needs(sent):
    words = sent("compare", width=("recode: {variable: age, width: 5}", "recode: {width: 5}"))
    assert "In the plan: - recode: {variable: …}" in words
