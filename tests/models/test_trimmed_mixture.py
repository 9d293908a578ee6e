"""Trimmed mixtures: the criterion never falls, breakdown, an exhaustive twin, stored contaminated files."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import oracle_cases
from naive_mixture import best_subset
from sdckit.errors import DataError, OptionError
from sdckit.models.mixture_families import FAMILIES, Family
from sdckit.models.trimmed_mixture import trimmed_mixture


def clean(n=120, p=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    x[n // 2 :] += 10
    return x


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 60),
    p=st.integers(1, 3),
    trim=st.sampled_from([0.0, 0.1, 0.25, 0.49]),
    rounded=st.booleans(),
    families=st.lists(st.sampled_from(FAMILIES), min_size=1, max_size=5, unique=True),
)
def test_the_criterion_never_falls_and_the_best_records_are_kept(seed, n, p, trim, rounded, families):
    x = np.random.default_rng(seed).standard_t(2, size=(n, p))
    x = np.round(x) if rounded else x
    fit = trimmed_mixture(x, trim=trim, components=(1, 2), families=families, starts=3, seed=seed)
    if fit is None:
        assert n - math.floor(n * trim) < 3 * (p + 2) or rounded
        return
    assert (np.diff(fit.history) >= -1e-6 * (1 + abs(fit.history[0]))).all()
    assert fit.kept.sum() == n - math.floor(n * trim)
    assert fit.sizes.sum() == n
    assert (fit.sizes >= fit.kept_sizes).all()
    assert fit.mixture.family in families
    scores = fit.mixture.scores(x)
    if not fit.kept.all():
        assert scores[fit.kept].min() >= scores[~fit.kept].max() - 1e-9
        assert (fit.squares[~fit.kept].argmin(axis=1) == fit.component[~fit.kept]).all()


@pytest.mark.parametrize("seed", range(6))
def test_one_normal_is_the_subset_of_smallest_determinant(seed):
    x = np.random.default_rng(seed).standard_t(2, size=(11, 2))
    fit = trimmed_mixture(x, trim=0.2, components=(1,), families=(Family.VVV,), starts=60)
    assert tuple(np.flatnonzero(fit.kept)) == best_subset(x, 9)


@pytest.mark.parametrize("far", [20.0, 1e3, 1e6])
@pytest.mark.parametrize("kind", ["cluster", "scatter"])
def test_up_to_the_trimmed_share_outliers_move_nothing(far, kind):
    x = clean()
    rng = np.random.default_rng(4)
    bad = rng.choice(120, 24, replace=False)
    x[bad] = far * (
        1 + 0.05 * rng.normal(size=(24, 3)) if kind == "cluster" else rng.normal(size=(24, 3)) + 2
    )
    fit = trimmed_mixture(x, trim=0.25, components=(2,))
    assert fit.breakdown == 0.25
    assert not fit.kept[bad].any()
    assert np.sort(fit.mixture.means[:, 0]) == pytest.approx([0, 10], abs=1)
    assert np.linalg.eigvalsh(fit.mixture.covariances).max() < 4


def test_beyond_the_trimmed_share_it_breaks_without_a_crash():
    x = clean()
    x[:60] = 1e6 * (1 + np.random.default_rng(1).normal(size=(60, 3)))
    fit = trimmed_mixture(x, trim=0.25, components=(1,))
    assert fit.kept[:60].any()
    assert np.isfinite(fit.squares).all()


def test_the_bound_on_breakdown_is_checked():
    x = clean(40, 3)
    assert trimmed_mixture(x, trim=0.05, components=(1,)).breakdown == 0.0  # h = 38 is not below n − 4
    assert trimmed_mixture(x, trim=0.25, components=(1,)).breakdown == 0.25
    assert trimmed_mixture(x, trim=0.45, components=(2,)).breakdown == 0.0  # h = 22 is not above 24


@pytest.mark.parametrize(
    "case", oracle_cases("09", lambda c: c["id"].startswith("sim_") and c["params"]["n_contaminated"])
)
def test_stored_contaminated_files(oracles, case):
    table = np.genfromtxt(oracles.path(case["dataset"]["csv"]), delimiter=",", skip_header=1)
    x, label = table[:, :6], table[:, 6]
    # a tight cluster of 8 % would be a component of its own: components hold at least a tenth here
    fit = trimmed_mixture(x, components=(1, 2, 3), smallest=math.ceil(len(x) / 10))
    assert fit.mixture.components == 2
    assert not fit.kept[label == 0].any()
    truth = label[fit.kept]
    assert len({(c, t) for c, t in zip(fit.component[fit.kept], truth, strict=True)}) == 2


def test_the_order_of_rows_does_not_matter():
    x = np.random.default_rng(3).standard_t(2, size=(80, 2))
    mixed = np.random.default_rng(1).permutation(80)
    one, other = trimmed_mixture(x), trimmed_mixture(x[mixed])
    assert (one.kept[mixed] == other.kept).all()
    assert one.mixture.bic == other.mixture.bic


def test_a_large_file_is_searched_from_a_sample():
    x = clean(5_000)
    x[::6] *= 1000
    fit = trimmed_mixture(x, families=(Family.EII, Family.VVV), starts=4)
    assert fit.kept.sum() == 3750
    assert fit.kept[::6].sum() < 5
    assert (fit.mixture.family, fit.mixture.components) == (Family.EII, 2)
    assert (np.diff(fit.history) >= 0).all()


@pytest.mark.parametrize("smallest", [1, 240, 300, 330, 1_000])
def test_a_small_component_in_a_large_file_is_not_the_end(smallest):
    x = clean(3_000)
    x[::10] += [0, 6, 0]
    fit = trimmed_mixture(x, families=(Family.EII, Family.EEE), starts=4, smallest=smallest)
    assert fit.mixture.weights.min() * fit.kept.sum() >= smallest


def test_degenerate_data_and_options():
    assert trimmed_mixture(np.ones((50, 2))) is None
    assert trimmed_mixture(np.ones((1, 1))) is None
    column = np.random.default_rng(0).normal(size=(50, 1))
    assert trimmed_mixture(np.hstack([column, column]), families=(Family.EEE, Family.VVV)) is None
    assert trimmed_mixture(np.hstack([column, column])).mixture.family.value[2] == "I"
    with pytest.raises(OptionError, match="majority"):
        trimmed_mixture(column, trim=0.5)
    with pytest.raises(DataError, match="at least one"):
        trimmed_mixture(column, smallest=0)
    with pytest.raises(DataError, match="complete"):
        trimmed_mixture(np.array([[np.nan], [1.0]]))
