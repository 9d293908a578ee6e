"""Inference of a sensitive number within a relative error: by hand and against all pairs."""

import numpy as np
import pytest

import naive_intruder as naive
from intruder_files import SIZES, people, pram, suppress_unique
from sdckit.models import _key_looks
from sdckit.models.key_intruder import TooManyCells
from sdckit.models.key_pairs import KeyPairs
from sdckit.models.number_inference import infer_number


def income_of(x, rng):
    return np.exp(0.1 * x[:, 2] + rng.normal(0, 0.1, len(x))) * np.where(rng.random(len(x)) < 0.1, -1, 1)


@pytest.mark.parametrize("name", ["nothing", "suppressed", "PRAM"])
def test_agrees_with_all_persons_against_all_records(name):
    rng = np.random.default_rng(1)
    x = people(150, rng)
    y = {"nothing": x, "suppressed": suppress_unique(x, rng), "PRAM": pram(x, 0.8, rng)}[name]
    true = income_of(x, rng)
    shown = true * rng.uniform(0.97, 1.03, 150)
    shown[::17] = np.nan
    pairs = KeyPairs.of_records(x, y, sizes=SIZES)
    told = infer_number(pairs, true, shown, within=0.1)
    attack = naive.attack(naive.likelihoods(x, y, [c.matrix() for c in pairs.channels()]), np.arange(150))
    for i in range(0, 150, 4):
        near = np.abs(np.nan_to_num(shown, nan=1e9) - true[i]) <= 0.1 * abs(true[i])
        assert told.true_chance[i] == pytest.approx(attack["rho"][i] @ near, abs=1e-9)
        others = attack["odds"][i].copy()
        if not np.isnan(shown[i]):
            others[i] = 0
        share = np.mean(np.abs(true - true[i]) <= 0.1 * abs(true[i]))
        without = others @ near / max(others.sum(), 1) + share * max(1 - others.sum(), 0)
        assert told.without_own[i] == pytest.approx(without, abs=1e-9)
        assert told.true_share[i] == pytest.approx(share)
        guesses = np.concatenate([shown * 1.1, shown * 0.9])
        guesses = guesses[~np.isnan(guesses)]
        best = max(
            attack["rho"][i] @ (np.abs(g - np.nan_to_num(shown, nan=1e9)) <= 0.1 * np.abs(shown) * (1 + 1e-9))
            for g in guesses
        )
        assert told.largest_chance[i] == pytest.approx(best, abs=1e-9)


def test_by_hand():
    x = np.repeat([0, 1, 2], [3, 1, 4])[:, None]
    true = np.array([100.0, 105, 109, 500, 1, 10, 100, 1000])
    told = infer_number(KeyPairs.of_records(x, x), true, true, within=0.1)
    np.testing.assert_allclose(told.true_chance, [1, 1, 1, 1, 0.25, 0.25, 0.25, 0.25])
    assert told.baseline == 0.5  # the guess 110 is within 10 % of 100, 105, 109 and 100
    assert told.right[:4].tolist() == [1, 1, 1, 1]
    assert told.inferred(0.9) == 4
    assert told.inferred_by_own_record(0.9) == 1
    assert told.without_own[3] == pytest.approx(1 / 8)


def test_zero_and_missing():
    x = np.zeros((4, 1), int)
    true = np.array([0.0, 0.0, 5.0, np.nan])
    told = infer_number(KeyPairs.of_records(x, x), true, true, within=0.1)
    np.testing.assert_allclose(told.true_chance[:3], [0.5, 0.5, 0.25])
    assert told.persons == 3
    assert told.baseline == pytest.approx(2 / 3)


def test_some_rows_and_persons_left_out():
    rng = np.random.default_rng(2)
    x = people(200, rng)
    true = income_of(x, rng)
    pairs = KeyPairs.of_records(x, x, sizes=SIZES)
    everybody, some = infer_number(pairs, true, true, within=0.1), np.array([5, 90, 3])
    part = infer_number(pairs, true, true, within=0.1, rows=some)
    np.testing.assert_allclose(part.true_chance, everybody.true_chance[some])
    half = KeyPairs.of_records(x, x, sizes=SIZES, released=np.arange(200) % 2 == 0)
    assert infer_number(half, true, true, within=0.1).believed < everybody.believed


def test_too_many_combinations(monkeypatch):
    for name in ("FEW_TENSOR_CELLS", "MOST_TENSOR_CELLS", "MOST_VISITED"):
        monkeypatch.setattr(_key_looks, name, 1)
    rng = np.random.default_rng(4)
    x = people(100, rng)
    true = income_of(x, rng)
    pairs = KeyPairs.of_records(x, pram(x, 0.5, rng))
    assert isinstance(infer_number(pairs, true, true, within=0.1), TooManyCells)
