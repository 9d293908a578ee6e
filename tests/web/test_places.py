"""From a criterion to where it is mended: places in the verdict, and options of the measures that judge."""

import pytest


def test_the_verdict_says_where_each_criterion_is_mended(opened):
    found = opened.state()["results"]["A"]["verdict"]["criteria"]
    assert [c["name"] for c in found if c["status"] != "met"]
    for criterion in found:
        assert criterion["status"] == "met" or criterion["places"], criterion


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
