"""From a criterion to where it is mended: places in the verdict, and options of the measures that judge."""

import ast
import re
from pathlib import Path

import pytest

from sdckit import choose


def test_the_verdict_says_where_each_criterion_is_mended(opened):
    found = opened.state()["results"]["A"]["verdict"]["criteria"]
    assert [c["name"] for c in found if c["status"] != "met"]
    for criterion in found:
        assert criterion["status"] == "met" or criterion["places"], criterion


SYNTAX = re.compile(r"max_risk|accept: ?[{\"]")


def test_where_a_sentence_has_the_words_of_a_plan_the_page_has_a_place_for_them():
    """The page leaves such a sentence out where something can be accepted, and only there."""
    seen = []
    for path in sorted(Path(choose.__file__).parent.glob("*.py")):
        for function in [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef)]:
            source = ast.unparse(function)
            told = re.findall(r"mends(?:, \w+)? = \(?(?:f?['\"].*|'.*)", source)
            if any(SYNTAX.search(text) for text in told):
                assert "Place.accept(" in source, f"{path.name}: {function.name}"
                seen.append(function.name)
    assert len(seen) > 10, seen


def test_no_criterion_of_the_page_has_the_words_of_a_plan_without_a_place(opened):
    found = opened.state()["results"]["A"]["verdict"]["criteria"]
    plain = [c for c in found if SYNTAX.search(c["mends"])]
    assert plain
    for criterion in plain:
        assert "accept" in [place["kind"] for place in criterion["places"]], criterion


def test_options_of_a_measure_are_a_decision_that_is_undone(opened):
    before = opened.state()
    options = {"sure": 0.95}
    assert (
        opened.change("measure_options", measure="reidentification_risk", options=options).status_code == 200
    )
    state = opened.wait()
    assert state["document"]["assess"] == {"reidentification_risk": options}
    weak = {c["name"]: c for c in state["results"]["A"]["verdict"]["criteria"]}["options of the measures"]
    assert weak["places"] == [{"kind": "options", "name": "reidentification_risk", "columns": []}]
    opened.change("measure_options", measure="reidentification_risk", options={})
    assert opened.wait()["document"]["assess"] == {}
    opened.post("/api/history", to=before["position"])
    opened.wait()


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("reidentification_risk", {"sure": 7}),
        ("reidentification_risk", {"nothing": 1}),
        ("suppress", {"k": 3}),
        ("no_such_measure", {}),
        ("k_map", {"population": "/etc/passwd"}),
        ("reidentification_risk", 3),
    ],
)
def test_options_that_cannot_be_are_refused(opened, measure, options):
    before = opened.state()
    assert opened.change("measure_options", measure=measure, options=options).status_code == 400
    assert opened.state()["document"] == before["document"]
