"""Which numbers were changed by one of a few amounts or factors."""

import numpy as np
import pytest

from sdckit.models.few_changes import few_changes


def draws():
    return np.random.default_rng(9)


@pytest.fixture
def numbers():
    return np.random.default_rng(1).uniform(900, 5000, 400).round(2)


def test_amounts_and_their_shares(numbers):
    added = np.repeat([-50.0, 30.0, 75.5], [200, 100, 100])
    found = few_changes(numbers, numbers + added, draws())
    assert not found.factors
    assert dict(zip(found.amounts.round(2), found.shares, strict=True)) == {-50: 0.5, 30: 0.25, 75.5: 0.25}


def test_factors_are_found_behind_rounding(numbers):
    found = few_changes(numbers, (numbers * np.tile([0.8, 1.25], 200)).round(2), draws())
    assert found.factors
    assert sorted(found.amounts) == pytest.approx([0.8, 1.25], abs=1e-5)
    assert found.shares.sum() == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("decimals", [0, 2, 9])
@pytest.mark.parametrize("sd", [20.0, 500.0])
def test_noise_with_a_density_is_none_of_them(sd, decimals):
    """Some differences and factors of two thousand recur; learned of the very pairs they found too many."""
    rng = np.random.default_rng(3)
    incomes = rng.uniform(900, 5000, 2000).round(0)
    assert few_changes(incomes, (incomes + rng.normal(0, sd, 2000)).round(decimals), draws()) is None


def test_neighbouring_amounts_are_few_changes(numbers):
    found = few_changes(numbers, numbers + np.tile([-2.0, -1.0, 0.0, 1.0, 2.0], 80), draws())
    assert found.shares == pytest.approx(np.full(5, 0.2))


def test_numbers_that_stayed_were_not_changed(numbers):
    assert few_changes(numbers, numbers, draws()) is None


def test_a_few_released_values_are_left_to_other_attacks(numbers):
    assert few_changes(numbers, np.tile([1.0, 2.0], 200), draws()) is None


def test_too_few_records():
    assert few_changes(np.array([1.0, 2.0]), np.array([2.0, 3.0]), draws()) is None
