"""A sample without weights on the page: what is said of the population is in plan, script and verdict."""

from typing import Any

import pytest

import sdckit as sdc
from web.test_prepare import N, again, page  # noqa: F401


def sampled(client: Any, population: float) -> Any:
    steps = [{"equal_weights": {"population": population}}]
    return again(client, prepare=steps, roles={"weight": ["weight"]})


def test_a_declared_population_is_one_change_and_undone_by_one(page):  # noqa: F811
    page.change("roles", roles={"sex": ["keys"], "age": ["keys"]})
    before = page.wait()
    assert sampled(page, 48_000)["state"] == "done"
    state = page.wait()
    assert state["position"] == before["position"] + 1
    assert state["document"]["roles"] == {"sex": ["keys"], "age": ["keys"], "weight": ["weight"]}
    found = {c["name"]: c for c in state["results"]["A"]["verdict"]["criteria"]}
    assert "said to be a sample of 48,000 people, 200 for each record" in found["weights"]["why"]
    took_part = {c["name"]: c for c in before["results"]["A"]["verdict"]["criteria"]}
    neighbour, insider = took_part["re-identification by neighbour"], found["re-identification by insider"]
    assert insider["value"] == neighbour["value"]  # who knows the keys, and that the person took part
    assert found["re-identification by neighbour"]["value"] < 0.1 * neighbour["value"]
    page.post("/api/history", to=before["position"])
    state = page.wait()
    assert "weight" not in [c["name"] for c in state["facts"]["columns"]]
    assert state["document"]["roles"] == {"sex": ["keys"], "age": ["keys"]}


def test_a_population_smaller_than_the_file_is_refused_and_nothing_changes(page):  # noqa: F811
    before = page.state()
    ended = sampled(page, N - 1)
    assert ended["state"] == "failed"
    assert "The population is smaller than the file" in ended["result"]["what"]
    assert page.state()["document"] == before["document"]


@pytest.mark.parametrize("roles", [{"weight": ["heavy"]}, {"weight": 7}, 3])
def test_a_role_that_cannot_be_is_refused_before_the_file_is_read(page, roles):  # noqa: F811
    before = page.state()
    answer = page.post("/api/open", again=True, prepare=[{"equal_weights": {"population": 9e3}}], roles=roles)
    assert answer.status_code == 400
    assert page.state()["document"] == before["document"]


def test_plan_and_script_say_the_same_of_the_population(page, tmp_path):  # noqa: F811
    page.change("roles", roles={"sex": ["keys"], "age": ["keys"]})
    sampled(page, 48_000)
    page.wait()
    page.change("add_step", scenario="A", method="shuffle_order", options={})
    page.change("criteria", max_risk=0.05, accept={})
    page.wait()
    done = page.job(kind="release", scenario="A", wanted={"data": "protected.csv", "reports": []})
    assert done["state"] == "done", done["result"]
    at = f"/download/{done['result']['folder']}"
    (tmp_path / "plan.yaml").write_bytes(page.get(f"{at}/plan.yaml").content)
    plan = sdc.Plan.load(tmp_path / "plan.yaml")
    data = plan.read()
    assert data.frame["weight"].to_list() == [200.0] * N
    protected = plan.find("A").protect(data, seed=plan.seed)
    verdict = sdc.assess(data, protected, max_risk=0.05).verdict
    told = {c["name"]: (c["status"], c["value"]) for c in done["result"]["verdict"]["criteria"]}
    assert {c.name: (c.status.value, c.value) for c in verdict} == told
    sdc.write(protected, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == page.get(f"{at}/protected.csv").content
