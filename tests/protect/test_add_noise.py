"""add_noise: what each method promises, in expectation or exactly.

Monte Carlo tests allow 4.5 standard errors: a right method fails one comparison in 150,000, so that with
another seed one run in some thousands would fail. The seeds are fixed.
"""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sdckit as sdc
from conftest import oracle_cases
from sdckit.errors import ColumnError, DataError, OptionError

METHODS = ["additive", "correlated", "kim", "restricted", "outliers", "multiplicative"]
ERRORS = 4.5


def numbers(x, **more):
    frame = pl.DataFrame({f"x{j}": x[:, j] for j in range(x.shape[1])}).fill_nan(None)
    return sdc.read(frame.with_columns(**more), numeric=[f"x{j}" for j in range(x.shape[1])])


def noisy(data, rng, **options):
    return sdc.protect.add_noise(data, rng=rng, **options).frame.select(data.roles.numeric).to_numpy()


def skewed(n, seed=0):
    """Three related variables with a long tail, in different units."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=n)
    return np.exp(0.5 * common[:, None] + 0.4 * rng.normal(size=(n, 3))) * [1, 1000, 0.01]


def agrees(draws, expected):
    """Whether the mean of the draws is within Monte Carlo error of what it should be."""
    error = draws.std(axis=0, ddof=1) / math.sqrt(len(draws))
    return (np.abs(draws.mean(axis=0) - expected) <= ERRORS * error).all()


def moments(x, runs=80, **options):
    """Means and covariances of files with noise; 80 of 300 records tell a share as well as 400 of 60."""
    data = numbers(x)
    draws = [noisy(data, seed, **options) for seed in range(runs)]
    return np.array([d.mean(axis=0) for d in draws]), np.array([np.cov(d, rowvar=False) for d in draws])


def test_kim_keeps_means_and_covariance_in_expectation():
    x = skewed(300)
    means, covariances = moments(x, method="kim", variance=0.7)
    assert agrees(means, x.mean(axis=0))
    assert agrees(covariances, np.cov(x, rowvar=False))
    assert not agrees(covariances, 1.05 * np.cov(x, rowvar=False)), "the test can tell five percent"


def test_additive_noise_has_its_variance_and_no_covariance():
    x = skewed(300)
    s = np.cov(x, rowvar=False)
    means, covariances = moments(x, method="additive", sd=0.5)
    assert agrees(means, x.mean(axis=0))
    assert agrees(covariances, s + 0.25 * np.diag(np.diag(s)))


def test_correlated_noise_multiplies_the_covariance():
    x = skewed(300)
    means, covariances = moments(x, method="correlated", sd=0.5)
    assert agrees(means, x.mean(axis=0))
    assert agrees(covariances, 1.25 * np.cov(x, rowvar=False))


def test_multiplicative_noise_is_a_percentage():
    x = np.full((20_000, 1), 50.0)
    x[:10] = 0.0
    x[10:20] = -1.0
    y = noisy(numbers(x), 1, method="multiplicative", sd=0.1)
    assert (np.sign(y) == np.sign(x)).all(), "zeros and signs stay"
    factor = y[20:] / 50
    assert factor.mean() == pytest.approx(1.0, abs=ERRORS * 0.1 / math.sqrt(20_000))
    assert factor.std() == pytest.approx(0.1, rel=0.03)


@pytest.mark.parametrize("sd", [0.1, 1.0, 10.0])
def test_restricted_noise_keeps_means_and_covariance_exactly(sd):
    x = skewed(200)
    y = noisy(numbers(x), 1, method="restricted", sd=sd)
    assert y.mean(axis=0) == pytest.approx(x.mean(axis=0), rel=1e-12)
    assert np.cov(y, rowvar=False) == pytest.approx(np.cov(x, rowvar=False), rel=1e-11)


def test_restricted_noise_is_as_strong_as_kim_s():
    x = skewed(2000)
    for sd in (0.3, 1.0):
        for method in ("restricted", "kim"):
            y = noisy(numbers(x), 1, method=method, sd=sd)
            kept = [np.corrcoef(x[:, j], y[:, j])[0, 1] for j in range(3)]
            assert kept == pytest.approx([1 / math.sqrt(1 + sd**2)] * 3, abs=0.04)


def test_only_outliers_get_noise():
    x = np.random.default_rng(0).normal(size=(300, 2))
    x[:10] += 50
    x[10] = [4.0, np.nan]  # far in the variable it has
    x[11] = [0.1, np.nan]
    y = noisy(numbers(x), 1, method="outliers", sd=0.5)
    touched = (y != x) & ~np.isnan(x)
    assert touched[:10].all()
    assert touched[10, 0]
    assert not touched[11].any()
    assert touched[12:].any(axis=1).mean() < 0.08
    noise = noisy(numbers(np.vstack([x] * 20)), 1, method="outliers", sd=0.5) - np.vstack([x] * 20)
    share = noise[np.arange(len(noise)) % 300 < 10].std(axis=0) / np.nanstd(x, axis=0)
    assert share == pytest.approx([0.5, 0.5], rel=0.2)


def test_where_most_records_share_a_value_all_others_are_outliers():
    x = np.column_stack(
        [np.where(np.arange(100) < 70, 0.0, np.arange(100)), np.random.default_rng(0).normal(size=100)]
    )
    y = noisy(numbers(x), 1, method="outliers", sd=0.5)
    assert (y[70:] != x[70:]).all()
    assert (y[:70] != x[:70]).any(axis=1).sum() < 15


@pytest.mark.parametrize("method", METHODS)
def test_missing_values_stay_missing_and_present_ones_present(method):
    rng = np.random.default_rng(3)
    x = skewed(200)
    x[rng.random(x.shape) < 0.3] = np.nan
    y = noisy(numbers(x), 1, method=method, sd=0.5)
    assert (np.isnan(y) == np.isnan(x)).all()
    if method != "outliers":
        assert (y != x).all()


def test_a_variable_without_values_is_no_hindrance():
    x = np.column_stack([skewed(100), np.full(100, np.nan)])
    y = noisy(numbers(x), 1, method="restricted", sd=1.0)
    assert np.isnan(y[:, 3]).all()
    assert np.cov(y[:, :3], rowvar=False) == pytest.approx(np.cov(x[:, :3], rowvar=False), rel=1e-11)
    for method in METHODS:
        assert np.isnan(noisy(numbers(x[:, 3:]), 1, method=method)).all()


def test_means_and_variances_are_kept_with_missing_values_too():
    x = skewed(400)
    x[np.random.default_rng(3).random(x.shape) < 0.2] = np.nan
    data = numbers(x)
    draws = np.array([noisy(data, seed, method="kim", variance=0.5) for seed in range(60)])
    assert agrees(np.nanmean(draws, axis=1), np.nanmean(x, axis=0))
    assert agrees(np.nanvar(draws, axis=1, ddof=1), np.nanvar(x, axis=0, ddof=1))
    complete = ~np.isnan(x).any(axis=1)
    y = noisy(data, 1, method="restricted", sd=0.5)
    assert np.cov(y[complete], rowvar=False) == pytest.approx(np.cov(x[complete], rowvar=False), rel=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_the_seed_decides(method):
    x = skewed(100)
    x[:5] *= 30
    one, same, other = (noisy(numbers(x), s, method=method, sd=0.5) for s in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


@settings(max_examples=60, deadline=None)
@given(
    method=st.sampled_from(METHODS),
    n=st.integers(1, 8),
    p=st.integers(1, 3),
    top=st.sampled_from([0, 1, 4]),
    seed=st.integers(0, 999),
)
def test_small_constant_and_tied_files(method, n, p, top, seed):
    x = np.random.default_rng(seed).integers(0, top + 1, (n, p)).astype(float) + 0.1
    assume(method != "outliers" or n == 1 or n > p)  # robust distances need more records than variables
    y = noisy(numbers(x), seed, method=method, sd=0.5)
    assert np.isfinite(y).all()
    if method != "multiplicative":
        constant = (x == x[0]).all(axis=0)
        assert (y[:, constant] == x[:, constant]).all()


def test_strata_have_their_own_means_and_small_ones_are_pooled():
    rng = np.random.default_rng(0)
    stratum = ["a"] * 100 + ["b"] * 100 + ["c", "d", "e", "f"]
    x = np.concatenate([rng.normal(0, 1, 100), rng.normal(1000, 20, 100), [5.0, 6.0, 7.0, 9.0]])[:, None]
    data = numbers(x, s=pl.Series(stratum))
    y = noisy(data, 1, method="restricted", sd=1.0, by="s")[:, 0]
    for rows in (slice(0, 100), slice(100, 200), slice(200, 204)):
        assert y[rows].mean() == pytest.approx(x[rows].mean())
        assert y[rows].std() == pytest.approx(x[rows].std())
    assert (y != x[:, 0]).all()


def test_very_large_numbers():
    x = skewed(50) * 1e200
    for method in METHODS:
        assert np.isfinite(noisy(numbers(x), 1, method=method, sd=0.5)).all()


def test_whole_numbers_become_decimal_and_others_are_left_alone():
    frame = pl.DataFrame({"a": range(10), "b": range(10)})
    after = sdc.protect.add_noise(sdc.read(frame, numeric=["a", "b"]), variables="a", rng=1)
    assert after.frame.schema == {"a": pl.Float64, "b": pl.Int64}
    assert after.frame["b"].to_list() == list(range(10))
    assert after.log[-1].figures == {"values_changed": 10, "records_touched": 10}


def test_the_noise_is_given_by_its_sd_or_its_variance():
    data = numbers(np.random.default_rng(1).normal(size=(50, 2)))
    for method in ("additive", "kim"):
        both = [noisy(data, 1, method=method, **how) for how in ({"sd": 0.5}, {"variance": 0.25})]
        assert (both[0] == both[1]).all()
    with pytest.raises(OptionError, match=r"takes either 'sd' or 'variance'"):
        sdc.Step("add_noise", sd=0.5, variance=0.25)


@pytest.mark.parametrize(("method", "name"), [("additive", "sd"), ("kim", "variance")])
def test_the_former_amount_means_what_it_meant(method, name):
    data = numbers(np.random.default_rng(1).normal(size=(50, 2)))
    with pytest.warns(DeprecationWarning, match=f"'amount' of add_noise is now called '{name}'"):
        old = noisy(data, 1, method=method, amount=0.25)
    assert (old == noisy(data, 1, method=method, **{name: 0.25})).all()
    assert (noisy(data, 1, method=method) == noisy(data, 1, method=method, **{name: 0.3})).all()


def test_mistakes():
    data = sdc.read(pl.DataFrame({"x": [1.0, 2.0], "y": [1.0, 5.0], "t": ["a", "b"]}), numeric=["x", "y"])
    with pytest.raises(OptionError, match=r"Option 'sd' of add_noise is not valid. Given: 150"):
        sdc.protect.add_noise(data, sd=150)
    with pytest.raises(OptionError, match=r"Option 'method' of add_noise is not valid. Given: 'additve'"):
        sdc.protect.add_noise(data, method="additve")
    with pytest.raises(ColumnError, match=r"add_noise needs numbers; 't' does not hold numbers"):
        sdc.protect.add_noise(data, variables="t")
    with pytest.raises(DataError, match="more records than variables"):
        sdc.protect.add_noise(data, method="outliers", rng=1)


@pytest.mark.parametrize(
    "case", oracle_cases("05", lambda c: c["params"].get("method") in ("additive", "correlated"))
)
def test_moments_agree_with_the_stored_ones(oracles, case):
    names, percent = case["inputs"]["variables"], case["params"]["noise"]
    data = sdc.read(oracles.frame(case["dataset"]).select(names), numeric=names)
    # there, `correlated` takes the share of the variance
    method = case["params"]["method"]
    sd = percent / 100 if method == "additive" else math.sqrt(percent / 100)
    before = np.cov(data.frame.to_numpy(), rowvar=False)
    runs = 200
    ratios = [np.cov(noisy(data, seed, method=method, sd=sd), rowvar=False) / before for seed in range(runs)]
    stored, spread = (np.array(case["expected"][k]) for k in ("mean_cov_ratio", "sd_cov_ratio"))
    error = spread * math.sqrt(1 / runs + 1 / case["params"]["n_seeds"])
    assert (np.abs(np.mean(ratios, axis=0) - stored) <= ERRORS * error).all()


def test_restricted_noise_moves_no_mean_where_the_incomplete_are_others():
    """Only the rich lack q: drawn in to the mean of all, their incomes fell by a tenth of an SD."""
    rng = np.random.default_rng(0)
    x, q = rng.normal(size=(2, 300))
    frame = pl.DataFrame({"x": x, "q": np.where(x > 0.7, np.nan, q)}).fill_nan(None)
    data = sdc.read(frame, numeric=["x", "q"])
    means = [
        sdc.protect.add_noise(data, method="restricted", sd=1, rng=seed).frame["x"].mean()
        for seed in range(100)
    ]
    assert np.mean(means) == pytest.approx(x.mean(), abs=4 * np.std(means) / 10)
