"""What records with the same keys mostly show of a sensitive column."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.risk._alike_records import LEAST, mostly_shown
from sdckit.risk._usual_values import BINS, FEWEST, LEARNED, STEPS


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_definition(seed):
    """Record by record: which value do records with its keys mostly show, in which part, and how many?"""
    rng = np.random.default_rng(seed)
    n, size = 400, 3
    released = rng.integers(-1, 4, (n, seed % 3))
    shown = np.where(released.sum(axis=1) % 2 == 0, 0, rng.integers(0, size, n))
    shown = np.where(rng.random(n) < 0.2, rng.integers(0, size, n), shown)
    shown[rng.random(n) < 0.4] = -1
    kinds: dict[tuple[int, ...], list[int]] = {}
    unclear = set()
    for i in range(n):
        beside = shown[(released == released[i]).all(axis=1) & (shown >= 0)]
        counts = np.bincount(beside, minlength=size)
        most = counts.max()
        if most == np.sort(counts)[-2]:  # either of two values
            unclear.add(i)
        elif most >= FEWEST and most >= LEAST * len(beside):
            part = int(most / len(beside) * STEPS + 1e-9)
            kinds.setdefault((counts.argmax(), part, min(int(np.log2(most)), BINS)), []).append(i)
    found, many = mostly_shown(released, shown, size)
    clear = [i for i in range(n) if i not in unclear]
    expected = {i: kind for kind, rows in kinds.items() if len(rows) >= LEARNED for i in rows}
    if not unclear:
        assert many == len(set(expected.values()))
    codes = {i: found[i] for i in clear if found[i] >= 0}
    assert {i for i in codes if i in expected} == {*expected}
    assert len({(codes[i], expected[i]) for i in expected}) == len(set(expected.values()))
    assert found.max() < many


def cells(*, alike: bool) -> sdc.Microdata:
    """Half of 100 cells of ten persons are all ill, or as many of their persons at random."""
    rng = np.random.default_rng(2)
    cell = np.repeat(np.arange(100), 10)
    other = rng.choice(["b", "c", "d"], 1000)
    ill = cell % 2 == 0 if alike else rng.random(1000) < 0.5
    frame = pl.DataFrame({"cell": cell, "health": np.where(ill, "a", other)})
    return sdc.read(frame, keys="cell", sensitive="health")


def inferred(data: sdc.Microdata, shown: sdc.Microdata) -> float:
    return sdc.risk.attribute_inference(data, shown, intruders=[sdc.Intruder("one")]).value


@pytest.mark.parametrize("blank", [0.0, 0.3, 0.5])
def test_blanks_hide_no_value_that_all_others_show(blank):
    gone = pl.when(pl.Series(np.random.default_rng(1).random(1000) >= blank)).then("health").alias("health")
    for alike, expected in ((True, 0.5), (False, 0.0)):
        data = cells(alike=alike)
        shown = data.with_frame(data.frame.with_columns(gone))
        assert inferred(data, shown) == pytest.approx(expected, abs=0.08)  # of ten guesses one may be wrong


@pytest.mark.parametrize("stay", [0.9, 0.8])
def test_values_exchanged_at_random_hide_none_that_most_show(stay):
    """Who takes the value that seven in ten of a cell show is right for 49 of 50 persons."""
    for alike, least, most in ((True, 0.35, 0.55), (False, 0.0, 0.05)):
        data = cells(alike=alike)
        assert least <= inferred(data, sdc.protect.pram(data, variables="health", stay=stay, rng=1)) <= most


def taken_by_hand(cell: np.ndarray, true: np.ndarray, shown: np.ndarray) -> float:
    """The most persons of whom what clear cells mostly show is right, where it is in nine of ten."""
    best = 0.0
    counts = np.zeros((cell.max() + 1, 11))
    np.add.at(counts, (cell, shown), 1)  # blanks, −1, are in the last column
    most, mode, number = (f(counts[:, :-1], axis=1) for f in (np.max, np.argmax, np.sum))
    for least in (2, 3, 4):
        for part in (0.4, 0.5, 0.6, 0.8, 1):
            clear = ((most >= least) & (most >= part * number))[cell]
            right = clear & (true == mode[cell])
            if clear.sum() >= LEARNED and right.sum() >= 0.9 * clear.sum():
                best = max(best, right.mean())
    return best


@pytest.mark.parametrize("seed", range(4))
def test_many_values_in_small_files_are_inferred_as_by_hand(seed):
    rng = np.random.default_rng(seed)
    cell = np.repeat(np.arange(60), 8)
    true = np.where(rng.random(60)[cell] < 0.5, rng.integers(0, 10, 60)[cell], rng.integers(0, 10, 480))
    shown = np.where(rng.random(480) < 0.4, -1 if seed % 2 else rng.integers(0, 10, 480), true)
    data = sdc.read(pl.DataFrame({"cell": cell, "ill": true.astype(str)}), keys="cell", sensitive="ill")
    values = pl.Series("ill", [None if x < 0 else str(x) for x in shown])
    by_hand = taken_by_hand(cell, true, shown)
    assert by_hand > 0.3
    assert by_hand - 0.01 <= inferred(data, data.with_frame(data.frame.with_columns(values))) < by_hand + 0.1


def test_a_blank_among_several_columns_with_the_same_answers_is_no_other_answer():
    rng = np.random.default_rng(3)
    cell = np.repeat(np.arange(60), 10)
    one = np.where(cell % 2 == 0, "A", rng.choice(list("BCD"), 600))
    other, swapped = rng.choice(list("BCDE"), 600), rng.random(600) < 0.5
    answers = {"first": np.where(swapped, other, one), "second": np.where(swapped, one, other)}
    data = sdc.read(pl.DataFrame({"cell": cell, **answers}), keys="cell", sensitive=list(answers))
    gone = [pl.when(pl.Series(rng.random(600) >= 0.3)).then(c).alias(c) for c in answers]
    shown = data.with_frame(data.frame.with_columns(gone))
    assert sdc.risk.attribute_inference(data, shown).value > 0.4
