"""The scenario file of a report does it again, and releases no more than the first time."""

import polars as pl
import pytest
import yaml

import sdckit as sdc
from sdckit.plan import Plan
from sdckit.report.steps import FILE
from sdckit.report.summarize import summarize


@pytest.fixture
def people(tmp_path):
    frame = sdc.demo.survey(n=300, seed=1).frame.select("region", "sex", "age", "expenditure")
    path = tmp_path / "people.csv"
    frame.with_columns(name=pl.format("N{}", pl.int_range(pl.len()))).write_csv(path)
    return path


def test_done_again_from_the_report_of_a_map(people):
    data = sdc.read(people, keys=["region", "sex"], numeric="expenditure", direct="name")
    steps = {"a": [{"suppress": {"k": 3}}], "b": [{"suppress": {"k": 3}}, {"microaggregate": {"k": 4}}]}
    found = sdc.compare(data, steps, utility=["il1s", "entropy_loss.share"], max_risk=0.5, seed=7)
    text = summarize(found)["scenario_file"]
    assert FILE in text
    plan = Plan.parse(text.replace(FILE, people.name), people.parent)
    again = plan.find("b").protect(plan.read(), seed=plan.seed)
    assert "name" not in again.without(again.roles.direct).columns
    assert again.frame.drop("name", strict=False).equals(found.protect("b").frame.drop("name", strict=False))
    same = sdc.compare(plan.read(), plan.scenarios, seed=plan.seed, **plan.assess)
    assert (same.risk, same.utility, same.max_risk) == (found.risk, found.utility, 0.5)
    assert same.points["risk", "utility"].equals(found.points["risk", "utility"])


def test_direct_identifiers_keep_their_role(people):
    data = sdc.read(people, keys="sex", direct="name")
    text = summarize(sdc.assess(data, sdc.protect.suppress(data, k=3)))["scenario_file"]
    assert yaml.safe_load(text)["data"]["direct"] == ["name"]


def test_no_scenario_file_where_the_steps_are_not_known(people):
    data = sdc.read(people, keys="sex")
    assert summarize(sdc.assess(data, sdc.read(people, keys="sex")))["scenario_file"] == ""
