"""Tables that agree, and records drawn down their tree."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from sdckit.models.marginal_tree import marginal_tree, nearest_shares
from sdckit.models.private_marginals import NoisyTables, Sensitivity, noisy_tables

SIZES = (3, 2, 4)


def noisy(seed: int, rho: Fraction) -> NoisyTables:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, 400)
    second = np.where(rng.random(400) < 0.8, first > 0, rng.integers(0, 2, 400)).astype(int)
    codes = np.column_stack([first, second, (first + rng.integers(0, 2, 400)) % 4])
    return noisy_tables(codes, SIZES, rho, Sensitivity.of_records(replaced=False), source=rng.bytes)


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=5))
def test_nearest_shares_are_the_nearest(values: list[float]) -> None:
    x = np.array(values)
    found = nearest_shares(x)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    start = np.full(len(x), 1 / len(x))
    best = minimize(
        lambda p: ((p - x) ** 2).sum(),
        start,
        bounds=[(0, 1)] * len(x),
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
    )
    assert ((found - x) ** 2).sum() <= best.fun + 1e-6


@pytest.mark.parametrize("rho", [Fraction(1, 5000), Fraction(1, 50), Fraction(10)])
@pytest.mark.parametrize("seed", range(4))
def test_margins_agree(rho: Fraction, seed: int) -> None:
    tree = marginal_tree(noisy(seed, rho))
    for (a, b), table in zip(tree.pairs, tree.tables, strict=True):
        assert table.min() >= 0
        assert table.sum(axis=0) == pytest.approx(tree.shares[b], abs=1e-6)
        assert table.sum(axis=1) == pytest.approx(tree.shares[a], abs=2e-3)


def test_without_noise_the_tables_are_those_of_the_data() -> None:
    made = noisy(1, Fraction(10**7))
    tree = marginal_tree(made)
    for (a, b), table, counts in zip(tree.pairs, tree.tables, made.doubles, strict=True):
        assert table == pytest.approx(counts / 400, abs=1e-5)
        assert tree.shares[a] == pytest.approx(counts.sum(axis=1) / 400)
        assert tree.shares[b] == pytest.approx(counts.sum(axis=0) / 400)


def test_drawn_records_follow_the_tables() -> None:
    tree = marginal_tree(noisy(2, Fraction(10)))
    codes = tree.draw(5_000, np.random.default_rng(1))
    assert codes.shape == (5_000, 3)
    for (a, b), table in zip(tree.pairs, tree.tables, strict=True):
        counts = np.bincount(codes[:, a] * SIZES[b] + codes[:, b], minlength=table.size).reshape(table.shape)
        assert np.abs(counts / 5_000 - table).max() < 0.002  # whole numbers in three steps
    firsts = codes[:2_500, 0].mean(), codes[2_500:, 0].mean()
    assert abs(firsts[0] - firsts[1]) < 0.1  # in random order


def test_variables_of_no_pair_are_independent() -> None:
    made = noisy(3, Fraction(10))
    alone = NoisyTables(made.sizes, made.singles, (), (), made.total, made.single_variance, 0.0, made.rho)
    codes = marginal_tree(alone).draw(4_000, np.random.default_rng(1))
    assert abs(np.corrcoef(codes[:, 0], codes[:, 1])[0, 1]) < 0.06


def test_a_rare_category_that_may_be_noise_goes() -> None:
    singles = (np.array([500, 480, 25]), np.array([900, 40]))
    made = NoisyTables((3, 2), singles, (), (), 1000.0, 100.0, 0.0, Fraction(1))
    kept = marginal_tree(made, rare=(2, 1))
    assert kept.shares[0][2] == 0  # 25 is below 3 · 10
    assert kept.shares[1][1] > 0
    assert marginal_tree(made).shares[0][2] > 0
