"""Copies of original records: beyond chance, by chance, and where too few people show what chance is."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.choose.criteria import Criterion, Status

N = 1_000
NUMBERS = ["a", "b", "c"]


def people(seed: int, n: int = N) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    numbers = {c: rng.normal(100, 20, n) for c in NUMBERS}
    return pl.DataFrame({"sex": rng.choice(["f", "m"], n), **numbers})


def noised_copies(data: pl.DataFrame, count: int, seed: int) -> pl.DataFrame:
    """Other people, and some of the original with a little noise."""
    rng = np.random.default_rng(seed)
    some = data.sample(count, seed=seed)
    moved = [pl.col(c) + pl.Series(rng.normal(0, 0.5, count)) for c in NUMBERS]
    return pl.concat([some.with_columns(moved), people(seed).tail(N - count)])


def judged(made: pl.DataFrame, others: pl.DataFrame | None, **roles: str) -> Criterion:
    data = sdc.read(people(1), keys="sex", numeric=NUMBERS)
    held = {} if others is None else {"closest_record": {"holdout": others}}
    measures = ["closest_record"]
    found = sdc.assess(
        data, data.with_frame(made), linked=False, max_risk=0.05, measures=measures, **held
    ).verdict
    return next(c for c in found if c.name == "copies of original records")


@pytest.mark.parametrize("seed", [3, 4, 6])
def test_other_people_are_no_copies(seed):
    assert judged(people(seed), people(2)).status is Status.MET


def test_a_handful_of_people_shows_nothing():
    """A hold-out of thirty neither acquits nor condemns; the copies are never taken for chance."""
    few = people(2, 30)
    honest = judged(people(3), few)
    assert honest.status is Status.NOT_JUDGED
    assert "30 people" in honest.why
    assert judged(noised_copies(people(1), 30, 3), few).status is not Status.MET


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_few_noised_copies_stand_out_among_the_closest(seed):
    """Three of a hundred records are a person with a little noise."""
    assert judged(noised_copies(people(1), 30, seed), people(2)).status is Status.NOT_MET


def test_more_people_held_back_make_an_excess_sure():
    made = noised_copies(people(1), 40, 6)
    sure = [
        sdc.risk.closest_record(
            sdc.read(people(1), keys="sex", numeric=NUMBERS),
            sdc.read(made, keys="sex", numeric=NUMBERS),
            holdout=people(2, size),
        ).figures
        for size in (100, 3_000)
    ]
    assert sure[0]["excess_low"] < sure[1]["excess_low"]
    assert sure[0]["excess_high"] > sure[1]["excess_high"]


def test_a_household_that_is_close_counts_once():
    frame = people(1, 250)
    homes = pl.Series("home", np.repeat(np.arange(250), 4))

    def whole(one: pl.DataFrame) -> sdc.Microdata:
        """Four members who differ by nothing but a hair."""
        rows = one[np.repeat(np.arange(250), 4)]
        hair = pl.Series(np.random.default_rng(1).normal(0, 1e-3, rows.height))
        return sdc.read(
            rows.with_columns(homes, pl.col("a") + hair), keys="sex", numeric=NUMBERS, household="home"
        )

    figures = sdc.risk.closest_record(
        whole(frame), whole(people(3, 250)), holdout=whole(people(2, 250))
    ).figures
    assert figures["independent"] < 300
    assert figures["reference_independent"] < 300


@pytest.mark.parametrize("seed", [1, 2])
def test_strong_noise_on_eight_numbers_is_not_acquitted(seed):
    """One person of ten is nearest to their own record, and none stands out."""

    def eight(seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        return np.sqrt(0.5) * (rng.normal(size=(900, 1)) + rng.normal(size=(900, 8)))

    people, names = eight(seed), [f"x{i}" for i in range(8)]
    noised = people + 0.75 * np.random.default_rng(seed + 5).normal(size=people.shape)
    apart = ((people[:, None] - noised[None]) ** 2).sum(axis=2)
    assert (apart.argmin(axis=1) == np.arange(900)).mean() > 0.08
    data = sdc.read(pl.DataFrame(people, schema=names), numeric=names)
    held = {"holdout": pl.DataFrame(eight(seed + 50), schema=names)}
    found = sdc.assess(
        data,
        data.with_frame(pl.DataFrame(noised[::-1], schema=names)),
        linked=False,
        max_risk=0.05,
        measures=["closest_record"],
        closest_record=held,
    ).verdict
    assert next(c for c in found if c.name == "copies of original records").status is not Status.MET
