"""Exact noise: its distribution, its source, and choices by the exponential mechanism."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from sdckit.models import discrete_gaussian as noise


def probabilities(variance: float) -> tuple[np.ndarray, np.ndarray]:
    values = np.arange(-int(12 * variance**0.5) - 12, int(12 * variance**0.5) + 13)
    mass = np.exp(-(values**2) / (2 * variance))
    return values, mass / mass.sum()


@pytest.mark.parametrize("variance", [Fraction(3, 10), Fraction(1), Fraction(29, 3), Fraction(400)])
def test_distribution_and_variance(variance: Fraction) -> None:
    drawn = noise.discrete_gaussian(variance, 60_000, np.random.default_rng(5).bytes)
    values, p = probabilities(float(variance))
    counts = np.bincount(drawn - values[0], minlength=len(values))
    enough = p * len(drawn) >= 5
    expected = np.append(p[enough], p[~enough].sum()) * len(drawn)
    observed = np.append(counts[enough], counts[~enough].sum())
    assert chisquare(observed, expected).pvalue > 0.001
    assert drawn.var() == pytest.approx(float((p * values**2).sum()), rel=0.03)


@pytest.mark.parametrize("variance", [Fraction(2**26), Fraction(2**26 + 1), Fraction(10**12)])
def test_long_numbers_have_the_same_variance(variance: Fraction) -> None:
    drawn = noise.discrete_gaussian(variance, 20_000, np.random.default_rng(8).bytes)
    assert drawn.var() == pytest.approx(float(variance), rel=0.05)
    assert abs(drawn.mean()) < 4 * (float(variance) / len(drawn)) ** 0.5


def test_the_source_is_asked_and_secret_by_default() -> None:
    first, second = (noise.discrete_gaussian(Fraction(50), 40, np.random.default_rng(1).bytes) for _ in "ab")
    assert first.tolist() == second.tolist()
    assert noise.discrete_gaussian(Fraction(50), 40).tolist() != first.tolist()
    assert noise.discrete_gaussian.__defaults__ is not None
    assert noise.discrete_gaussian.__defaults__[0].__module__ == "secrets"


@pytest.mark.parametrize("bound", [1, 2, 3, 1000, 2**62, 2**62 + 1, 3**60])
def test_uniform_numbers_fill_their_range(bound: int) -> None:
    drawn = noise.uniform_below(bound, 2_000, np.random.default_rng(2).bytes)
    assert min(drawn) >= 0
    assert max(drawn) < bound
    assert float(np.mean([int(x) / bound for x in drawn])) == pytest.approx((bound - 1) / 2 / bound, abs=0.03)


@pytest.mark.parametrize(("top", "bottom"), [(0, 1), (1, 3), (1, 1), (7, 2), (10**20, 3 * 10**20)])
def test_probability_of_an_exponential(top: int, bottom: int) -> None:
    tops = np.full(20_000, top, dtype=object if top > 2**60 else np.int64)
    share = noise.exp_minus(tops, bottom, np.random.default_rng(3).bytes).mean()
    p = np.exp(-top / bottom)
    assert abs(share - p) <= 4 * (p * (1 - p) / 20_000) ** 0.5


def test_choices_follow_their_scores() -> None:
    source = np.random.default_rng(4).bytes
    scores, rate = np.array([-3, 0, 1, 5]), Fraction(2, 5)
    drawn = [noise.exponential_choice(scores, rate, source) for _ in range(3_000)]
    weight = np.exp(0.4 * scores)
    assert chisquare(np.bincount(drawn, minlength=4), 3_000 * weight / weight.sum()).pvalue > 0.001
