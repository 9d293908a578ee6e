"""Intruders who were named so that they know less than the file gives away."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.people import households, persons
from attacks.test_found import verdict
from attacks.test_found_fourth import homes_with_numbers
from sdckit import Intruder

JOURNALIST = {"knows": ["keys"], "in_file": False}


def open_ones(found) -> list[str]:
    return [c.name for c in found if not c.met]


def test_an_intruder_of_households_who_knows_only_the_region():
    """Whoever knows sex and age of all members finds one household in five, the one who was asked nobody."""
    frame = households(900).with_columns((pl.col("region") > 2).cast(pl.Int64)).drop("size")
    data = sdc.read(frame, keys=["region", "sex", "age"], household="home", sensitive="health")
    safe = sdc.protect.recode(data, variable="age", breaks=[0, 20, 40, 60, 95])
    safe = sdc.protect.shuffle_order(sdc.protect.new_ids(safe, rng=3), rng=4)
    weak = {"neighbour": {"knows": ["keys"]}, "home": {"knows": ["region"], "unit": "household"}}
    assert open_ones(verdict(data, safe, intruders=weak)) == ["households as targets"]
    strong = {**weak, "home": {"knows": ["keys"], "unit": "household"}}
    found = verdict(data, safe, intruders=strong)
    assert "households as targets" not in open_ones(found)
    assert "re-identification by home" in open_ones(found)


def weighted(n: int = 1_500) -> sdc.Microdata:
    frame = persons(n).select("region", "sex", "age", weight=pl.lit(1000.0))
    return sdc.read(frame, keys=["region", "sex", "age"], weight="weight")


def test_who_knows_little_beside_one_who_is_judged_by_weights():
    """That somebody knows the sex and who is in the file does not make the keys of the others safe."""
    data = weighted()
    weak = {"neighbour": JOURNALIST, "colleague": {"knows": ["sex"]}}
    assert open_ones(verdict(data, data, intruders=weak)) == ["weights"]


def test_a_population_that_is_said_is_trusted_aloud():
    data = weighted()
    said = {"population": float(data.frame["weight"].sum())}
    found = verdict(data, data, intruders={"neighbour": JOURNALIST}, accept=said)
    assert found.releasable
    assert "nobody knows who is in the file" in found.headline
    assert "nobody knows who is in the file" not in verdict(data, data, accept=said).trusted


def test_a_role_that_the_protected_file_has_lost_makes_no_file_synthetic():
    """Health was drawn anew; keys without their role are still what everybody knows."""
    frame = persons(1_500).select((pl.col("region") > 2).cast(pl.Int64), "sex", "age", "health")
    data = sdc.read(frame, keys=["region", "sex"], sensitive=["age", "health"])
    drawn = sdc.protect.synthesize(data, variables=["health"], rng=1)
    for done in (drawn, drawn.with_roles(keys=[])):
        assert open_ones(verdict(data, done)) == ["sensitive columns that others may know"]


def test_keys_drawn_anew_from_single_donors_are_known_to_somebody():
    """Leaves of one record give every key back, so that an intruder who knows none of them says nothing."""
    frame = persons(600).select("region", "sex", "age", "health", wave=np.ones(600, dtype=np.int64))
    data = sdc.read(frame, keys=["region", "sex", "age", "wave"], sensitive="health")
    done = sdc.protect.synthesize(
        data, variables=["region", "sex", "age", "wave"], leaf=1, gain=0.0, zeros=False, rng=1
    )
    found = verdict(data, done, intruders={"nobody": {"knows": ["wave"]}})
    assert "columns that no risk looks at" in open_ones(found)


def ages_without_a_key(**roles: object) -> sdc.Microdata:
    """Persons whose age has the role sensitive, or is called a weight, and whose keys are harmless."""
    frame = persons(1_500).select((pl.col("region") > 2).cast(pl.Int64), "sex", pl.col("age").cast(float))
    data = sdc.read(frame, keys=["region", "sex"], **roles)
    return sdc.protect.shuffle_order(data, rng=1)


@pytest.mark.parametrize(
    "dummy",
    [
        Intruder("dummy", knows=["age"]),
        Intruder("dummy", knows=["sex"], numbers={"age": 10.0}),
        Intruder("dummy", knows=["sex"], max_risk=0.2),
    ],
)
def test_somebody_who_knows_an_age_but_not_the_keys_beside_it(dummy):
    """That a dummy knows it alone, or hardly, or is accepted himself, makes it no secret of the others."""
    data = ages_without_a_key(sensitive="age")
    found = verdict(data, data, intruders=[Intruder("colleague"), dummy], accept={"order": True})
    assert "sensitive columns that others may know" in open_ones(found)


def test_a_ceiling_of_the_only_intruder_holds_for_trusted_columns_too():
    """Without max_risk, beside a journalist with a ceiling of his own, no weight was asked about."""
    data = ages_without_a_key(weight="age")
    said = {"population": float(data.frame["age"].sum())}
    journalist = {"neighbour": {**JOURNALIST, "max_risk": 0.02}}
    found = verdict(data, data, max_risk=None, intruders=journalist, accept=said)
    assert "a weight that tells persons apart" in open_ones(found)


def test_a_relative_who_hardly_knows_the_numbers():
    """Numbers known to within a factor of ten are no numbers that an attack on households was made with."""
    data, done = homes_with_numbers(1.0)
    kin = {"knows": ["keys", {"numeric": 10.0}], "unit": "household"}
    asked = {"insider": {"knows": ["keys", "numeric"]}, "kin": kin}
    assert "numbers of whole households" in open_ones(verdict(data, done, max_risk=0.1, intruders=asked))
