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
    weighted=st.booleans(),
    families=st.lists(st.sampled_from(FAMILIES), min_size=1, max_size=5, unique=True),
)
def test_the_criterion_never_falls_and_the_best_records_are_kept(
    seed, n, p, trim, rounded, weighted, families
):
    rng = np.random.default_rng(seed)
    x = rng.standard_t(2, size=(n, p))
    x = np.round(x) if rounded else x
    w = rng.exponential(size=n) + 0.01 if weighted else None
    fit = trimmed_mixture(x, trim=trim, components=(1, 2), families=families, starts=3, seed=seed, weights=w)
    if fit is None:
        assert n - math.floor(n * trim) < 3 * (p + 2) or rounded or weighted
        return
    assert (np.diff(fit.history) >= -1e-6 * (1 + abs(fit.history[0]))).all()
    if weighted:  # the record on the edge counts in part
        inside, edge = fit.counts[fit.kept].sum(), fit.counts[fit.kept].max()
        assert inside - edge - 1e-6 <= n - math.floor(n * trim) <= inside + 1e-6
    else:
        assert fit.kept.sum() == n - math.floor(n * trim)
        assert (fit.kept_sizes == np.bincount(fit.component[fit.kept], minlength=len(fit.sizes))).all()
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


def on_a_line(few, n=200, p=2, seed=1):
    """Normal records, the first few of them within a thousandth of a line."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    x[:few] = rng.normal(size=few)[:, None] * rng.normal(size=p) + 1e-3 * rng.normal(size=(few, p))
    return x


@pytest.mark.parametrize(("p", "seed"), [(2, 1), (2, 6), (3, 1), (3, 2), (3, 7)])
def test_a_few_records_that_are_nearly_collinear_are_no_component(p, seed):
    x = on_a_line(8, p=p, seed=seed)
    assert trimmed_mixture(x, trim=0.0).mixture.components == 1


@pytest.mark.parametrize("seed", range(3))
def test_many_records_on_a_line_are_a_component(seed):
    fit = trimmed_mixture(on_a_line(40, seed=seed), trim=0.0)
    assert fit.mixture.components == 2
    assert 38 <= fit.sizes.min() <= 44


def test_a_small_component_with_the_spread_of_the_others_stays():
    x = clean(120)
    x[:9] += 40
    assert sorted(trimmed_mixture(x, trim=0.0).sizes.tolist()) == [9, 51, 60]


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


def test_equal_weights_change_nothing_and_only_ratios_matter():
    x = np.random.default_rng(3).standard_t(2, size=(90, 2))
    plain, equal = trimmed_mixture(x), trimmed_mixture(x, weights=np.full(90, 0.1))
    assert (plain.kept == equal.kept).all()
    assert plain.mixture.bic == equal.mixture.bic
    assert (plain.mixture.covariances == equal.mixture.covariances).all()
    w = np.random.default_rng(4).uniform(1, 5, size=90)
    one, ten, eighth = (trimmed_mixture(x, weights=w * size) for size in (1, 10, 0.125))
    assert (one.kept == ten.kept).all()
    assert one.mixture.means == pytest.approx(ten.mixture.means, rel=1e-9)
    assert (one.mixture.means == eighth.mixture.means).all()
    assert not np.allclose(one.mixture.means[0], plain.mixture.means[0], atol=1e-3)
    mixed = np.random.default_rng(1).permutation(90)
    other = trimmed_mixture(x[mixed], weights=w[mixed])
    assert (one.kept[mixed] == other.kept).all()


def test_weights_count_as_records_also_towards_what_is_trimmed():
    rng = np.random.default_rng(5)
    x = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 30])
    options = {"components": (1,), "families": (Family.VVV,), "trim": 0.25}
    second = trimmed_mixture(x, weights=np.repeat([1.0, 9.0], 60), **options)
    assert second.kept[60:].sum() >= 45
    assert not second.kept[:60].any()  # a tenth of the weight: all of it is trimmed
    first = trimmed_mixture(x, weights=np.repeat([9.0, 1.0], 60), **options)
    assert not first.kept[60:].any()


def test_whole_weights_are_as_repeated_records():
    rng = np.random.default_rng(6)
    x, w = rng.standard_t(3, size=(60, 2)), rng.integers(1, 4, size=60)
    options = {"components": (1,), "families": (Family.VVV,), "trim": 0.2, "starts": 20}
    fit = trimmed_mixture(x, weights=w.astype(float), **options)
    many = trimmed_mixture(np.repeat(x, w, axis=0), **options)
    assert fit.mixture.means == pytest.approx(many.mixture.means, abs=0.02)
    assert fit.mixture.covariances == pytest.approx(many.mixture.covariances, abs=0.05)


@pytest.mark.parametrize("wrong", [np.ones(3), np.zeros(50), np.full(50, np.nan)])
def test_weights_that_are_none(wrong):
    with pytest.raises(DataError, match="positive numbers"):
        trimmed_mixture(np.random.default_rng(0).normal(size=(50, 1)), weights=wrong)
