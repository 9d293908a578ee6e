"""Factors, limits and the two-stage test: stored grids, stored contaminated files, level on clean data."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from conftest import oracle_cases
from sdckit.models.mcd import consistency
from sdckit.models.robust_distances import (
    SmallSample,
    cutoffs,
    p_values,
    robust_distances,
    simulated_factor,
    simultaneous,
)
from sdckit.models.small_sample import small_sample_factor
from sdckit.models.trimmed_mixture import TrimmedMixture, trimmed_mixture


def named(start):
    return pytest.mark.parametrize("case", oracle_cases("09", lambda c: c["id"].startswith(start)))


def table(oracles, case):
    return np.genfromtxt(oracles.path(case["dataset"]["csv"]), delimiter=",", skip_header=1)


@named("mcd_smallsample")
def test_stored_small_sample_factors(oracles, case):
    for row in case["expected"]["grid"]:
        n, p, share = row["n"], row["p"], row["alpha"]
        assert small_sample_factor(n, p, share) == pytest.approx(row["cnp2_raw"], rel=1e-12)
        assert small_sample_factor(n, p, share, reweighted=True) == pytest.approx(row["cnp2_rew"], rel=1e-12)


@named("distance_cutoffs")
def test_stored_limits(oracles, case):
    for row in case["expected"]["grid"]:
        inside, outside = cutoffs(row["level"], row["n_g"], row["p"])
        assert inside == pytest.approx(row["cutoff_beta"], rel=1e-9)
        assert outside == pytest.approx(row["cutoff_F"], rel=1e-9)
        if row["level"] != 0.05:
            assert simultaneous(0.05, row["n_g"]) == pytest.approx(row["level"], rel=1e-9)


@named("covMcd")
def test_stored_factors_of_covmcd_give_its_raw_distances(oracles, case):
    data, expected = table(oracles, case), case["expected"]
    x = data[data[:, 6] == 1, :6]
    n, p, share = len(x), 6, case["params"]["alpha"]
    best = x[np.array(expected["best"]) - 1]
    factors = consistency(expected["h"] / n, p), small_sample_factor(n, p, share)
    assert factors == pytest.approx(expected["raw_cnp2"], rel=1e-9)
    away = x - best.mean(axis=0)
    covariance = np.cov(best.T) * math.prod(factors)
    assert covariance == pytest.approx(np.array(expected["raw_cov"]), rel=1e-9)
    squares = np.einsum("ij,ij->i", away @ np.linalg.inv(covariance), away)
    assert squares == pytest.approx(expected["raw_mah"], rel=1e-8)
    weights = np.array(expected["raw_weights"]) > 0
    assert small_sample_factor(n, p, share, reweighted=True) == pytest.approx(expected["cnp2"][1], rel=1e-9)
    assert consistency(weights.mean(), p) == pytest.approx(expected["cnp2"][0], rel=1e-9)
    assert ((squares < chi2.ppf(0.975, p)) == weights).all()


@given(n=st.integers(8, 300), p=st.integers(1, 5), level=st.floats(1e-6, 0.5))
def test_p_values_are_the_inverse_of_the_limits(n, p, level):
    if n <= p + 1:
        return
    inside, outside = cutoffs(level, n, p)
    found = p_values(np.array([inside, outside]), n, p, np.array([True, False]))
    assert found == pytest.approx([level, level], rel=1e-6)
    assert 0 < simultaneous(level, n) <= level


def test_the_simulated_factor_is_near_the_formula_and_always_the_same():
    found = simulated_factor(40, 30, 2)
    assert found == pytest.approx(small_sample_factor(40, 2, 0.75) * 30 / 29, rel=0.06)
    simulated_factor.cache_clear()
    assert simulated_factor(40, 30, 2) == found
    assert simulated_factor(400, 300, 1) == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("small_sample", [SmallSample.FORMULA, SmallSample.NONE])
@named("sim_")
def test_stored_contamination_is_found(oracles, case, small_sample):
    data = table(oracles, case)
    fit = trimmed_mixture(data[:, :6], components=(1, 2, 3), smallest=math.ceil(len(data) / 10))
    found = robust_distances(fit, small_sample=small_sample)
    bad = data[:, 6] == 0
    assert found.atypical[bad].mean() >= 0.85 if bad.any() else True
    assert found.atypical[~bad].mean() <= 0.06
    assert (found.p_value == found.p_values.max(axis=1)).all()


def test_clean_data_are_seldom_rejected():
    rejected, atypical = [], []
    for seed in range(40):
        x = np.random.default_rng(seed).normal(size=(100, 3))
        found = robust_distances(trimmed_mixture(x, components=(1,), starts=5))
        rejected.append(found.rejected.any())
        atypical.append(found.atypical.mean())
    assert np.mean(rejected) <= 0.25
    assert np.mean(atypical) <= 0.03


def test_without_a_rejected_component_nothing_is_tested_at_the_full_level():
    x = np.random.default_rng(0).uniform(-1, 1, size=(60, 2))
    found = robust_distances(trimmed_mixture(x, components=(1,), trim=0.1))
    assert not found.rejected.any()
    assert not found.atypical.any()
    assert (found.p_value < 0.05).any()


def test_a_component_without_reference_distribution_makes_nothing_typical():
    fit = trimmed_mixture(np.random.default_rng(0).normal(size=(4, 2)), components=(1,), trim=0, smallest=1)
    small = robust_distances(fit)
    assert (fit.sizes == 4).all()
    assert np.isfinite(small.squares).all()
    three = trimmed_mixture(np.random.default_rng(0).normal(size=(3, 2)), components=(1,), trim=0, smallest=1)
    assert three is None or (robust_distances(three).p_value == 0).all()


@pytest.mark.parametrize("trim", [0.45, 0.48, 0.499])
def test_where_half_of_a_component_is_kept_the_formula_stands_in(trim):
    x = np.random.default_rng(1).normal(size=(40, 2))
    fit = trimmed_mixture(x, components=(1,), trim=trim)
    fewer = TrimmedMixture(
        fit.mixture, np.arange(40) < 20, fit.component, fit.squares, fit.history, fit.counts
    )
    for half in (fit, fewer):
        factors = [robust_distances(half, small_sample=s).factors[0] for s in SmallSample]
        assert np.isfinite(factors).all()
    assert factors[0] == factors[1]
