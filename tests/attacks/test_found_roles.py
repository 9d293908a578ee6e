"""A column that everybody knows, under a role by which nobody is taken to know it."""

import warnings

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.test_found import verdict
from sdckit.choose.trusted_checks import trusted

N = 1_500


def persons() -> pl.DataFrame:
    draw = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "area": draw.choice(["north", "south"], N),
            "sex": draw.choice(["f", "m"], N),
            "age": draw.integers(16, 90, N),
            "answer": draw.choice(["yes", "no", "perhaps"], N),
            "weight": np.round(1_000 + draw.lognormal(6, 0.4, N), 2),
        }
    )


def read(frame: pl.DataFrame, **roles) -> sdc.Microdata:
    return sdc.read(frame, keys=["area", "sex"], sensitive="answer", **roles)


def open_ones(found) -> list[str]:
    return [c.name for c in found if not c.met]


@pytest.mark.parametrize(
    "weight",
    [
        pl.col("age"),
        pl.col("age") * 7.3,
        pl.col("age") + pl.Series(np.random.default_rng(2).random(N)) / 100,
        2020.0 - pl.col("age"),
    ],
    ids=["age", "in another unit", "with a jitter", "year of birth"],
)
def test_an_age_that_is_called_a_weight(weight):
    data = read(persons().select("area", "sex", "answer", weight.cast(pl.Float64).alias("w")), weight="w")
    found = verdict(data, sdc.protect.round_values(data, variables=["w"], base=1))
    assert open_ones(found) == ["a weight that tells persons apart"]
    asked = next(c for c in found if not c.met)
    assert [p.name for p in asked.places] == ["round_values", "suppress", "drop", "keys", "columns"]
    accepted = verdict(data, sdc.protect.round_values(data, variables=["w"], base=1), accept={"columns": "w"})
    assert accepted.releasable
    assert "columns that no risk looks at (w)" in accepted.headline


@pytest.mark.parametrize("role", ["household", "id", "strata", "cluster"])
def test_an_age_under_another_role(role):
    frame = persons().drop("weight")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the id is repeated
        data = read(frame, **{role: "age"})
    safe = data if role in ("strata", "cluster") else sdc.protect.new_ids(data, rng=1)
    assert open_ones(verdict(data, sdc.protect.shuffle_order(safe, rng=1)))


def test_weights_that_name_records_are_the_same_in_every_file():
    data = read(persons().drop("age"), weight="weight")
    assert open_ones(verdict(data, data)) == ["a weight that tells persons apart"]
    rounded = sdc.protect.round_values(data, variables=["weight"], base=500)
    assert verdict(data, rounded).releasable


def test_the_headline_says_what_is_trusted():
    data = read(persons(), weight="weight")
    safe = sdc.protect.drop(data, variables=["age"])
    safe = sdc.protect.round_values(safe, variables=["weight"], base=500)
    found = verdict(data, safe)
    assert found.releasable
    told = (
        "Trusted: nobody knows a person's answer or weight, no two records are of one person, and no other "
        "file of the same people is released."
    )
    assert found.headline.endswith(told)
    knows = [sdc.Intruder("doctor", knows=["keys", "answer", "weight"])]
    assert "nobody knows" not in verdict(data, safe, intruders=knows).headline
    numbered = data.with_frame(data.frame.with_row_index("number")).with_roles(id="number")
    assert "two records" not in sdc.assess(numbered, safe, max_risk=0.1).verdict.trusted


@pytest.mark.parametrize(("name", "label"), [("Alter / age", ""), ("q7", "Age in years")])
def test_an_age_that_is_called_sensitive(name, label):
    frame = persons().drop("weight").rename({"age": name})
    labels = sdc.Labels(variables={name: label})
    data = sdc.Microdata.of(frame, labels=labels, keys=["area", "sex"], sensitive=["answer", name])
    safe = sdc.protect.shuffle_order(data)
    options = {"accept": {"inference": 1.0}}
    found = verdict(data, safe, **options)
    assert open_ones(found) == ["sensitive columns that others may know"]
    (asked,) = (c for c in found if not c.met)
    known = frame.select("area", "sex", name).n_unique()
    assert asked.value == pytest.approx(known / N)  # one of those alike is found
    accepted = verdict(data, safe, accept={"inference": 1.0, "columns": name})
    assert "sensitive columns that others may know" not in open_ones(accepted)
    wide = sdc.protect.recode(safe, variable=name, breaks=[50])
    assert verdict(data, wide, **options).releasable


def test_that_records_are_new_is_trusted_where_only_the_caller_says_so():
    data = sdc.read(persons().drop("weight"), keys=["area", "sex"], sensitive="answer", numeric="age")
    elsewhere = sdc.read(data.frame.sample(fraction=1, shuffle=True, seed=1), keys=["area", "sex"])
    made = sdc.protect.synthesize(data, rng=1)
    said = "every record was drawn anew, as was said"
    for protected, linked, wanted in ((elsewhere, False, True), (made, False, False), (made, None, False)):
        x = sdc.assess(data, protected, measures=["reidentification_risk"], linked=linked)
        assert (said in trusted(x)) == wanted


def test_a_sensitive_column_that_nobody_is_said_to_know_is_not_asked_about():
    data = sdc.read(
        persons().drop("weight").rename({"age": "illness"}), keys=["area", "sex"], sensitive="illness"
    )
    found = verdict(data, sdc.protect.shuffle_order(data), accept={"inference": 1.0, "columns": "answer"})
    assert "sensitive columns that others may know" not in [c.name for c in found]
