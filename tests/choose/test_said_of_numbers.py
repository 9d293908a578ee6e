"""What the verdict says of numbers in part unchanged or made classes, and of keys that are missing."""

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit.choose.criteria import Status
from sdckit.choose.place import Place
from sdckit.data.roles import Role

N = 300


def people(**columns) -> sdc.Microdata:
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({"sex": rng.choice(["f", "m"], N), "income": rng.lognormal(8, 0.5, N)})
    return sdc.read(frame.with_columns(**columns), keys=["sex"], numeric=["income", *columns])


def criterion(original, protected, name, **options):
    found = sdc.assess(original, protected, max_risk=0.05, **options).verdict
    return next(c for c in found if c.name == name)


def test_a_number_that_is_mostly_zero_is_said_to_be_so():
    data = people(rent=np.where(np.arange(N) % 10, 0.0, np.arange(N) + 1.0))
    done = sdc.protect.microaggregate(data, variables=["income", "rent"], k=5)
    found = criterion(data, done, "numbers left unchanged")
    assert found.why.startswith("rent (8")
    assert "of its values, most of them 0)" in found.why
    assert Place.step("recode", ["rent"]) in found.places
    # where no step changed anything, nothing is to be explained
    assert criterion(data, data, "numbers left unchanged").why.startswith("income, rent: ")


def test_numbers_in_classes_are_offered_as_keys():
    data = people()
    steps = [{"recode": {"variable": "income", "groups": 60}}, {"suppress": {"k": 3}}]
    done = sdc.Scenario("classes", steps).protect(data, seed=1)
    found = criterion(data, done, "re-identification by register")
    assert found.status is Status.NOT_MET
    assert Place.role(Role.KEYS, ["income"]) in found.places
    assert "With the role keys, income would be suppressed, too." in found.mends
    data = data.with_roles(keys=["sex", "income"], numeric=[])
    done = sdc.Scenario("classes", steps).protect(data, seed=1)
    found = criterion(data, done, "re-identification by neighbour")
    assert not any(place.columns == ("income",) for place in found.places)


def test_a_column_without_a_role_may_become_a_key_before_it_becomes_sensitive():
    data = people()
    data = sdc.Microdata.of(
        data.frame.with_columns(district=pl.Series(range(N)) % 4), keys=["sex"], numeric="income"
    )
    found = criterion(data, data, "columns that no risk looks at")
    assert found.places[:2] == (Place.role(Role.KEYS, ["district"]), Place.role(Role.SENSITIVE, ["district"]))


def test_missing_keys_that_are_accepted_stand_beside_no_limit_that_they_exceed():
    frame = pl.DataFrame({"sex": ["f", "m", None] * 40})
    data = sdc.read(frame, keys=["sex"])
    found = criterion(data, data, "keys missing from the start", accept={"missing_keys": True})
    assert found.met
    assert found.limit is None
    assert found.why.endswith("that is understood and accepted.")
