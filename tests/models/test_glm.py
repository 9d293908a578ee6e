"""Logistic regression against R, a plain twin and hand-worked cases."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_info

from conftest import oracle_cases
from naive_logistic import naive_logistic
from sdckit.errors import DataError
from sdckit.models.glm import gram, independent_columns, logistic


def columns_of(frame: pl.DataFrame, terms: str) -> dict[str, np.ndarray]:
    """The design R makes of a formula, for the kinds of terms in the stored cases."""
    made = {"(Intercept)": np.ones(frame.height)}
    pairs = []
    for term in terms.removeprefix("~ ").split("+"):
        parts = term.split("*")
        for name in parts:
            if name in frame.columns and frame[name].dtype == pl.String:
                levels = frame[name].unique().sort()[1:]
                made |= {f"{name}{v}": (frame[name] == v).cast(pl.Float64).to_numpy() for v in levels}
            elif name in frame.columns:
                made[name] = frame[name].cast(pl.Float64).to_numpy()
        pairs += [parts] if len(parts) == 2 else []
    if "I(age^2)" in terms:
        made["I(age^2)"] = frame["age"].to_numpy().astype(float) ** 2
        made["log(eqIncome + 1)"] = np.log(frame["eqIncome"].to_numpy() + 1)
    for a, b in pairs:
        first, second = ([n for n in made if n.startswith(v)] for v in (a, b))
        made |= {f"{i}:{j}": made[i] * made[j] for j in second for i in first}
    return made


@pytest.mark.parametrize("case", oracle_cases("06", lambda c: c["id"].startswith("ps_")))
def test_coefficients_and_deviance_as_in_r(case, oracles):
    files = case["dataset"]
    x, y = oracles.frame(files["x_csv"] or files["name"]), oracles.frame(files["y_csv"])
    inputs = case["inputs"]
    used = inputs.get("variables") or inputs["numeric"] + inputs["categorical"]
    kinds = {c: pl.String if c in inputs.get("categorical", ()) else pl.Float64 for c in used}
    both = pl.concat([x.select(used).cast(kinds), y.select(used).cast(kinds)])
    terms = case["params"]["formula"].replace("+log(eqIncome+1)", "")
    design = columns_of(both, terms)
    outcome = np.repeat([0.0, 1.0], [x.height, y.height])
    fit = logistic(np.column_stack(list(design.values())), outcome)
    expected = case["expected"]
    found = dict(zip(design, fit.coefficients, strict=True))
    assert found == pytest.approx(expected["coefficients"], rel=1e-6, abs=1e-12)
    assert fit.deviance == pytest.approx(expected["deviance"], rel=1e-10)
    assert np.mean((fit.fitted - 0.5) ** 2) == pytest.approx(expected["UP"], rel=1e-6)
    assert fit.rank == expected["n_params"]
    assert fit.converged
    assert not fit.separated


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_same_as_the_plain_twin_with_weights(seed, columns):
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(40), rng.normal(size=(40, columns)).round(1)])
    y = rng.uniform(0.2, 0.8, 40)  # shares, so that nothing separates
    w = rng.integers(1, 5, 40).astype(float)
    assert logistic(x, y, w).coefficients == pytest.approx(naive_logistic(x, y, w), rel=1e-8, abs=1e-10)


def test_a_weight_of_two_is_the_record_twice():
    rng = np.random.default_rng(4)
    x, y = np.column_stack([np.ones(30), rng.normal(size=30)]), rng.integers(0, 2, 30).astype(float)
    w = rng.integers(1, 4, 30)
    twice = logistic(np.repeat(x, w, axis=0), np.repeat(y, w))
    assert logistic(x, y, w.astype(float)).coefficients == pytest.approx(twice.coefficients, rel=1e-9)


def test_of_columns_that_determine_each_other_the_first_stay():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 50))
    y = rng.uniform(0.3, 0.7, 50)
    x = np.column_stack([np.ones(50), a, 2 * a + 3, np.zeros(50), b, a - b])
    fit = logistic(x, y)
    assert np.isnan(fit.coefficients).tolist() == [False, False, True, True, False, True]
    assert fit.rank == 3
    full = logistic(x[:, [0, 1, 4]], y)
    assert fit.fitted == pytest.approx(full.fitted, rel=1e-9)


def test_nearly_equal_columns_both_stay():
    rng = np.random.default_rng(2)
    a = rng.normal(size=200)
    x = np.column_stack([np.ones(200), a, a + 1e-3 * rng.normal(size=200)])
    assert logistic(x, rng.uniform(0.2, 0.8, 200)).rank == 3


def test_outcomes_a_column_separates_give_scores_of_nearly_0_and_1():
    x = np.column_stack([np.ones(10), np.arange(10.0)])
    fit = logistic(x, (np.arange(10) > 4) * 1.0)
    assert fit.separated
    assert fit.converged
    assert fit.deviance == pytest.approx(0, abs=1e-6)


def test_one_separated_group_leaves_the_others_as_they_are():
    groups = np.repeat([0, 1, 2], 4)
    y = np.array([0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1.0])  # ½, ¾, 1
    x = np.column_stack([np.ones(12), groups == 1, groups == 2]).astype(float)
    fit = logistic(x, y)
    assert fit.fitted[[0, 4, 8]] == pytest.approx([0.5, 0.75, 1.0], abs=1e-9)
    assert fit.separated


def test_dense_and_sparse_designs_agree():
    rng = np.random.default_rng(5)
    x = np.column_stack([np.ones(60), rng.integers(0, 2, (60, 3)) * rng.normal(size=(60, 3))])
    y, w = rng.uniform(size=60), rng.uniform(1, 2, 60)
    assert np.array_equal(logistic(x, y, w).fitted, logistic(csr_matrix(x), y, w).fitted)
    assert gram(csr_matrix(x), w) == pytest.approx(x.T @ (w[:, None] * x))


def test_independent_columns_of_random_integer_matrices():
    rng = np.random.default_rng(6)
    for _ in range(50):
        x = rng.integers(-1, 2, (8, 6)).astype(float)
        ranks = [np.linalg.matrix_rank(x[:, : j + 1]) for j in range(6)]
        expected = np.diff([0, *ranks]) > 0
        assert independent_columns(x.T @ x).tolist() == expected.tolist()


def test_fits_in_threads_leave_the_number_of_threads_as_it_was():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(500, 8)), rng.integers(0, 2, 500).astype(float)
    before = [pool["num_threads"] for pool in threadpool_info()]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: logistic(x, y), range(40)))
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_missing_values_and_wrong_lengths_are_refused():
    with pytest.raises(DataError, match="finite"):
        logistic(np.array([[1.0], [np.nan]]), np.array([0.0, 1.0]))
    with pytest.raises(DataError, match="same length"):
        logistic(np.ones((3, 1)), np.array([0.0, 1.0]))
