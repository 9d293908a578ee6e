"""The MCD: factors against stored results, robustness, order of rows, degenerate data."""

import numpy as np
import pytest

from conftest import oracle_cases
from sdckit.errors import DataError
from sdckit.models.mcd import consistency, mcd


@pytest.mark.parametrize("case", oracle_cases("09", lambda c: c["id"] == "mcd_consistency"))
def test_stored_consistency_factors(oracles, case):
    for row in case["expected"]["grid"]:
        assert consistency(row["alpha"], row["p"]) == pytest.approx(row["consistency"], rel=1e-9)


def clean(n=400, seed=3):
    rng = np.random.default_rng(seed)
    root = np.array([[2.0, 0, 0], [1, 1, 0], [0, 0.5, 0.7]])
    return rng.normal(size=(n, 3)) @ root.T, root @ root.T


def test_consistent_at_the_normal():
    x, truth = clean(4000)
    found = mcd(x)
    assert np.allclose(found.covariance, truth, rtol=0.15, atol=0.15)
    assert np.allclose(np.diag(found.raw_covariance), np.diag(truth), rtol=0.25)
    assert 0.95 < found.kept.mean() < 0.995


def test_outliers_do_not_move_it_and_are_not_kept():
    x, _ = clean()
    dirty = x.copy()
    dirty[:120] = 1000 + np.random.default_rng(1).normal(size=(120, 3))
    found = mcd(dirty)
    assert not found.kept[:120].any()
    assert not found.support[:120].any()
    assert found.support.sum() == (400 + 3 + 1) // 2
    assert np.abs(found.location).max() < 1
    assert np.linalg.det(np.cov(dirty.T)) > 100 * np.linalg.det(found.covariance)


def test_a_large_file_is_searched_from_samples():
    x, truth = clean(5000)
    x[:1500] += 40
    found = mcd(x)
    assert not found.kept[:1500].any()
    shape = found.covariance / np.trace(found.covariance)
    assert np.allclose(shape, truth / np.trace(truth), atol=0.03)


def test_the_order_of_rows_does_not_matter():
    x, _ = clean()
    order = np.random.default_rng(2).permutation(len(x))
    first, second = mcd(x), mcd(x[order])
    assert np.allclose(first.covariance, second.covariance, rtol=1e-12)
    assert (first.kept[order] == second.kept).all()


def test_the_whole_file_as_support_is_the_ordinary_covariance():
    x, _ = clean(50)
    found = mcd(x, support_fraction=1.0)
    assert np.allclose(found.raw_covariance, np.cov(x.T), rtol=1e-12)
    assert found.support.all()


@pytest.mark.filterwarnings("error")
def test_flat_data():
    x = np.zeros((40, 2))
    x[:, 0] = np.arange(40)
    x[:8, 1] = 1.0  # four fifths lie on a line
    found = mcd(x)
    assert np.linalg.matrix_rank(found.covariance) < 2
    assert not found.support[:8].any()  # those off the line
    half = np.r_[np.zeros(30), np.arange(10.0)].reshape(-1, 1)
    assert mcd(half).covariance[0, 0] == 0
    with pytest.raises(DataError, match=r"more records than variables\. Given: 2 records, 3 variables"):
        mcd(np.ones((2, 3)))
