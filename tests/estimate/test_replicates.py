"""Replicate weights. Bootstrap spreads are tested at 4 Monte Carlo errors: 1 false alarm in 16,000."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_estimates as naive
import sdckit as sdc
from sdckit.estimate.design import Design
from sdckit.estimate.replicates import Method, given_replicates, replicates
from sdckit.kernels.replicates import bootstrap_weights

RNG = np.random.default_rng(8)
N = 60
H = np.repeat([0, 1, 2], [30, 24, 6])
C = np.concatenate([np.arange(30) // 3, 10 + np.arange(24) // 2, 22 + np.arange(6) // 2])
X, W = RNG.lognormal(size=N), RNG.uniform(1, 3, N)
DESIGN = Design(W, H, C, np.zeros(3))


def drawn(design, method, number=4000, **more):
    return np.concatenate(list(replicates(design, method, number, seed=5, **more)))


def within_error(found, expected, number):
    """A sample variance of `number` draws has a relative standard error of about √(2/number)."""
    return abs(found / expected - 1) < 4 * math.sqrt(2 / number)


def test_naive_bootstrap_of_a_total_has_its_known_expectation():
    totals = drawn(DESIGN, Method.BOOTSTRAP) @ X
    u = np.bincount(C, weights=W * X)
    home = np.array([0] * 10 + [1] * 12 + [2] * 3)
    expected = sum((home == h).sum() * u[home == h].var() for h in range(3))
    assert within_error(totals.var(ddof=1), expected, 4000)


def test_rescaled_bootstrap_of_a_total_is_unbiased_also_in_a_stratum_with_three_units():
    expected = DESIGN.variance(W * X)
    assert within_error((drawn(DESIGN, Method.RESCALED) @ X).var(ddof=1), expected, 4000)
    finite = Design(W, H, C, np.array([0.5, 0.0, 0.9]))
    found = (drawn(finite, Method.RESCALED) @ X).var(ddof=1)
    assert within_error(found, finite.variance(W * X), 4000)


def test_a_cluster_is_drawn_as_a_whole_and_strata_keep_their_number_of_units():
    ratios = drawn(DESIGN, Method.BOOTSTRAP, 50) / W
    sets = np.round(ratios)
    assert np.allclose(sets, ratios)
    for c in range(25):
        assert (sets[:, c == C] == sets[:, c == C][:, :1]).all()
    first = [np.flatnonzero(c == C)[0] for c in range(25)]
    home = H[first]
    assert all((sets[:, first][:, home == h].sum(axis=1) == (home == h).sum()).all() for h in range(3))


def test_calibrated_replicates_meet_every_margin():
    sex, age = RNG.integers(0, 2, N), RNG.integers(0, 3, N)
    sets = drawn(DESIGN, Method.CALIBRATED, 200, margins=[sex, age])
    for margin in (sex, age):
        for code in range(margin.max() + 1):
            assert np.allclose(sets[:, margin == code].sum(axis=1), W[margin == code].sum(), rtol=1e-6)


def test_the_same_seed_gives_the_same_sets_and_another_gives_others():
    one, two = (np.concatenate(list(replicates(DESIGN, Method.BOOTSTRAP, 5, seed=s))) for s in (1, 1))
    assert (one == two).all()
    assert (one != np.concatenate(list(replicates(DESIGN, Method.BOOTSTRAP, 5, seed=2)))).any()


def test_jackknife_is_exact():
    sets = replicates(DESIGN, Method.JACKKNIFE, 0)
    weights = np.concatenate(list(sets))
    assert weights.shape == (25, N)
    total = sets.scale @ (weights @ X - W @ X) ** 2
    assert total == pytest.approx(DESIGN.variance(W * X))
    gini = [naive.gini(X, w) for w in weights]
    expected = naive.jackknife_variance(naive.gini, X, W, H.tolist(), C.tolist())
    assert sets.scale @ (np.array(gini) - naive.gini(X, W)) ** 2 == pytest.approx(expected)


def test_a_jackknife_of_too_many_units_says_what_to_do():
    with pytest.raises(sdc.SdcError, match="taylor"):
        replicates(Design.simple(np.ones(100_000)), Method.JACKKNIFE, 0)


def test_given_weights_are_used_as_they_are():
    sets = given_replicates(DESIGN, np.array([W * 2, W]), np.full(2, 0.5))
    assert sets.scale.tolist() == [0.5, 0.5]
    assert (next(iter(sets)) == [W * 2, W]).all()


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.integers(0, 1000), st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_kernel_draws_as_its_plain_twin(sizes, seed, short):
    rng = np.random.default_rng(seed)
    m = sum(sizes)
    size = np.repeat(sizes, sizes)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    if short:
        size[np.arange(m) == first + size - 1] = 0
    cluster, w = rng.integers(0, m, 3 * m), rng.uniform(1, 2, 3 * m)
    base, gain, uniforms = rng.random(m), rng.random(m), rng.random((4, m))
    out = np.empty((4, 3 * m))
    bootstrap_weights(uniforms, first, size, base, gain, cluster, w, out)
    for u, row in zip(uniforms, out, strict=True):
        assert row.tolist() == naive.bootstrap_weights(u, first, size, base, gain, cluster, w)
