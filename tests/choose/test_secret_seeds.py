"""Without a seed nobody can repeat a draw, and with one no file for others tells it."""

import inspect
import pickle

import polars as pl
import pytest

import sdckit as sdc
from sdckit.report.document import to_json
from sdckit.report.summarize import summarize

STEPS = [
    {"new_ids": {}},
    {"pram": {"variables": ["sex"], "stay": 0.5}},
    {"add_noise": {"variables": ["x"], "sd": 0.4}},
    {"sample_records": {"share": 0.8}},
    {"shuffle_order": {}},
]
SCENARIO = sdc.Scenario("all that draws", STEPS)
SEED, OWN = 918273645, 564738291


def people():
    n = 400
    frame = pl.DataFrame(
        {
            "nr": range(n),
            "area": [i // 7 % 5 for i in range(n)],
            "sex": ["f" if i % 3 else "m" for i in range(n)],
            "x": [float(i * 7919 % 1009) for i in range(n)],
        }
    )
    return sdc.read(frame, id="nr", keys=["area", "sex"], numeric="x")


def test_without_a_seed_every_reading_draws_something_else():
    """An intruder with the program, the plan and the ids: no seed that he could try is the one."""
    data = people()
    first = SCENARIO.protect(data)
    assert SCENARIO.protect(data).frame.equals(
        first.frame
    )  # here, so that what was judged is what is written
    assert not SCENARIO.protect(people()).frame.equals(first.frame)
    assert not any(SCENARIO.protect(data, seed=seed).frame.equals(first.frame) for seed in range(3))
    assert SCENARIO.protect(data, seed=3).frame.equals(SCENARIO.protect(people(), seed=3).frame)


def test_no_call_has_a_seed_of_its_own():
    for call in (sdc.Scenario.protect, sdc.compare, sdc.search, sdc.synthesize):
        assert inspect.signature(call).parameters["seed"].default is None
    plan = sdc.Plan.parse("scenarios: {A: [new_ids]}")
    assert plan.seed is None
    assert "seed" not in plan.to_yaml()


def test_what_was_compared_is_what_is_made():
    data = people()
    found = sdc.compare(data, {"noise": [STEPS[2]]}, utility="il1s", seeds=2)
    assert found.seed is None
    assert found.protect("noise").frame.equals(sdc.Scenario("noise", [STEPS[2]]).protect(data).frame)
    once = sdc.compare(data, {"noise": [STEPS[2]]}, utility="il1s")
    made = sdc.utility.il1s(data, found.protect("noise")).value
    assert once.results[0].loss == pytest.approx(made, rel=1e-9)


def test_a_protected_file_that_is_handed_on_does_not_carry_the_secret():
    data = people()
    protected = SCENARIO.protect(data)
    there = pickle.loads(pickle.dumps(protected))
    assert protected.origin == data.origin
    assert there.origin != data.origin
    assert str(data.origin).encode() not in pickle.dumps(there)
    assert pickle.loads(pickle.dumps(data)).origin == data.origin  # to another process of ours


def test_other_processes_draw_the_same():
    coarse = sdc.protect.recode(people(), variable="area", breaks=[0, 2, 4])
    steps = {"k": [{"suppress": {"k": 60, "keys": ["area", "sex"]}}, STEPS[2]], "noise": [STEPS[2]]}
    here, there = (sdc.compare(coarse, steps, utility="il1s", jobs=jobs) for jobs in (1, 2))
    assert [p.loss for p in here.results] == [p.loss for p in there.results]


def test_sets_without_a_seed_differ_between_readings():
    one, other = (sdc.synthesize(people(), m=1)[0].frame for _ in range(2))
    assert not one.equals(other)


def test_no_file_for_others_tells_a_seed(tmp_path):
    data = people()
    steps = [*STEPS[:2], {"suppress": {"k": 3, "keys": ["area"], "seed": OWN}}]
    protected = sdc.Scenario("with seeds", steps).protect(data, seed=SEED)
    for name in ("a.csv", "a.parquet", "a.dta"):
        sdc.write(protected, tmp_path / name, codebook=True, overwrite=True)
    assert len(list(tmp_path.iterdir())) > 3
    secrets = [str(SEED), str(OWN), str(data.origin)]
    for file in tmp_path.iterdir():
        content = file.read_bytes()
        assert not [secret for secret in secrets if secret.encode() in content], file.name
    found = sdc.compare(data, {"with seeds": steps}, utility="il1s", seed=SEED)
    public = to_json(summarize(found, "public"))
    assert not [secret for secret in secrets if secret in public]
    assert secrets[0] in to_json(summarize(found, "internal"))
    unseeded = sdc.compare(data, {"with seeds": steps[:2]}, utility="il1s")
    for audience in ("public", "internal"):
        assert str(data.origin) not in to_json(summarize(unseeded, audience))
