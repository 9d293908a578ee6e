"""Log-linear models against Newton's method on the full design and by hand."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdckit.errors import DataError, OptionError
from sdckit.models import log_linear as module
from sdckit.models.log_linear import log_linear

SIZES = (3, 2, 2, 3)
GRID = np.array(list(product(*(range(size) for size in SIZES))))


def poisson_by_newton(counts: np.ndarray, terms: list[tuple[int, ...]]) -> np.ndarray:
    """Fitted means of the Poisson regression with a column for every level of every term."""
    columns = [np.ones(len(GRID))]
    for term in [(v,) for v in range(len(SIZES))] + terms:
        levels = product(*(range(SIZES[v]) for v in term))
        columns += [(GRID[:, term] == level).all(axis=1).astype(float) for level in levels]
    x = np.column_stack(columns)
    eta = np.full(len(GRID), np.log(counts.mean()))
    for _ in range(60):
        mean = np.exp(eta)
        working = eta + (counts - mean) / mean
        root = np.sqrt(mean)[:, None]
        beta = np.linalg.lstsq(x * root, working * root[:, 0], rcond=None)[0]
        eta = x @ beta
    return np.exp(eta)


@pytest.mark.parametrize(
    "terms", [[], [(0, 1)], [(0, 1), (2, 3)], [(0, 1), (1, 2), (0, 2)], [(0, 1, 2), (3, 1)], [(0, 1, 2, 3)]]
)
def test_agrees_with_poisson_regression(terms):
    rng = np.random.default_rng(len(terms))
    counts = rng.poisson(6, len(GRID)) + 1.5
    fit = log_linear(GRID, counts, terms)
    assert fit.converged
    np.testing.assert_allclose(fit.expected(GRID), poisson_by_newton(counts, terms), rtol=1e-7)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 5), min_size=36, max_size=36).filter(any),
    st.permutations([(0, 1), (1, 2), (0, 2)]),
)
def test_margins_of_the_terms_are_kept(counts, terms):
    counts = np.array(counts, dtype=float)
    fit = log_linear(GRID, counts, terms)
    fitted = fit.expected(GRID)
    assert np.isfinite(fitted).all()
    for term in [*terms, (3,)]:
        for level in product(*(range(SIZES[v]) for v in term)):
            cells = (GRID[:, term] == level).all(axis=1)
            assert fitted[cells].sum() == pytest.approx(counts[cells].sum(), abs=1e-4 * counts.sum())
    assert np.sort(fit.grid()) == pytest.approx(np.sort(fitted))
    assert fit.size == len(GRID)


def test_a_missing_code_sums_over_the_variable():
    counts = np.arange(1.0, len(GRID) + 1)
    fit = log_linear(GRID, counts, [(0, 1), (1, 2)])
    whole = fit.expected(GRID)
    asked = np.array([[1, -1, 0, 2], [-1, -1, -1, -1], [0, 1, -1, -1]])
    expected = [whole[((row == GRID) | (row < 0)).all(axis=1)].sum() for row in asked]
    np.testing.assert_allclose(fit.expected(asked), expected)


def test_cells_with_missing_codes_enter_the_margins_they_have():
    codes = np.array([[0, 0], [1, 1], [1, -1], [-1, 0]])
    fit = log_linear(codes, np.array([1.0, 1.0, 2.0, 4.0]))
    # first: ¼ and ¾ of those with a value; second: ⅚ and ⅙; all 8 are there
    np.testing.assert_allclose(fit.expected(np.array([[0, 0], [1, 1]])), [8 / 4 * 5 / 6, 8 * 3 / 4 / 6])


def test_a_variable_missing_everywhere_and_one_cell():
    codes = np.array([[0, -1], [1, -1]])
    assert log_linear(codes, np.array([1.0, 3.0]), [(0, 1)]).expected(codes).tolist() == [1, 3]
    assert log_linear(np.array([[0, 0]]), np.array([7.0])).expected(np.array([[0, 0]])).tolist() == [7]


def test_refusals(monkeypatch):
    with pytest.raises(DataError, match="No record has all the variables that an interaction joins"):
        log_linear(np.array([[0, -1], [-1, 0]]), np.ones(2), [(0, 1)])
    monkeypatch.setattr(module, "LARGEST", 5)
    assert log_linear(GRID, np.ones(len(GRID))).size == len(GRID)  # no interaction: never one table
    with pytest.raises(OptionError, match=r"too many cells. Given: 6 cells. Allowed: up to 5"):
        log_linear(GRID, np.ones(len(GRID)), [(0, 1)])
