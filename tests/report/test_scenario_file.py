"""The plan in a report does it again, and releases no more than the first time."""

import numpy as np
import polars as pl
import pytest
import yaml

import sdckit as sdc
from sdckit.choose.plan import Plan
from sdckit.report.steps import FILE, TABLE, scenario_file
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
    assert same.points["risk", "loss"].equals(found.points["risk", "loss"])


def test_intruders_and_what_is_accepted_are_those_of_the_comparison(people):
    data = sdc.read(people, keys=["region", "sex"], numeric="expenditure", direct="name")
    steps = {"a": [{"suppress": {"k": 3}}, {"microaggregate": {"k": 4}}]}
    who = [
        sdc.Intruder("colleague", knows=["keys"], numbers={"expenditure": 0.1}, max_risk=0.9),
        sdc.Intruder("journalist", in_file=False, on_axis=False),
    ]
    accept = {"claims": 2, "columns": ["age"], "order": True}
    found = sdc.compare(data, steps, intruders=who, accept=accept, max_risk=0.8, seed=7)
    plan = Plan.parse(summarize(found)["scenario_file"].replace(FILE, people.name), people.parent)
    assert [one.as_dict() for one in plan.intruders] == [one.as_dict() for one in who]
    assert plan.assess["accept"] == accept
    same = sdc.compare(plan.read(), plan.scenarios, seed=plan.seed, intruders=plan.intruders, **plan.assess)
    assert same.points["risk", "loss"].equals(found.points["risk", "loss"])
    assert same.verdict.headline == found.verdict.headline


def test_intruders_of_one_measure_stay_with_it(people):
    data = sdc.read(people, keys=["region", "sex"], numeric="expenditure", direct="name")
    asked = {"reidentification_risk": {"intruders": [sdc.Intruder("colleague")]}}
    found = sdc.compare(data, {"a": [{"suppress": {"k": 3}}]}, **asked)
    content = yaml.safe_load(summarize(found)["scenario_file"])
    assert "intruders" not in content
    told = content["assess"]["reidentification_risk"]["intruders"]
    assert told == {"colleague": sdc.Intruder("colleague").as_dict()}


def test_direct_identifiers_keep_their_role(people):
    data = sdc.read(people, keys="sex", direct="name")
    text = summarize(sdc.assess(data, sdc.protect.suppress(data, k=3)))["scenario_file"]
    assert yaml.safe_load(text)["data"]["direct"] == ["name"]


def test_no_scenario_file_where_the_steps_are_not_known(people):
    data = sdc.read(people, keys="sex")
    assert summarize(sdc.assess(data, sdc.read(people, keys="sex")))["scenario_file"] == ""


def test_records_of_a_register_are_not_in_it(people):
    data = sdc.read(people, keys=["region", "sex"], numeric="expenditure", direct="name")
    register = data.frame.select(pl.lit("Canary").alias("region"), "sex")
    register = pl.concat([data.frame.select("region", "sex").cast(pl.String), register.cast(pl.String)])
    steps = {"a": [{"microaggregate": {"k": 4}}]}
    for table in (register, register.to_pandas(), sdc.read(register, keys=["region", "sex"])):
        found = sdc.compare(data, steps, risk="k_map", utility="il1s", k_map={"population": table})
        content = summarize(found)
        asked = yaml.safe_load(content["scenario_file"])["assess"]
        assert asked["k_map"] == {"population": TABLE}
        assert "Canary" not in str(content)


def test_what_cannot_be_written_is_named_by_its_type(people):
    data = sdc.read(people, keys="sex")
    asked = {"a": np.float32(0.5), "b": people, "c": object(), "d": np.arange(3)}
    text = scenario_file(data, {}, None, asked)
    assert yaml.safe_load(text)["assess"] == {"a": 0.5, "b": str(people), "c": "object", "d": TABLE}
