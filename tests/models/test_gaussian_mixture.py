"""Mixtures: stored mclust fits, a plain EM, growth of the likelihood in every family, degenerate data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage

from conftest import oracle_cases
from naive_mixture import em_free
from sdckit.models.gaussian_mixture import run_em
from sdckit.models.mixture_families import FAMILIES, Family
from sdckit.models.trimmed_mixture import trimmed_mixture

TOLERANCE = {1: 1e-6, 2: 0.01, 3: 0.01}  # how much lower a log-likelihood may be than mclust's, by components


def untrimmed(x, **options):
    """The mixture of all records: nothing is trimmed, and EM goes on until it stops by itself."""
    found = trimmed_mixture(x, trim=0.0, smallest=1, **options)
    if found is None:
        return None
    fit = found.mixture
    return run_em(np.ascontiguousarray(x), fit.family, fit.posterior(x), fit, steps=1_000)


def by_ward(x, groups):
    """A posterior of the parts into which Ward's hierarchy of the scaled variables is cut."""
    tree = linkage((x - x.mean(axis=0)) / x.std(axis=0), "ward")
    return np.eye(groups)[fcluster(tree, groups, "maxclust") - 1]


def numbers(oracles, case):
    table = np.genfromtxt(oracles.path(case["dataset"]["csv"]), delimiter=",", skip_header=1)
    return np.ascontiguousarray(table[:, : len(case["inputs"]["variables"])])


@pytest.mark.compiled
@pytest.mark.parametrize("case", oracle_cases("09", lambda c: c["id"].startswith("mclust")))
def test_stored_mclust_fits_are_reached(oracles, case):
    x = numbers(oracles, case)
    found = {}
    for row in case["expected"]["fits"]:
        name = row["model"].replace("V", "E") if row["G"] == 1 else row["model"]
        if (name, row["G"]) not in found:
            found[name, row["G"]] = untrimmed(x, components=(row["G"],), families=(Family(name),), starts=40)
    for row in case["expected"]["fits"]:
        name = row["model"].replace("V", "E") if row["G"] == 1 else row["model"]
        ours = found[name, row["G"]]
        assert ours.log_likelihood >= row["loglik"] - TOLERANCE[row["G"]], (row["model"], row["G"])
        if row["G"] > 1:
            assert ours.parameters == row["df"]
    # with the true number of components and a start like mclust's both find the same optimum
    for row in case["expected"]["fits"]:
        if row["G"] == (3 if "separate" in case["id"] else 2) and row["model"] not in ("VVE", "EVE"):
            ours = run_em(x, Family(row["model"]), by_ward(x, row["G"]), None, steps=1_000)
            assert ours.log_likelihood == pytest.approx(row["loglik"], abs=0.01)
            assert ours.bic == pytest.approx(row["bic"], abs=0.02)
    chosen = untrimmed(x, components=(1, 2, 3))
    assert f"{chosen.family.value},{chosen.components}" == next(iter(case["expected"]["best"]))
    two, ours = case["expected"]["EII_G2"], found["EII", 2]
    assert ours.weights == pytest.approx(two["pro"], abs=1e-3)
    assert ours.means == pytest.approx(np.array(two["mean"]), abs=0.01)
    assert ours.covariances[0] == pytest.approx(np.eye(6) * two["sigmasq"], abs=1e-3)


def two_groups(n=40, p=2, seed=0, apart=4.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    x[: n // 3] += apart
    return np.ascontiguousarray(x)


def start(n, groups, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(groups), n)


def test_steps_of_em_are_those_of_the_plain_twin():
    x, z = two_groups(25), start(25, 2)
    expected = em_free(x, z, 6)
    found = [run_em(x, Family.VVV, z.copy(), None, steps=s).log_likelihood for s in range(1, 7)]
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), groups=st.integers(1, 3), p=st.integers(1, 4))
def test_the_likelihood_never_falls(family, seed, groups, p):
    x = two_groups(40, p, seed)
    z, now = start(40, groups, seed), None
    for _ in range(12):
        then, now = now, run_em(x, family, z, now, steps=1)
        if now is None:  # singular
            break
        z = now.posterior(x)
        assert now.log_likelihood == pytest.approx(now.scores(x).sum(), rel=1e-9)
        assert then is None or now.log_likelihood >= then.log_likelihood - 1e-7


