"""What the map recommends: no file in which another intruder finds more than is accepted, if there is one."""

import json
from dataclasses import replace

import polars as pl
import pytest

import sdckit as sdc
from sdckit.choose.risk_utility_map import RiskUtilityMap

WAYS = {
    "as it is": [],
    "wide": [{"recode": {"variable": "age", "width": 50}}, {"suppress": {"k": 5}}],
}


@pytest.fixture(scope="module")
def found() -> RiskUtilityMap:
    """A sample with large weights: the neighbour finds few, who knows that a person is in it many."""
    frame = sdc.demo.survey(n=200, seed=1).frame.select("sex", "age", "expenditure")
    frame = frame.with_columns(weight=pl.lit(500.0))
    data = sdc.read(frame, keys=["sex", "age"], sensitive="expenditure", weight="weight")
    return sdc.compare(data, WAYS, max_risk=0.2, utility="entropy_loss.share", seed=1)


def test_a_file_another_intruder_undoes_is_passed_over_and_the_reason_is_said(found):
    weak, wide = found.results
    assert weak.risk <= found.max_risk
    assert weak.loss < wide.loss
    assert found.best.name == "wide"
    assert "as it is loses less" in found.recommendation
    assert "but insider finds" in found.recommendation
    assert found.points["objection"].to_list() == [found.objection(weak), ""]


def test_the_shares_are_those_that_the_verdict_judges(found):
    for point in found.results:
        rows = sdc.risk.reidentification_risk(found.data, found.protect(point.name)).tables["intruders"]
        assert [(n, pytest.approx(s)) for n, s, _ in point.found_by] == rows.select(
            "intruder", "upper"
        ).rows()
        refused = any(
            c.name.startswith("re-identification") and c.status == "not met"
            for c in found.assess(point.name).verdict
        )
        assert refused == bool(found.objection(point))


def test_where_all_are_objected_to_the_best_is_still_named(found):
    strict = replace(found, results=found.results[:1])
    assert strict.best.name == "as it is"
    assert not strict.verdict.releasable


def test_a_limit_of_one_intruder_counts_without_one_of_the_map(found):
    one = [sdc.Intruder("neighbour", in_file=False), sdc.Intruder("insider", max_risk=0.9, on_axis=False)]
    capped = sdc.compare(found.data, WAYS, intruders=one, utility="entropy_loss.share", seed=1)
    assert not capped.objection(capped.results[0]).startswith("neighbour")
    lax = [one[0], sdc.Intruder("insider", max_risk=1.0, on_axis=False)]
    easy = sdc.compare(found.data, WAYS, intruders=lax, max_risk=0.2, utility="entropy_loss.share", seed=1)
    assert easy.objection(easy.results[0]) == ""


def test_pictures_and_tables_say_so(found):
    drawn = json.dumps(found.chart().to_dict())
    assert "Rings in the colour of the limit" in drawn
    assert "Cannot be released: insider finds" in drawn
    assert "insider finds" in found._repr_html_()
    alone = replace(found, results=found.results[1:])
    assert "Rings" not in json.dumps(alone.chart().to_dict())


def test_the_public_does_not_learn_what_intruders_are_called(found):
    from sdckit.report.scenarios import public_scenarios, scenarios

    assert "insider finds" in scenarios(found)["points"][0]["remark"]
    assert "insider" not in json.dumps(public_scenarios(found)["points"])
    assert "another intruder" in public_scenarios(found)["points"][0]["remark"]


def test_a_search_prefers_what_nothing_speaks_against(found):
    space = [
        {"optional": {"recode": {"variable": "age", "width": {"choices": [5, 50]}}}},
        {"suppress": {"k": {"range": [2, 6]}}},
    ]
    tried = sdc.search(found.data, space, utility="entropy_loss.share", max_risk=0.2, trials=10, seed=1)
    assert tried.objection(tried.best) == ""


def test_kept_points_know_it_too(found, tmp_path):
    for _ in range(2):
        again = sdc.compare(
            found.data, WAYS, max_risk=0.2, utility="entropy_loss.share", seed=1, cache=tmp_path
        )
        assert [p.found_by for p in again.results] == [p.found_by for p in found.results]


def test_of_several_seeds_the_most_counts(found):
    noisy = {"moved": [{"pram": {"variables": ["sex"]}}]}
    many = sdc.compare(found.data, noisy, max_risk=0.2, utility="entropy_loss.share", seeds=3)
    one = sdc.compare(found.data, noisy, max_risk=0.2, utility="entropy_loss.share", seeds=1)
    assert len(many.results[0].runs) == 3
    assert [n for n, _, _ in many.results[0].found_by] == [n for n, _, _ in one.results[0].found_by]


def test_what_the_verdict_refuses_is_not_recommended_without_a_word(found):
    """By the intruders that are on the map, and by what is asked of the recommended file alone."""
    strict = replace(found, results=found.results[:1], _assessed={})
    assert "It must not be released as it is: insider finds" in strict.recommendation
    assert not found.verdict.releasable
    assert "It must not be released as it is; the verdict says why." in found.recommendation
