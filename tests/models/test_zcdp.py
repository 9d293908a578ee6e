"""The accountant: exact fractions, and the conversion to ε and δ."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from sdckit.models.zcdp import (
    epsilon_of,
    exponential_cost,
    gaussian_cost,
    rate_for,
    rho_of,
    variance_for,
)


def delta_by_grid(rho: float, epsilon: float) -> float:
    """The bound of Canonne, Kamath & Steinke (2020) over a fine grid of α."""
    alpha = 1 + np.logspace(-4, 4, 400_001)
    log_delta = (alpha - 1) * (alpha * rho - epsilon) - np.log(alpha - 1) + alpha * np.log1p(-1 / alpha)
    return float(np.exp(log_delta.min()))


@pytest.mark.parametrize("rho", [0.001, 0.02, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-6, 1e-2])
def test_conversion_is_the_published_bound(rho: float, delta: float) -> None:
    assert delta_by_grid(rho, epsilon_of(rho, delta)) == pytest.approx(delta, rel=1e-4)


def test_worked_by_hand_near_the_best_alpha() -> None:
    """ρ = ½ at α = 6 gives 6·½ + (log(1/δ) + 5·log(5/6) − log 6)/5; the least is just below that."""
    at_six = 3 + (math.log(1e6) + 5 * math.log(5 / 6) - math.log(6)) / 5
    assert at_six == pytest.approx(5.22243, abs=1e-5)
    assert at_six - 0.001 < epsilon_of(0.5, 1e-6) <= at_six


@pytest.mark.parametrize("rho", [0.01, 0.1, 1.0])
def test_between_the_exact_gaussian_and_the_simple_bound(rho: float) -> None:
    """The Gaussian mechanism has this ρ and an exact curve (Balle & Wang 2018): no bound can be below it."""
    delta, mu = 1e-5, math.sqrt(2 * rho)
    epsilon = epsilon_of(rho, delta)
    exact = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert exact <= delta
    assert exact > delta / 100
    assert epsilon < rho + 2 * math.sqrt(rho * math.log(1 / delta))


@given(st.floats(0.01, 50), st.sampled_from([1e-12, 1e-6, 1e-3]))
def test_rho_is_the_largest_within_epsilon(epsilon: float, delta: float) -> None:
    rho = rho_of(epsilon, delta)
    assert epsilon_of(rho, delta) <= epsilon
    assert epsilon_of(rho * 1.0001, delta) > epsilon


def test_no_noise_budget_costs_nothing() -> None:
    assert epsilon_of(0.0, 1e-6) == 0.0


@given(st.fractions(Fraction(1, 10**6), 10), st.integers(1, 12))
def test_noise_never_costs_more_than_its_share(rho: Fraction, members: int) -> None:
    variance = variance_for(rho, members**2)
    assert gaussian_cost(variance, members**2) <= rho
    assert gaussian_cost(variance * Fraction(99, 100) - Fraction(1, 512), members**2) > rho or variance < 1
    rate = rate_for(rho, members)
    assert exponential_cost(rate, members) <= rho
    assert exponential_cost(rate + Fraction(1, 2**39), members) > rho


def test_costs_by_hand() -> None:
    assert gaussian_cost(Fraction(100), 1) == Fraction(1, 200)
    assert gaussian_cost(Fraction(100), 2) == Fraction(1, 100)
    assert gaussian_cost(Fraction(100), 4**2) == Fraction(2, 25)
    assert exponential_cost(Fraction(1, 2), 1) == Fraction(1, 8)  # an ε of 2·½·1 = 1: ε²/8
    assert exponential_cost(Fraction(1, 2), 2) == Fraction(1, 2)
