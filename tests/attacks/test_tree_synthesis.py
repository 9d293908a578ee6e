"""Attacks on files made by synthesize, beside the same attacks on people who were not in the original."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.people import persons

KEYS = ["region", "sex", "age", "education"]
ALL = [*KEYS, "income", "savings", "health"]


def microdata(frame: pl.DataFrame) -> sdc.Microdata:
    return sdc.read(frame.select(ALL), keys=KEYS, numeric=["income", "savings"], sensitive="health")


@pytest.fixture(scope="module")
def data() -> sdc.Microdata:
    return microdata(persons(1_500, seed=1))


@pytest.fixture(scope="module")
def others() -> sdc.Microdata:
    """People of the same population who were not in the original."""
    return microdata(persons(1_500, seed=2))


@pytest.fixture(scope="module")
def sets(data) -> list[sdc.Microdata]:
    return sdc.synthesize(data, m=4, seed=1)


def test_numbers_that_one_person_has_come_back_no_more_often_than_among_other_people(data, others, sets):
    for column in ("income", "savings"):
        single = data.frame.filter(pl.len().over(column) == 1)[column].implode()
        chance = others.frame[column].is_in(single).mean()
        found = np.mean([made.frame[column].is_in(single).mean() for made in sets])
        spread = np.sqrt(max(chance, 1e-4) / data.height)
        assert found <= chance + 4 * spread, (column, found, chance)


def test_extreme_values_do_not_come_back(data, sets):
    for column in ("income", "savings"):
        values = data.frame[column].sort()
        outermost = [*values.head(5), *values.tail(5)]
        assert sum(int(made.frame[column].is_in(outermost).sum()) for made in sets) <= 1
        assert all(made.frame[column].max() < values.max() for made in sets), "fewer than 50 in the tail"


def guessed(known: pl.DataFrame, released: pl.DataFrame) -> np.ndarray:
    """Whether the health of the released record that is nearest in keys and income is that of the person."""

    def points(frame):
        sex = (frame["sex"] == "f").to_numpy()
        return np.column_stack(
            [
                10 * frame["region"].to_numpy(),
                10 * sex,
                frame["age"].to_numpy() / 5,
                frame["education"].to_numpy(),
                5 * np.log(frame["income"].to_numpy()),
            ]
        )

    a, b = points(known), points(released)
    nearest = [int(((b - row) ** 2).sum(axis=1).argmin()) for row in a]
    return (known["health"] == released["health"].gather(nearest)).to_numpy()


def test_the_nearest_record_tells_no_more_of_a_person_than_of_others(data, others, sets):
    """An intruder knows keys and income and reads the sensitive value off the closest synthetic record."""
    about_them, about_others = (
        np.mean([guessed(people.frame, made.frame).mean() for made in sets]) for people in (data, others)
    )
    assert about_them - about_others < 0.04  # its standard error is about 0.015
    # the attack works where a file repeats its records
    bare = sdc.protect.synthesize(data, leaf=1, gain=0, smooth="none", tails=0, rng=1)
    assert guessed(data.frame, bare.frame).mean() - guessed(others.frame, bare.frame).mean() > 0.1


def test_records_are_no_closer_to_their_originals_than_other_people(data, others, sets):
    found = sdc.risk.closest_record(data, sets, holdout=others.frame)
    assert found.figures["copies"] <= found.figures["reference_copies"] + 0.002
    assert found.figures["closer_to_original"] < found.figures["closer_expected"] + 0.05


def test_a_synthetic_file_is_never_releasable_without_being_judged(data, sets):
    bare = sdc.assess(data, sets, max_risk=0.05, measures=["closest_record", "attribute_inference"])
    assert not bare.verdict.releasable
    assert "not judged" in bare.verdict.headline
    assert sdc.assess(data, sets[0], max_risk=0.05, measures=["propensity"]).verdict.releasable is False


def test_a_synthetic_file_can_be_judged_and_released(data, others):
    """With people held back every criterion has an answer."""
    made = sdc.protect.synthesize(data, gain=8, rng=1)
    held = {"holdout": others.frame}
    done = sdc.assess(
        data,
        made,
        max_risk=0.05,
        measures=["closest_record", "attribute_inference", "reidentification_risk"],
        closest_record=held,
        attribute_inference=held,
        reidentification_risk=held,
    )
    assert done.same_people is False
    assert done.verdict.releasable, done.verdict


def test_a_copy_among_good_sets_is_not_made_safe_by_them(data, others):
    """All sets are released, so that the worst of them counts, and not their mean."""
    good = sdc.synthesize(data, m=4, seed=1, gain=8)
    copy = good[0].with_frame(data.frame.sample(fraction=1.0, shuffle=True, seed=1))
    held = {"holdout": others.frame}
    names = ["closest_record", "attribute_inference", "reidentification_risk"]
    done = sdc.assess(
        data, [*good, copy], linked=False, max_risk=0.05, measures=names, **dict.fromkeys(names, held)
    )
    assert not done.verdict.releasable
    assert "number 5" in done.after["reidentification_risk"].notes[-1]
