"""Regressions: defining equations, sandwich variances, aliasing, separation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.estimate.design import Design
from sdckit.estimate.formula import Matrix
from sdckit.estimate.regression import Family, fit, independent


def problem(seed, family, n=80):
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(n), rng.normal(size=n), rng.integers(0, 2, n)])
    eta = x @ [0.2, 0.5, -0.4]
    draws = {
        Family.OLS: eta + rng.normal(size=n),
        Family.LOGIT: (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float),
        Family.POISSON: rng.poisson(np.exp(eta)).astype(float),
    }
    matrix = Matrix(draws[family], x, ("Intercept", "a", "b"), np.ones(n, dtype=bool))
    return matrix, rng.uniform(1, 4, n), rng.integers(0, 15, n)


@pytest.mark.parametrize("family", list(Family))
@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_scores_add_up_to_zero_and_the_sandwich_is_made_of_them(family, seed):
    matrix, w, cluster = problem(seed, family)
    cluster = np.unique(cluster, return_inverse=True)[1]
    design = Design(w, np.zeros(80, dtype=np.int64), cluster, np.zeros(1))
    found = fit(matrix, design, family=family)
    scores = (w * (matrix.y - found.fitted))[:, None] * matrix.x
    assert np.abs(scores.sum(axis=0)).max() < 1e-5
    slope = {
        Family.OLS: np.ones(80),
        Family.LOGIT: found.fitted * (1 - found.fitted),
        Family.POISSON: found.fitted,
    }[family]
    bread = np.linalg.inv((matrix.x * (w * slope)[:, None]).T @ matrix.x)
    totals = np.array([scores[cluster == c].sum(axis=0) for c in range(cluster.max() + 1)])
    m = len(totals)
    meat = m / (m - 1) * (totals - totals.mean(axis=0)).T @ (totals - totals.mean(axis=0))
    assert np.allclose(found.covariance, bread @ meat @ bread, rtol=1e-6)
    assert found.degrees == m - 1


def test_records_left_out_stay_in_the_design():
    matrix, w, _ = problem(1, Family.OLS)
    kept = np.ones(80, dtype=bool)
    kept[:20] = False
    part = Matrix(matrix.y[kept], matrix.x[kept], matrix.names, kept)
    whole, alone = (
        fit(part, Design.simple(w)),
        fit(Matrix(part.y, part.x, part.names, np.ones(60, dtype=bool)), Design.simple(w[kept])),
    )
    assert np.allclose(whole.coefficients, alone.coefficients)
    factor = (80 / 79) / (60 / 59)
    assert np.allclose(whole.covariance, alone.covariance * factor)


@pytest.mark.parametrize("family", [Family.LOGIT, Family.POISSON])
def test_model_variances_do_not_depend_on_the_scale_of_the_weights(family):
    matrix, w, _ = problem(2, family)
    one, ten = (fit(matrix, Design.simple(w * k), family=family, by_design=False) for k in (1, 10))
    assert np.allclose(one.covariance, ten.covariance, rtol=1e-6)
    assert one.degrees == np.inf


def test_a_logit_on_one_dummy_by_hand():
    """2 of 8 and 6 of 12: log odds, and 1/a + 1/b as variance of each."""
    x = np.column_stack([np.ones(20), np.repeat([0, 1], [8, 12])])
    y = np.array([1] * 2 + [0] * 6 + [1] * 6 + [0] * 6, dtype=float)
    matrix = Matrix(y, x, ("Intercept", "g"), np.ones(20, dtype=bool))
    found = fit(matrix, Design.simple(np.ones(20)), family=Family.LOGIT, by_design=False)
    assert found.coefficients == pytest.approx([np.log(2 / 6), np.log(3)])
    assert np.diag(found.covariance) == pytest.approx([1 / 2 + 1 / 6, 1 / 2 + 1 / 6 + 1 / 6 + 1 / 6])


def test_columns_that_others_determine_are_left_out_the_later_first():
    x = np.column_stack([np.ones(9), np.arange(9), 2 * np.arange(9) + 1, np.arange(9) ** 2, np.zeros(9)])
    assert independent(x).tolist() == [True, True, False, True, False]
    assert independent(np.ones((2, 4))).tolist() == [True, False, False, False]


@pytest.mark.parametrize("times", [1.0, 1e6])
@pytest.mark.parametrize("family", [Family.LOGIT, Family.POISSON])
def test_a_category_without_an_event_has_no_interval_and_does_no_harm(family, times):
    """Of 8 in the reference 2, of 12 in the second category 6, of 1 in the third none: −∞ for any weights.

    Logit: log odds with variance 1/2 + 1/6; ratio ln 3. Poisson: ln(2/8), variance 1/2; ln 2.
    """
    groups = np.repeat([0, 1, 2], [8, 12, 1])
    x = np.column_stack([np.ones(21), groups == 1, groups == 2]).astype(float)
    y = np.array([1] * 2 + [0] * 6 + [1] * 6 + [0] * 6 + [0], dtype=float)
    matrix = Matrix(y, x, ("Intercept", "b", "c"), np.ones(21, dtype=bool))
    design = Design.simple(np.full(21, times))
    found = fit(matrix, design, family=family, by_design=False)
    ends, spread = (
        ([np.log(2 / 6), np.log(3)], 1 / 2 + 1 / 6)
        if family is Family.LOGIT
        else ([np.log(1 / 4), np.log(2)], 1 / 2)
    )
    assert found.coefficients[:2] == pytest.approx(ends)
    assert found.covariance[0, 0] == pytest.approx(spread)
    assert np.isnan(found.covariance[2]).all()
    assert found.notes[0].endswith("have no interval: c.")
    assert np.isnan(fit(matrix, design, family=family).covariance[2, 2])


def test_where_the_reference_has_no_event_no_coefficient_has_an_interval():
    """All of them are then infinite; that of a number is not."""
    groups = np.repeat([0, 1, 2], [10, 12, 12])
    number = np.tile([0.0, 1.0], 17)
    x = np.column_stack([np.ones(34), groups == 1, groups == 2, number]).astype(float)
    y = np.array([0] * 10 + [1, 0, 0] * 8, dtype=float)
    matrix = Matrix(y, x, ("Intercept", "b", "c", "x"), np.ones(34, dtype=bool))
    found = fit(matrix, Design.simple(np.ones(34)), family=Family.LOGIT)
    assert np.isnan(np.diag(found.covariance)).tolist() == [True, True, True, False]


def test_rare_events_far_apart_keep_their_interval():
    """One event in 100,000 beside years that hardly vary: ill-conditioned, and yet with a limit."""
    year = np.repeat(np.arange(2000.0, 2020.0), 5_000)
    x = np.column_stack([np.ones(100_000), year, year**2])
    y = np.zeros(100_000)
    y[[20_000, 49_000, 81_000]] = 1
    matrix = Matrix(y, x, ("Intercept", "year", "year2"), np.ones(100_000, dtype=bool))
    found = fit(matrix, Design.simple(np.full(100_000, 500.0)), family=Family.LOGIT)
    assert not found.notes
    assert np.isfinite(found.covariance).all()


def test_separation_is_said_and_wrong_outcomes_are_refused():
    x = np.column_stack([np.ones(10), np.arange(10)])
    matrix = Matrix((np.arange(10) > 4).astype(float), x, ("Intercept", "a"), np.ones(10, dtype=bool))
    found = fit(matrix, Design.simple(np.ones(10)), family=Family.LOGIT)
    assert "certainty" in found.notes[0]
    wrong = Matrix(np.arange(10) - 3.0, x, ("Intercept", "a"), np.ones(10, dtype=bool))
    for family, words in ((Family.LOGIT, "outcomes 0 and 1"), (Family.POISSON, "counts")):
        with pytest.raises(sdc.SdcError, match=words):
            fit(wrong, Design.simple(np.ones(10)), family=family)
