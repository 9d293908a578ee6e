"""Several files released together: the same records with noise, again and again, are known by their mean."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.people import persons
from attacks.tools import found_near
from sdckit.choose.criteria import Status
from sdckit.choose.sets_together import columns_that_agree, sets_together

N, M = 400, 25
NAMES = ["x", "y", "z"]


def copies(noise: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Numbers of persons, and as many files of them with noise, all in the same hidden order."""
    rng = np.random.default_rng(1)
    true = rng.normal(0, 1, (N, 3))
    hidden = rng.permutation(N)
    return true[hidden], [(true + rng.normal(0, noise, (N, 3)))[hidden] for _ in range(M)]


def read(values: np.ndarray, order: np.ndarray | None = None, *, ids: bool = False) -> sdc.Microdata:
    frame = pl.DataFrame(values, schema=NAMES).with_row_index("id")
    frame = frame if order is None else frame[order]
    return sdc.read(frame if ids else frame.drop("id"), numeric=NAMES, **({"id": "id"} if ids else {}))


def status(sets: list[sdc.Microdata]) -> Status:
    (criterion,) = sets_together(sets)
    return criterion.status


def test_the_mean_of_many_noisy_copies_finds_persons():
    true, made = copies(noise=3)
    assert found_near(true, np.mean(made, axis=0)) > 4 * max(found_near(true, one) for one in made[:5])
    assert status([read(one) for one in made]) is Status.NOT_JUDGED


def test_in_other_orders_the_ids_tell():
    _, made = copies(noise=1)
    orders = [np.random.default_rng(seed).permutation(N) for seed in range(M)]
    pairs = list(zip(made, orders, strict=True))
    assert status([read(one, order, ids=True) for one, order in pairs]) is Status.NOT_JUDGED
    assert status([read(one, order) for one, order in pairs]) is Status.MET


def test_two_files_of_many_are_enough():
    rng = np.random.default_rng(2)
    _, made = copies(noise=0.5)
    sets = [*made[:2], *(rng.normal(0, 1, (N, 3)) for _ in range(10))]
    assert status([read(one) for one in sets]) is Status.NOT_JUDGED
    assert status([read(one) for one in sets[1:]]) is Status.MET


@pytest.mark.parametrize("column", ["sex", "occupation", "health"])
def test_categories_that_were_drawn_anew_now_and_then(column):
    frame = persons(N, 3).select(column)
    rng = np.random.default_rng(4)
    changed = [
        frame.with_columns(
            pl.when(pl.Series(rng.random(N) < 0.6))
            .then(pl.col(column).shuffle(seed=int(rng.integers(99))))
            .otherwise(pl.col(column))
        )
        for _ in range(4)
    ]
    assert columns_that_agree(changed) == [column]
    assert (
        columns_that_agree([one.sample(fraction=1, shuffle=True, seed=k) for k, one in enumerate(changed)])
        == []
    )


def test_chance_is_rarely_taken_for_more():
    rng = np.random.default_rng(5)
    drawn = [
        [pl.DataFrame({"a": rng.choice(list("abcdefgh"), 60), "b": rng.normal(size=60)}) for _ in range(5)]
        for _ in range(100)
    ]
    assert not any(columns_that_agree(frames) for frames in drawn)


def test_honest_sets_have_nothing_in_common():
    data = sdc.demo.survey(n=500, seed=1)
    sets = sdc.synthesize(data, m=4, seed=3)
    assert status(sets) is Status.MET
    assert list(sets_together(sets[:1])) == []
