"""The attack with contenders and samples gives what the whole matrix of persons and records gives."""

import numpy as np
import pytest

from linked_cases import exchanged, noisy, randomised_keys, shuffled_rows, skewed
from naive_linked import naive_attack
from sdckit.models import linked_files, number_intruder
from sdckit.models.number_intruder import Attack, attack_numbers, known_values

N = 240


def blanked(x, share):
    """Some true values missing (and blank in the release), some others blanked."""
    rng = np.random.default_rng(9)
    x = np.where(rng.random(x.shape) < share, np.nan, x)
    return x, np.where(np.isnan(x) | (rng.random(x.shape) < share / 2), np.nan, 1.0)


CASES = {
    "noise": {"error": 0.1},
    "noise, exactly known": {"error": 0.0},
    "exchanged": {"error": 0.0, "protect": exchanged},
    "rounded": {"error": 0.0, "protect": lambda x, _: np.round(x)},
    "missing": {"error": 0.1, "missing": 0.2},
    "rounded, missing": {"error": 0.0, "missing": 0.2, "protect": lambda x, _: np.round(x)},
    "dropped": {"error": 0.0, "missing": 0.1, "protect": exchanged, "kept": 0.7},
    "no exact key": {"error": 0.1, "exact": ()},
    "numbers alone": {"error": 0.1, "keys": 0},
    "numbers alone, exchanged": {"error": 0.0, "keys": 0, "protect": exchanged},
    "keys alone": {"error": 0.1, "numbers": 0, "keys": 5, "exact": ()},
}


def case(*, error, protect=noisy, missing=0.0, kept=1.0, keys=2, exact=(0,), numbers=2):
    x = skewed(N, numbers)
    y = protect(x, 0.3)
    if missing:
        x, shown = blanked(x, missing)
        y = y * shown
    known_keys = randomised_keys(N, keys, exact=exact) if keys else None
    y, known_keys, own = shuffled_rows(y, known_keys, kept=kept)
    return x, y, own, known_keys, np.full(numbers, error)


def both(name):
    x, y, own, keys, errors = case(**CASES[name])
    result = attack_numbers(x, y, own, errors=errors, keys=keys)
    known = known_values(x, errors, np.arange(N))
    return result, naive_attack(known, y, own, result.channels, keys), own


@pytest.mark.parametrize("name", CASES)
def test_all_records_looked_at(name):
    result, (shares, likelihood, believed, posterior), own = both(name)
    assert result.attacks[Attack.SHARES] == pytest.approx(shares.mean(), abs=1e-12)
    assert result.attacks[Attack.LIKELIHOOD] == pytest.approx(likelihood.mean(), abs=1e-12)
    assert not result.found[own < 0].any()
    if result.attack is not Attack.NORMAL_KERNEL:
        np.testing.assert_allclose(result.believed, believed, rtol=1e-6)
        np.testing.assert_allclose(result.posterior, posterior, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_contenders_only(name, monkeypatch):
    monkeypatch.setattr(number_intruder, "EXACT", 0)
    monkeypatch.setattr(linked_files, "ROWS_IN_TOTAL", N)
    result, (shares, likelihood, believed, _), _ = both(name)
    assert result.attacks[Attack.SHARES] == pytest.approx(shares.mean(), abs=1e-12)
    assert result.attacks[Attack.LIKELIHOOD] == pytest.approx(likelihood.mean(), abs=1e-12)
    assert result.open == 0
    if result.attack is not Attack.NORMAL_KERNEL:
        assert result.believed.sum() == pytest.approx(believed.sum(), rel=0.03)


@pytest.mark.parametrize("name", CASES)
def test_sampled_totals(name, monkeypatch):
    """Forty persons stand for up to 240."""
    monkeypatch.setattr(number_intruder, "EXACT", 0)
    monkeypatch.setattr(linked_files, "ROWS_IN_TOTAL", 40)
    result, (shares, likelihood, believed, _), _ = both(name)
    assert result.attacks[Attack.SHARES] == pytest.approx(shares.mean(), abs=0.015)
    assert result.attacks[Attack.LIKELIHOOD] == pytest.approx(likelihood.mean(), abs=1e-12)
    if result.attack is not Attack.NORMAL_KERNEL:
        assert result.believed.sum() == pytest.approx(believed.sum(), rel=0.08)


@pytest.mark.parametrize("few_cells", [0, 10_000])
def test_attack_broken_off_is_an_upper_bound(few_cells, monkeypatch):
    monkeypatch.setattr(number_intruder, "EXACT", 0)
    monkeypatch.setattr(linked_files, "ROWS_IN_TOTAL", 40)
    monkeypatch.setattr(linked_files, "WORK", 1)
    monkeypatch.setattr(linked_files, "WORK_BLOCK", 1)
    monkeypatch.setattr(linked_files, "FEW_CELLS", few_cells)
    result, (shares, _, _, _), _ = both("no exact key")
    assert result.open > 0
    assert result.attacks[Attack.SHARES] >= shares.mean() * 0.95
    assert result.attacks[Attack.SHARES] == pytest.approx(shares.mean(), rel=0.1)


def test_shuffled_columns_tell_nothing_to_samples_either(monkeypatch):
    monkeypatch.setattr(number_intruder, "EXACT", 0)
    monkeypatch.setattr(linked_files, "ROWS_IN_TOTAL", 40)
    rng = np.random.default_rng(5)
    x = skewed(600, 2)
    found = [
        attack_numbers(x, rng.permuted(x, axis=0), np.arange(600), errors=np.full(2, error)).found.sum()
        for error in (0.0, 0.1, 0.0, 0.1)
    ]
    assert np.mean(found) <= 4