@pytest.mark.parametrize("family", FAMILIES)
def test_covariances_have_the_form_of_their_family(family):
    x = two_groups(60, 3, 5)
    fit = run_em(x, family, by_ward(x, 2), None, steps=8)
    volumes = np.linalg.det(fit.covariances) ** (1 / 3)
    values = [np.linalg.eigvalsh(c / v) for c, v in zip(fit.covariances, volumes, strict=True)]
    volume, shape, axis = family.value
    assert np.isclose(volumes[0], volumes[1]) == (volume == "E")
    if shape != "V":
        assert values[0] == pytest.approx(values[1])
    if shape == "I":
        assert values[0] == pytest.approx(1)
    if axis == "I":
        assert fit.covariances == pytest.approx(np.array([np.diag(np.diag(c)) for c in fit.covariances]))
    if axis == "E":  # matrices with the same axes commute
        a, b = fit.covariances
        assert a @ b == pytest.approx(b @ a, rel=1e-6, abs=1e-8)
    assert fit.parameters == family.parameters(2, 3)


@pytest.mark.compiled
def test_moving_and_scaling_all_variables_together_changes_nothing():
    x = two_groups(90, 3, 2)
    one, other = untrimmed(x), untrimmed(1000 * x + 5)
    assert (one.family, one.components) == (other.family, other.components)
    assert other.log_likelihood == pytest.approx(one.log_likelihood - 90 * 3 * np.log(1000), rel=1e-6)
    assert (np.diff(one.weights) <= 0).all(), "components come by weight"


@pytest.mark.compiled
def test_degenerate_data_get_the_families_that_can_be_fitted():
    rng = np.random.default_rng(0)
    column = rng.normal(size=(30, 1))
    assert untrimmed(np.ones((10, 2))) is None
    assert untrimmed(np.hstack([column, np.ones((30, 1))]), families=(Family.VVV,)) is None
    assert untrimmed(np.hstack([column, 2 * column])).family.value[2] == "I"


@pytest.mark.compiled
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 30),
    kind=st.sampled_from(["ties", "zeros", "collinear", "nearly", "large", "tiny"]),
)
def test_odd_numbers_do_not_crash(seed, n, kind):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    if kind == "ties":
        x = np.round(x)
    elif kind == "zeros":
        x *= rng.random((n, 3)) < 0.3
    elif kind in ("collinear", "nearly"):
        x[:, 2] = x[:, 0] - 3 * x[:, 1] + (1e-8 * x[:, 2] if kind == "nearly" else 0)
    else:
        x *= 1e100 if kind == "large" else 1e-100
    for family in FAMILIES:
        fit = run_em(x, family, start(n, 2, seed), None, steps=30)
        if fit is None:
            continue
        assert np.isfinite(fit.bic)
        assert fit.weights.sum() == pytest.approx(1)
        assert (np.linalg.eigvalsh(fit.covariances) > 0).all() or kind in ("collinear", "nearly")


@pytest.mark.compiled
@pytest.mark.parametrize("family", FAMILIES)
def test_whole_counts_are_repeated_rows(family):
    rng = np.random.default_rng(2)
    x, times = rng.normal(size=(40, 3)) + np.repeat([[0], [3]], 20, axis=0), rng.integers(1, 5, size=40)
    posterior = np.eye(2)[np.repeat([0, 1], 20)]
    one = run_em(x, family, posterior.copy(), None, steps=20, counts=times.astype(float))
    many = run_em(np.repeat(x, times, axis=0), family, np.repeat(posterior, times, axis=0), None, steps=20)
    assert one.log_likelihood == pytest.approx(many.log_likelihood, rel=1e-9)
    assert one.covariances == pytest.approx(many.covariances, rel=1e-6, abs=1e-9)
    assert one.records == many.records == times.sum()
