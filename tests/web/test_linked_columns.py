"""Columns that follow a key: beside the roles, and in the steps that suppress."""

import pytest

from sdckit.choose.plan import Plan
from sdckit.choose.scenario import Step
from sdckit.errors import SdcError
from sdckit.web.changes import CHANGES
from sdckit.web.document import Document
from sdckit.web.linked_columns import with_linked, with_links_left

COLUMNS = {"region", "town", "zip", "sex"}
ROLES = {"region": ("keys",), "sex": ("keys",)}


def options(document, scenario="A", at=0):
    return dict(document.steps_of(scenario)[at].step.options)


def changed(document, action, **asked):
    return CHANGES[action](document, COLUMNS, asked)[1]


def test_every_suppression_follows_and_other_steps_do_not():
    document = Document(roles=ROLES, seed=1).with_step("A", Step("shuffle_order"))
    document = document.with_step("A", Step("suppress", k=3).with_note("why"))
    document = document.with_scenario("B", "A").with_step("B", Step("suppress", k=2, keys=["sex"]))
    linked = changed(document, "linked", linked={"region": ["town", "zip", "town"], "sex": []})
    assert linked.linked == {"region": ("town", "zip")}
    assert options(linked, "A", 0) == {}
    assert options(linked, "A", 1) == {"k": 3, "linked": {"region": ["town", "zip"]}}
    assert linked.steps_of("A")[1].step.note == "why"
    assert options(linked, "B", 1)["linked"] == {"region": ["town", "zip"]}
    assert "linked" not in options(linked, "B", 2)  # region is none of its keys
    assert changed(linked, "linked", linked={}).scenarios == document.scenarios


def test_a_plan_keeps_it_and_brings_it_back(tmp_path):
    document = Document(source={"file": "people.csv"}, roles=ROLES, seed=1)
    document = document.with_step("A", Step("suppress", k=3, seed=5))
    document = changed(document, "linked", linked={"region": ["town"]})
    path = tmp_path / "plan.yaml"
    document.plan(tmp_path).save(path)
    assert Document.of_plan(Plan.load(path)).linked == {"region": ("town",)}
    assert Document.of_dict(document.as_dict()) == document
    assert Document.of_dict({n: v for n, v in document.as_dict().items() if n != "linked"}).linked == {}


def test_what_is_no_key_any_more_is_not_followed_and_a_new_key_follows_none():
    document = Document(roles=ROLES, seed=1).with_step("A", Step("suppress", k=3))
    document = changed(document, "linked", linked={"region": ["town", "zip"]})
    follower = changed(document, "roles", roles={"town": "keys"})
    assert follower.linked == {"region": ("zip",)}
    assert options(follower)["linked"] == {"region": ["zip"]}
    key = changed(document, "roles", roles={"region": None})
    assert key.linked == {}
    assert "linked" not in options(key)
    assert changed(document, "roles", roles={"zip": "sensitive"}).linked == document.linked


def test_what_a_step_says_is_shown_beside_the_roles():
    document = Document(roles=ROLES, seed=1)
    asked = {"scenario": "A", "method": "suppress", "options": {"k": 3, "linked": {"region": ["zip"]}}}
    added = changed(document, "add_step", **asked)
    assert added.linked == {"region": ("zip",)}
    asked["options"] = {"k": 3, "linked": {"region": ["town"]}}
    assert changed(added, "change_step", at=0, **asked).linked == {"region": ("town",)}


@pytest.mark.parametrize("linked", [{"town": ["zip"]}, {"region": ["sex"]}, {"region": ["nowhere"]}])
def test_what_cannot_follow_is_refused(linked):
    with pytest.raises(SdcError):
        with_linked(Document(roles=ROLES), linked, COLUMNS)


def test_a_column_that_the_file_lacks_follows_in_no_step():
    document = Document(roles=ROLES, seed=1).with_step("A", Step("suppress", k=3))
    document = with_linked(document, {"region": ["town", "zip"]}, COLUMNS)
    left = with_links_left(document, COLUMNS - {"town"})
    assert left.linked == {"region": ("zip",)}
    assert options(left)["linked"] == {"region": ["zip"]}
