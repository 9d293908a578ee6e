"""Intruders who were named so that they know less than the file gives away."""

import numpy as np
import polars as pl

import sdckit as sdc
from attacks.people import households, persons
from attacks.test_found import verdict

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
