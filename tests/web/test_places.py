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


SYNTAX = re.compile(r"max_risk|accept: ?[{\"]|\bunit:|\(holdout\)|data: |\b[a-z]+_[a-z]+\b")


def test_what_mends_a_criterion_is_said_in_words_of_no_plan():
    seen = 0
    for path in sorted(Path(choose.__file__).parent.glob("*.py")):
        told = re.findall(r"mends(?:, \w+)? = \(?f?(['\"].*)", ast.unparse(ast.parse(path.read_text())))
        seen += len(told)
        for sentence in told:
            words = re.sub(r"{.*?}|, (?:at\(|Place|\(Place).*", "", sentence)
            assert not SYNTAX.search(words), f"{path.name}: {words}"
    assert seen > 20


def test_what_accepts_a_criterion_stands_beside_it_as_a_plan_writes_it(opened):
    found = opened.state()["results"]["A"]["verdict"]["criteria"]
    assert not any(SYNTAX.search(c["mends"]) for c in found if "household_id" not in c["mends"])
    plans = {c["name"]: c["in_plan"] for c in found if c["in_plan"]}
    assert plans["order of the rows"] == "accept: {order: true}"
    assert plans["numbers left unchanged"] == "accept: {numbers: [income]}"


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
