"""One variable as it was: out of the steps that name it, the others untouched."""

import pytest

from sdckit.choose.scenario import Step
from sdckit.errors import OptionError
from sdckit.web.document import Document
from sdckit.web.reset import without_variable


def document(*steps):
    made = Document()
    for step in steps:
        made = made.with_step("A", step)
    return made


def left(made, column):
    return [step.as_dict() for step in without_variable(made, "A", column).scenario("A").steps]


def test_a_step_about_the_variable_goes_and_lists_keep_the_others():
    noted = Step("add_noise", variables=["income", "age"], sd=0.1).with_note("why")
    made = document(Step("recode", variable="age", width=5), noted, Step("shuffle_order"))
    assert left(made, "age") == [
        {"add_noise": {"variables": ["income"], "sd": 0.1}, "note": "why"},
        {"shuffle_order": {}},
    ]
    assert left(made, "income")[1] == {"add_noise": {"variables": ["age"], "sd": 0.1}, "note": "why"}


def test_strata_are_not_what_a_step_is_about():
    made = document(Step("microaggregate", variables=["income"], by=["region"]))
    assert left(made, "region") == [{"microaggregate": {"variables": ["income"]}}]
    assert left(made, "income") == []


def test_the_only_key_of_a_suppression_does_not_become_all_keys():
    assert left(document(Step("suppress", k=3, keys=["age"], seed=1)), "age") == []


def test_a_variable_that_no_step_names_is_said():
    with pytest.raises(OptionError, match="No step names") as told:
        without_variable(document(Step("suppress", k=3, seed=1)), "A", "age")
    assert "Local suppression" in told.value.hint
