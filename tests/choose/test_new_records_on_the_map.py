"""A synthetic file on the same map as every other protection."""

import json
from dataclasses import replace

import pytest

import sdckit as sdc
from attacks.people import persons
from sdckit.choose.evaluator import NOT_JUDGED

KEYS = ["region", "sex", "age", "education"]
ALL = [*KEYS, "income", "savings", "health"]
ROLES = {"keys": KEYS, "numeric": ["income", "savings"], "sensitive": "health"}
WAYS = {
    "age": [{"recode": {"variable": "age", "width": 10}}, {"shuffle_order": {}}],
    "noise": [{"add_noise": {"sd": 0.1}}, {"shuffle_order": {}}],
    "dropped": [{"drop": {"variables": ["age", "region"]}}, {"shuffle_order": {}}],
    "synthetic": [{"synthesize": {"gain": 8}}],
}
MEASURES = ("reidentification_risk", "closest_record", "attribute_inference")


@pytest.fixture(scope="module")
def data():
    return sdc.read(persons(400, seed=1).select(ALL), **ROLES)


@pytest.fixture(scope="module")
def found(data):
    return sdc.compare(data, WAYS, seed=1)


def test_every_scenario_has_a_place_by_default(found):
    assert [p.error for p in found.results] == [""] * 4
    assert list(found.utility) == ["table_loss"]
    assert list(found.risk) == ["reidentification_risk"]
    place = {p.name: p for p in found.results}
    assert place["synthetic"].risk < 0.2 < place["noise"].risk
    assert place["dropped"].loss > 0.5, "dropping columns is not free"
    assert place["age"].loss > 0.05, "nor is recoding"
    assert found.original.loss == 0


def test_without_synthesis_the_default_stays(data):
    plain = sdc.compare(data, {"age": WAYS["age"]}, seed=1)
    assert list(plain.utility) == ["entropy_loss.share", "il1s"]


def test_measures_that_compare_records_are_refused_with_the_reason(data):
    done = sdc.compare(data, {"synthetic": WAYS["synthetic"]}, utility="il1s", seed=1)
    assert "the records are synthetic" in done.results[0].error


def test_a_file_that_cannot_be_cleared_is_recommended_last(data, found):
    assert next(p for p in found.results if p.name == "synthetic").not_judged == NOT_JUDGED
    alone = tuple(replace(p, found_by=()) for p in found.results)  # not about what intruders find
    capped = replace(found, max_risk=0.9, results=alone)
    assert capped.best.name in ("age", "dropped")
    assert "synthetic loses less" in capped.recommendation
    assert "of those that nothing speaks against" in capped.recommendation
    assert "In synthetic nobody has a record" in capped.recommendation
    alone = sdc.compare(data, {"synthetic": WAYS["synthetic"]}, seed=1)
    assert alone.best.name == "synthetic"
    assert not alone.verdict.releasable
    assert alone.advice == "loses least"


def test_with_people_held_back_it_competes(data):
    others = persons(400, seed=2).select(ALL)
    held = {name: {"holdout": others} for name in MEASURES}
    done = sdc.compare(data, WAYS, seed=1, max_risk=0.2, **held)
    assert done.best.name == "synthetic"
    assert done.best.not_judged == ""
    assert any(c.name.startswith("whole records") for c in done.verdict)


def test_pictures_recommend_only_what_can_be_released(data, found):
    assert not found.verdict.releasable
    for chart in (found.chart(), found.multiples(["table_loss"])):
        text = json.dumps(chart.to_dict()).lower()
        assert "recommended" not in text
        assert "loses least" in text


def test_sentences_have_rounded_numbers(found):
    best = found.best
    assert f"{best.risk:.6g}" not in found.reason or best.risk in (0, 1)
    assert f"{best.loss:.6g}" not in found.recommendation
    assert "%" in found.recommendation


def test_kept_points_know_that_they_cannot_be_cleared(data, tmp_path):
    made = {"synthetic": WAYS["synthetic"]}
    for _ in range(2):
        done = sdc.compare(data, made, seed=1, cache=tmp_path)
        assert done.results[0].not_judged == NOT_JUDGED
