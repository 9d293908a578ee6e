import json
import re

import pytest
import yaml

from sdckit.choose.scenario import Scenario
from sdckit.cli._example import example
from sdckit.cli._methods import NOT_GIVEN, default, kind
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.methods.registry import find, risk, specs, unregister
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
    assert "integer ≥ 2" in text
    assert "the keys columns" in text
    assert "Reference: Samarati" in text
    assert "low | normal | high | never" in text


def test_required_options_and_readings_are_shown(run):
    assert "required" in run("methods", "recode").stdout
    assert "Reading:" in run("methods", "il1s").stdout


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


@pytest.mark.parametrize(
    ("name", "option", "words"),
    [
        ("entropy", "variables", "keys and categorical sensitive columns"),
        ("missing_values", "variables", "keys, numeric and sensitive columns"),
        ("contingency_tables", "tables", "all pairs of keys"),
        ("indicators", "variables", "the numeric columns"),
        ("suppress", "k", "3"),
        ("suppress", "keys", "the keys columns"),
        ("recode", "variable", "required"),
    ],
)
def test_what_an_option_is_when_it_is_not_given(name, option, words):
    assert default(option, find(name)) == words


def test_no_option_that_names_columns_is_none_by_default():
    for spec in specs():
        for name in spec.options.model_fields:
            assert name != "variables" or default(name, spec) != "none"
    for name in NOT_GIVEN:
        method, _, option = name.rpartition(".")
        assert not method or option in find(method).options.model_fields


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


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}, "integer ≥ 1"),
        ({"type": "array", "items": {"type": "number"}, "minItems": 1}, "list of number at least 1 of them"),
        ({"$ref": "#/$defs/M"}, "a | b"),
        ({"const": "a"}, "a"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "name → string"),
        ({"type": "string", "format": "column"}, "column"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 1}, "number > 0 ≤ 1"),
    ],
)
def test_types_in_words(part, words):
    assert kind(part, {"$defs": {"M": {"enum": ["a", "b"], "type": "string"}}}) == words
