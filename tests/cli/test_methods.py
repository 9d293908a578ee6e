import json
import re

import pytest
import yaml

from sdckit.choose.scenario import Scenario
from sdckit.cli._example import example
from sdckit.cli._methods import about, default, values
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.methods.form import FormField
from sdckit.methods.registry import find, risk, specs, unregister, utility
from sdckit.methods.spec import Kind


def test_lists_everything_in_the_registry(run):
    result = run("methods")
    assert result.exit_code == 0
    for spec in specs():
        assert spec.name in result.stdout


def test_one_kind_only(run):
    document = json.loads(run("methods", "--kind", "utility", "--json").stdout)
    assert [entry["name"] for entry in document] == [spec.name for spec in specs(Kind.UTILITY)]
    assert "il1s" in run("methods", "--kind", "utility").stdout
    assert "suppress" not in run("methods", "--kind", "utility").stdout


def test_one_of_another_kind_is_not_what_was_asked_for(run):
    result = run("methods", "frequencies", "--kind", "utility")
    assert result.exit_code == 1
    assert "frequencies is a risk, not a utility" in result.stderr
    assert run("methods", "frequencies", "--kind", "risk").exit_code == 0


def test_one_explained(run):
    text = run("methods", "suppress").stdout
    assert "whole number ≥ 2" in text
    assert "the columns with the role keys" in text
    assert "Reference: Samarati" in text


def test_options_have_labels_help_choices_and_rules(run):
    text = " ".join(run("methods", "k_anonymity").stdout.split())
    assert "The smallest number of records" in text
    assert "category: missing is a value of its own" in text
    assert "all keys together" in text
    assert "Records below k if a blank is a value" in text
    assert "Only with replicate_weights." in " ".join(run("methods", "indicators").stdout.split())


def test_required_options_and_interpretations_are_shown(run):
    assert "required" in run("methods", "recode").stdout
    assert "How to read it:" in run("methods", "il1s").stdout


def test_every_method_can_be_explained(run):
    for spec in specs():
        text = run("methods", spec.name).stdout
        assert "\nOptions" in text or "\nNo options" in text
        assert example(spec) in text
        assert not re.search(r">>>|:: |\\\\", text), "no Python, no LaTeX"
        assert json.loads(run("methods", spec.name, "--json").stdout)["name"] == spec.name


def test_the_text_around_formulas_and_examples_is_whole(run):
    text = run("methods", "individual_risk").stdout
    assert "the posterior mean of 1/Fₖ is\n\n    [the formula is on the page" in text
    assert "\n\nwhich for f = 1 is" in text
    assert "Protect only these" not in run("methods", "atypical_records").stdout


def test_every_example_is_a_line_of_a_plan():
    for spec in specs():
        line = yaml.safe_load(example(spec).replace("FILE.csv", "nowhere.csv"))
        if spec.kind is Kind.PROTECTION:
            Scenario("example", line)
            continue
        assert line["assess"].pop(spec.kind.value) == spec.name
        asked = line["assess"].get(spec.name, {})
        assert set(asked) <= set(spec.options.model_fields)
        if "nowhere.csv" not in asked.values():
            spec.validate(asked)


def field(method, option):
    return next(f for f in find(method).form() if f.name == option)


@pytest.mark.parametrize(
    ("name", "option", "words"),
    [
        ("entropy", "variables", "keys and categorical sensitive columns"),
        ("k_anonymity", "subsets", "all keys together"),
        ("k_anonymity", "k", "3"),
        ("k_anonymity", "keys", "the columns with the role keys"),
        ("recode", "variable", "required"),
    ],
)
def test_what_an_option_is_when_it_is_not_given(name, option, words):
    assert default(field(name, option)) == words


def test_unbounded_is_null_in_json(run):
    assert json.loads(run("methods", "il1s", "--json").stdout)["bounds"] == [0, None]


def test_unknown_name_suggests_the_nearest(run):
    result = run("methods", "supress")
    assert result.exit_code == 1
    assert "Did you mean 'suppress'?" in result.stderr


def test_unknown_kind_is_wrong_usage(run):
    assert run("methods", "--kind", "magic").exit_code == 2


@pytest.fixture
def own_measure():
    @risk("Share of left-handed [test]", bounds=(0, 1))
    def left_handed(data: Microdata, *, share: float = 0.1) -> Result:
        """A measure made in a test."""
        return Result(share)

    yield "left_handed"
    unregister("left_handed")


def test_a_new_measure_appears_by_itself(run, own_measure):
    assert own_measure in run("methods").stdout
    text = run("methods", own_measure).stdout
    assert "Share of left-handed [test]" in text
    assert "number" in text


@pytest.fixture
def high_measure():
    @utility("Share of smiles kept", bounds=(0, 1), better="high", interpretation="1: all of them.")
    def smiles_kept(original: Microdata, protected: Microdata) -> Result:
        """A measure made in a test, of which more is better."""
        return Result(0.75, {"lost": 0.25})

    yield "smiles_kept"
    unregister("smiles_kept")


def test_a_measure_of_which_more_is_better(run, high_measure):
    assert high_measure in run("methods").stdout
    assert "Good: high" in run("methods", high_measure).stdout
    assert json.loads(run("methods", high_measure, "--json").stdout)["better"] == "high"


def test_values_and_rules_in_words():
    field = FormField("k", "k", "How many.", "number", False, limits={"above": 0, "most": 1}, unit="share")
    assert values(field) == "number > 0 ≤ 1, share"
    field = FormField("m", "Missing", "", "choice", False, choices={"a": "first", "b": ""}, excludes=("k",))
    assert values(field) == "a: first\nb"
    assert about(field) == "Missing. Not together with k."
    assert default(FormField("x", "X", "", "flag", False, True)) == "yes"
