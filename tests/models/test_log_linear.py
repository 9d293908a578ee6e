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
            assert fitted[cells].sum() == pytest.approx(counts[cells].sum(), abs=1e-6 * counts.sum())
    assert np.sort(fit.grid()) == pytest.approx(np.sort(fitted))
    assert fit.size == len(GRID)


def deviance(counts, fitted):
    held = counts > 0
    return 2 * (counts[held] * np.log(counts[held] / fitted[held])).sum() - 2 * (counts - fitted).sum()


def glm_deviance(grid, counts, terms):
    """As glm of R ends: steps halved, until |D − D₀| / (|D| + 0.1) < 1e-8."""
    sizes = grid.max(axis=0) + 1
    columns = [np.ones(len(grid))]
    for term in [(v,) for v in range(len(sizes))] + terms:
        levels = product(*(range(sizes[v]) for v in term))
        columns += [(grid[:, term] == level).all(axis=1).astype(float) for level in levels]
    x = np.column_stack(columns)
    beta, now, eta = None, np.inf, np.log(counts + 0.1)
    for _ in range(100):
        mean = np.exp(eta)
        root = np.sqrt(mean)
        working = (eta + (counts - mean) / mean) * root
        step = np.linalg.lstsq(x * root[:, None], working, rcond=1e-11)[0]
        for _ in range(30):
            found = deviance(counts, np.exp(np.clip(x @ step, -600, 600)))
            if beta is None or found <= now:
                break
            step = (step + beta) / 2
        before, now, beta, eta = now, found, step, np.clip(x @ step, -600, 600)
        if abs(now - before) / (abs(now) + 0.1) < 1e-8:
            break
    return now


PAIRS = [(0, 1), (0, 2), (1, 2)]
TRIPLES = [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]


def awkward_tables():
    """Sampling zeros that leave every margin positive and the maximum on the edge, and empty margins."""
    cube = np.array(list(product(range(2), repeat=3)))
    yield "no three-way, opposite corners empty", cube, np.array([0.0, 5, 3, 7, 4, 6, 2, 0]), PAIRS
    rng = np.random.default_rng(0)
    for mean in (0.3, 0.6):
        counts = rng.poisson(mean * np.exp(rng.normal(size=len(GRID)))).astype(float)
        yield f"sparse, {mean}", GRID, counts, TRIPLES
    counts = rng.poisson(3, len(GRID)).astype(float)
    counts[(GRID[:, 0] == 1) & (GRID[:, 3] == 2)] = 0
    yield "a pair that never occurs", GRID, counts, [(0, 3), (0, 1), (1, 3)]
    counts = np.where(GRID.sum(axis=1) % 2 == 0, 1e6, 1e-3)
    yield "counts of very different size", GRID, counts, PAIRS


@pytest.mark.parametrize(("name", "grid", "counts", "terms"), list(awkward_tables()))
def test_awkward_tables_converge_as_glm_does(name, grid, counts, terms):
    fit = log_linear(grid, counts, terms)
    assert fit.converged
    fitted = fit.expected(grid)
    assert fitted.sum() == pytest.approx(counts.sum())
    ours, theirs = deviance(counts, fitted), glm_deviance(grid, counts, terms)
    assert abs(ours - theirs) / (abs(theirs) + 0.1) < 1e-6


def test_opposite_corners_that_are_empty_by_hand():
    """With them the fit is the table itself: on the edge the six other cells leave nothing to explain."""
    _, grid, counts, terms = next(awkward_tables())
    fit = log_linear(grid, counts, terms)
    np.testing.assert_allclose(fit.expected(grid), counts, atol=1e-6)
    assert fit.steps < 200


def test_tables_too_large_for_newton_go_on_by_rounds(monkeypatch):
    monkeypatch.setattr(module, "_MANY_LEVELS", 3)
    _, grid, counts, terms = next(awkward_tables())
    fit = log_linear(grid, counts, terms)
    assert not fit.converged
    assert fit.steps == 200
    np.testing.assert_allclose(fit.expected(grid), counts, atol=0.1)


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
