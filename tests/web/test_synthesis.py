"""Synthetic files on the page: every option can be given, and what is not judged is said."""

import pytest

from sdckit.methods.registry import find

RULES = [{"when": "age < 15", "then": {"income": None}}]


def add(page, **options):
    page.change("add_scenario", name="synthetic")
    answer = page.change("add_step", scenario="synthetic", method="synthesize", options=options)
    assert answer.status_code == 200, answer.text
    state = page.wait()
    page.change("drop_scenario", name="synthetic")
    page.wait()
    found = state["results"]["synthetic"]
    assert "error" not in found, found
    return state, found


@pytest.fixture(scope="module")
def made(opened):
    options = {"rules": RULES, "require": ["age < 120 OR age IN (130, 140)"], "by": ["sex"], "leaf": 8}
    return add(opened, **options, predictors={"income": ["age", "sex"]}, spikes={"income": [0]})


def test_no_record_is_that_of_a_person_and_the_panel_says_so(made):
    _, found = made
    assert found["new_records"] is True
    assert "no link" in found["risk"]["reidentification_risk"]["after"]["notes"][0]


def test_what_is_not_judged_is_in_the_headline(made):
    _, found = made
    verdict = found["verdict"]
    open_questions = [c for c in verdict["criteria"] if c["status"] == "not judged"]
    assert verdict["status"] != "releasable"
    assert open_questions
    assert f"{len(open_questions)} criteri" in verdict["headline"]


def test_losses_are_those_of_files_without_linked_records(made):
    _, found = made
    assert {"table_pmse", "contingency_loss", "distribution_distance"} <= set(found["utility"])
    assert found["utility"]["table_pmse"]["value"] > 0
    assert not {"records_changed", "il1s"} & set(found["utility"])


def test_the_rules_of_the_form_hold_in_the_file(made, opened):
    _, found = made
    shown = opened.get("/api/rows", file=found["rows"], n=500).json()
    age, income = shown["columns"].index("age"), shown["columns"].index("income")
    young = [row for row in shown["rows"] if int(row[age]) < 15]
    assert young
    assert all(row[income] is None for row in young)
    assert {int(row[age]) < 120 for row in shown["rows"]} == {True}


def test_marginals_with_epsilon_run_and_name_their_promise(opened):
    bounds = {"age": [0, 100], "income": [0, 200_000]}
    options = {"method": "marginals", "epsilon": 2, "bounds": bounds, "values": {"urban": [1, 2]}}
    opened.change("roles", roles={"weight": None})  # of a sum of weights nothing can be promised
    _, found = add(opened, **options, variables=["age", "income", "sex", "urban"])
    opened.change("roles", roles={"weight": ["weight"]})
    assert set(found["columns"]) == {"person_id", "sex", "age", "income", "urban"}
    assert found["new_records"] is True
    released = opened.wait()["results"]["A"]
    assert "error" not in released


def test_an_option_of_the_other_method_is_refused_in_words(opened):
    options = {"method": "marginals", "epsilon": 1, "leaf": 9}
    answer = opened.change("add_step", scenario="A", method="synthesize", options=options)
    assert answer.status_code == 400
    assert "'leaf'" in answer.json()["what"]


def test_the_form_says_which_options_go_with_which_method(opened):
    forms = {m["name"]: m["form"] for m in opened.get("/api/methods").json()["protection"]}
    needs = {f["name"]: (f["requires"], f["requires_values"]) for f in forms["synthesize"]}
    assert needs["epsilon"] == needs["bounds"] == ("method", ["marginals"])
    assert needs["rules"] == needs["by"] == needs["leaf"] == ("method", ["trees"])
    assert needs["size"] == ("", [])
    basic = [f["name"] for f in forms["synthesize"] if f["basic"]]
    assert {"method", "epsilon", "variables"} <= set(basic)


@pytest.mark.parametrize(
    ("method", "option", "shape"),
    [
        ("synthesize", "rules", "rules"),
        ("synthesize", "require", "expressions"),
        ("synthesize", "bounds", "values of each column"),
        ("synthesize", "values", "values of each column"),
        ("synthesize", "predictors", "values of each column"),
        ("swap_records", "similar", "lists of columns"),
    ],
)
def test_options_that_are_no_list_of_values_have_a_shape(method, option, shape):
    assert next(f.shape for f in find(method).form() if f.name == option) == shape
