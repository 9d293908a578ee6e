"""What records with the same keys mostly show of a sensitive number."""

import itertools

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.kernels.hashing import distinct_rows
from sdckit.risk._alike_numbers import AlikeNumbers
from sdckit.risk._usual_values import BINS, FEWEST, LEARNED, SHOWN, STEPS, usual_values

WITHIN, SURE = 0.1, 0.9


def near(guess: float, values: np.ndarray) -> np.ndarray:
    return np.abs(guess - values) <= WITHIN * np.abs(values)


def closest(numbers: np.ndarray) -> np.ndarray:
    """The most numbers from one to 11/9 of it, which one guess may be near to; of ties the smallest."""
    ratio = (1 + WITHIN) / (1 - WITHIN)
    ends = [x * ratio if x > 0 else x / ratio for x in np.sort(numbers)]
    sets = [numbers[(numbers >= x) & (numbers <= end)] for x, end in zip(np.sort(numbers), ends, strict=True)]
    return max(sets, key=len)


@pytest.mark.parametrize("seed", range(12))
def test_it_is_the_definition(seed):
    """Record by record: the guess beside it, how clear that is, and how often such guesses are right."""
    rng = np.random.default_rng(seed)
    n = 600
    released = rng.integers(-1, 5, (n, seed % 4))
    true = np.where(released.sum(axis=1) % 2 == 0, 50.0 + released.sum(axis=1), rng.normal(0, 9, n))
    shown = np.where(rng.random(n) < 0.2, rng.permutation(true), true)
    shown[rng.random(n) < 0.4] = np.nan
    true[rng.random(n) < 0.05] = np.nan
    most, expected = 0, np.full(n, np.nan)
    for some in (closest, np.asarray):
        guess, clear = np.full(n, np.nan), np.zeros((n, 3), dtype=int)
        for i in range(n):
            beside = shown[(released == released[i]).all(axis=1)]
            numbers = beside[~np.isnan(beside)]
            if len(numbers) >= FEWEST:
                guess[i] = np.median(some(numbers))
                if near(true, guess[i]).sum() >= SURE * (~np.isnan(true)).sum():
                    guess[i] = np.nan  # what everybody knows
                    continue
                close = near(guess[i], numbers).sum()
                part = int(close / len(numbers) * STEPS + 1e-9)
                often = min(int(np.log2(max(close, 1))), BINS)
                clear[i] = part, often, (SHOWN - 1) * len(numbers) // len(beside)
        for least in itertools.product(range(STEPS + 1), range(BINS + 1), range(SHOWN)):
            such = (clear >= least).all(axis=1)
            asked = np.flatnonzero(such & ~np.isnan(guess) & ~np.isnan(true))
            right = sum(near(guess[i], true[i]) for i in asked)
            if len(asked) >= LEARNED and right >= SURE * len(asked) and right > most:
                most, expected = right, np.where(such, guess, np.nan)
    group = distinct_rows([np.zeros(n, dtype=np.int64), *released.T])[1]
    column = AlikeNumbers(shown, true, WITHIN)
    usual = usual_values((group, group), np.arange(n), true, column, SURE)
    np.testing.assert_allclose(usual.guess, expected)
    np.testing.assert_array_equal(usual.right, near(expected, true))


def cells(*, alike: bool) -> sdc.Microdata:
    """In half of 100 cells of ten persons all have one income, or nobody has that of another."""
    rng = np.random.default_rng(2)
    cell = np.repeat(np.arange(100), 10)
    common, own = np.exp(rng.normal(8, 1, 100))[cell], np.exp(rng.normal(8, 1, 1000))
    income = np.where((cell % 2 == 0) & alike, common, own)
    return sdc.read(pl.DataFrame({"cell": cell, "income": income}), keys="cell", sensitive="income")


def inferred(data: sdc.Microdata, shown: np.ndarray) -> float:
    file = data.with_frame(data.frame.with_columns(income=pl.Series(shown).fill_nan(None)))
    return sdc.risk.attribute_inference(data, file, intruders=[sdc.Intruder("one")]).value


@pytest.mark.parametrize("changed", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("blank", [True, False])
def test_neither_blanks_nor_other_numbers_hide_what_the_rest_of_a_cell_shows(blank, changed):
    rng = np.random.default_rng(1)
    for alike, least, most in ((True, 0.4, 0.55), (False, 0.0, 0.02)):
        data = cells(alike=alike)
        true = data.frame["income"].to_numpy()
        other = np.full(1000, np.nan) if blank else rng.permutation(true)
        assert least <= inferred(data, np.where(rng.random(1000) < changed, other, true)) <= most


def test_noise_hides_no_number_that_all_of_a_large_cell_have():
    """Noise of a fifth hides each number, and not the middle of ten."""
    rng = np.random.default_rng(1)
    for alike, least, most in ((True, 0.2, 0.55), (False, 0.0, 0.02)):
        data = cells(alike=alike)
        noise = np.exp(rng.normal(0, 0.15, 1000))
        assert least <= inferred(data, data.frame["income"].to_numpy() * noise) <= most
