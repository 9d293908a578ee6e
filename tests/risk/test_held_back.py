"""Whether people held back are other people: against plain Python, and on files in which they are not."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.people import persons
from sdckit.risk._held_back import MORE, NEARER, not_other_people
from sdckit.risk._uncertainty import wilson

KEYS = ["region", "sex", "age", "education"]
ALL = [*KEYS, "income", "savings", "health"]


def microdata(frame):
    return sdc.read(frame.select(ALL), keys=KEYS, numeric=["income", "savings"], sensitive="health")


def numbers_of(seed, n):
    return pl.DataFrame(np.random.default_rng(seed).random((n, 2)), schema=["x", "y"])


def stands_out(records, originals, own):
    """Person by person: is one original ten times nearer than the second nearest?"""
    found = []
    for i, record in enumerate(records):
        others = np.delete(originals, i, axis=0) if own else originals
        apart = sorted(np.sqrt(((others - record) ** 2).sum(1)))
        found.append(apart[0] <= NEARER * apart[1] and apart[1] > 0)
    return float(np.mean(found))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("copied", "found"), [(0, False), (3, False), (25, True), (40, True)])
def test_it_is_the_definition(seed, copied, found):
    """Two numbers in standard deviations; of 60 people held back some are originals with a little noise."""
    original, held_back = numbers_of(seed, 80), numbers_of(seed + 50, 60)
    rng = np.random.default_rng(seed)
    near = original.head(copied).with_columns(pl.all() + rng.normal(0, 1e-4, copied))
    held_back = pl.concat([near, held_back.tail(60 - copied)])
    files = [sdc.read(frame, numeric=["x", "y"]) for frame in (original, held_back)]
    scale = original.to_numpy().std(0, ddof=1)
    first, second = original.to_numpy() / scale, held_back.to_numpy() / scale
    share = stands_out(second, first, own=False)
    expected = wilson(share, 60)[0] > stands_out(first, first, own=True) + MORE
    assert not_other_people(*files) == expected == found


@pytest.mark.parametrize("seed", range(4))
def test_other_people_of_the_population_are_other_people(seed):
    assert not not_other_people(microdata(persons(400, seed=seed)), microdata(persons(300, seed=seed + 50)))


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [pl.col("income") * 1.0001],
        [pl.col("age") + 1],
        [pl.col("health").shuffle(seed=1)],
        [(pl.col("income", "savings") / 100).round() * 100],
    ],
    ids=["as they are", "numbers times 1.0001", "a year older", "health shuffled", "rounded to hundreds"],
)
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_people_of_the_original_are_not(changes, share):
    """All of them, or three tenths among other people; in another order."""
    frame = persons(400, seed=1)
    count = int(300 * share)
    mine = frame.sample(count, seed=2).with_columns(changes)
    held_back = pl.concat([mine, persons(300 - count, seed=9)], how="vertical_relaxed").sample(
        fraction=1, shuffle=True, seed=3
    )
    assert not_other_people(microdata(frame), microdata(held_back))


def test_files_with_nothing_to_compare():
    one = sdc.read(pl.DataFrame({"x": [1.0]}), numeric="x")
    other = sdc.read(pl.DataFrame({"x": [2.0, 3.0]}), numeric="x")
    assert not not_other_people(one, other)
