"""What keys tell of a diagnosis that was exchanged or blanked: a few of many keys, and several diagnoses."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc

N = 3_000
KEPT = ["sex", "age", "married"]


def patients(telling: float, seed: int = 3) -> sdc.Microdata:
    """Eight keys; of young married women the given part has one diagnosis, which no two of the keys tell."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "region": rng.integers(1, 10, N),
            "urban": rng.integers(0, 2, N),
            "education": rng.integers(1, 5, N),
            "citizenship": rng.choice(3, N, p=[0.85, 0.1, 0.05]),
            "tenure": rng.integers(1, 4, N),
            "sex": rng.choice(["f", "m"], N),
            "age": rng.choice(["0–19", "20–34", "35–64", "65+"], N, p=[0.2, 0.25, 0.35, 0.2]),
            "married": rng.choice(["no", "yes"], N),
        }
    )
    some = (frame["sex"] == "f") & (frame["age"] == "20–34") & (frame["married"] == "yes")
    other = rng.choice(["injury", "heart", "lung", "other"], N)
    told = some.to_numpy() & (rng.random(N) < telling)
    return sdc.read(
        frame.with_columns(diagnosis=pl.Series(np.where(told, "pregnancy", other))),
        keys=frame.columns,
        sensitive="diagnosis",
    )


def verdict(data: sdc.Microdata) -> dict[str, str]:
    """What is said of the file with most keys and the diagnosis exchanged at random now and then."""
    moved = [c for c in data.roles.keys if c not in KEPT]
    steps = [
        {"pram": {"variables": moved, "stay": 0.5}},
        {"pram": {"variables": "diagnosis", "stay": 0.6, "invariant": False}},
        "shuffle_order",
    ]
    protected = sdc.Scenario("pram", steps).protect(data, seed=1)
    found = sdc.assess(data, protected, max_risk=0.05).verdict
    return {c.name: c.status.value for c in found}


def test_three_of_eight_keys_tell_the_diagnosis():
    """Whoever reads off what most young married women have is right, though each may be drawn."""
    assert verdict(patients(0.98))["inference of sensitive values"] == "not met"


def test_three_of_eight_keys_that_tell_less_are_no_matter():
    assert set(verdict(patients(0.5)).values()) == {"met"}


RARE = ["cancer", "hiv", "depression"]


def clinics(alone: bool) -> sdc.Microdata:
    """Twenty clinics; three of them treat the rare diseases, alone or with others."""
    rng = np.random.default_rng(3)
    clinic = rng.integers(1, 21, N)
    common = rng.choice(["none", "flu", "back"], N, p=[0.6, 0.25, 0.15])
    rare = clinic >= 18 if alone else rng.random(N) < 0.15
    disease = np.where(rare, rng.choice(RARE, N), common)
    frame = pl.DataFrame({"clinic": clinic, "sex": rng.choice(["f", "m"], N), "disease": disease})
    return sdc.read(frame, keys=["clinic", "sex"], sensitive="disease")


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize(
    "step",
    [
        {"suppress": {"k": 240, "keys": "disease"}},
        {"pram": {"variables": "disease", "matrix": {a: dict.fromkeys(RARE, 1 / 3) for a in RARE}}},
        {"group": {"variables": "disease", "map": {"serious": RARE}}},
    ],
    ids=lambda step: next(iter(step)),
)
def test_rare_diseases_that_were_hidden_behind_each_other(step, alone):
    """A blank, or any of the three, tells as much as a common name for them."""
    data = clinics(alone)
    protected = sdc.Scenario("hidden", [step, "shuffle_order"]).protect(data, seed=1)
    found = {c.name: c.status.value for c in sdc.assess(data, protected, max_risk=0.05).verdict}
    assert found.pop("inference of sensitive values") == ("not met" if alone else "met")
    assert set(found.values()) == {"met"}


def test_rare_diseases_of_which_most_were_blanked():
    """The seventh that is still shown makes a blank no less telling."""
    data = clinics(alone=True)
    kept = pl.Series(np.random.default_rng(1).random(data.height) < 0.15)
    shown = pl.when(kept | ~pl.col("disease").is_in(RARE)).then("disease").alias("disease")
    protected = sdc.protect.shuffle_order(data.with_frame(data.frame.with_columns(shown)), rng=1)
    asked = sdc.assess(data, protected, max_risk=0.05).verdict
    assert next(c.status for c in asked if c.name == "inference of sensitive values") == "not met"
