"""Several files released together: one that repeats persons is not hidden by those beside it."""

import polars as pl
import pytest

import sdckit as sdc
from attacks.people import KEYS, persons
from sdckit.choose.criteria import Status

N = 600
ALL = [*KEYS, "income", "health"]
ROLES = {"keys": KEYS, "numeric": ["income"], "sensitive": ["health"]}
JUDGES = ["closest_record", "reidentification_risk", "attribute_inference"]


def drawn(seed: int) -> pl.DataFrame:
    return persons(N, seed).select(ALL)


def read(frame: pl.DataFrame) -> sdc.Microdata:
    there = {role: [c for c in names if c in frame.columns] for role, names in ROLES.items()}
    return sdc.read(frame, **there)


def verdict(data: sdc.Microdata, frames: list[pl.DataFrame], others: pl.DataFrame) -> dict[str, Status]:
    """The status of each criterion, the worst where one is asked of several files."""
    sets = [read(frame) for frame in frames]
    options = {name: {"holdout": others} for name in JUDGES}
    found = sdc.assess(data, sets, measures=JUDGES, max_risk=0.05, **options).verdict
    return {c.name: c.status for c in found}


@pytest.fixture(scope="module")
def data() -> sdc.Microdata:
    return read(drawn(7))


def some_columns_copied(data: sdc.Microdata) -> pl.DataFrame:
    """Keys and health drawn anew, except those in which persons differ most, and the income copied."""
    anew = drawn(80)
    true = data.frame.sample(fraction=1, shuffle=True, seed=2)
    return anew.with_columns(true["age"], true["income"], true["region"])


def test_persons_who_come_back_in_some_columns_of_one_set(data):
    """The set with the larger value has nobody in some columns: the other one counts there."""
    few = pl.concat([data.frame.head(40), drawn(81).tail(N - 40)])
    sets = [read(frame) for frame in (some_columns_copied(data), few)]
    alone = [sdc.risk.reidentification_risk(data, one, linked=False, holdout=drawn(77)) for one in sets]
    assert alone[0].value < alone[1].value
    both = sdc.risk.reidentification_risk(data, sets, linked=False, holdout=drawn(77))
    assert both.value == alone[1].value
    assert both.figures["in_some_columns"] == alone[0].figures["in_some_columns"] > 0.3
    assert both.figures["come_back"] == max(one.figures["come_back"] for one in alone)
    found = verdict(data, [one.frame for one in sets], drawn(77))
    assert found["records that come back in some columns"] is Status.NOT_MET


def test_one_set_of_copies_beside_many_of_other_people(data):
    """The mean over the sets looks like chance."""
    copied = pl.concat([data.frame.head(60), drawn(82).tail(N - 60)])
    found = verdict(data, [*(drawn(seed) for seed in range(90, 99)), copied], drawn(77))
    assert found["copies of original records"] is Status.NOT_MET


def test_a_set_of_one_column_does_not_blind_the_others(data):
    """Sets are compared with the original in their own columns, not in those that all of them have."""
    found = verdict(data, [data.frame, drawn(83).select("sex")], drawn(77))
    assert found["copies of original records"] is Status.NOT_MET


def test_sets_of_other_people_meet_everything(data):
    assert set(verdict(data, [drawn(seed) for seed in (90, 91, 92)], drawn(77)).values()) == {Status.MET}
