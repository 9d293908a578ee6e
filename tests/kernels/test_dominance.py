import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sdckit.kernels.dominance as module
from naive_ecdf import naive_dominance
from sdckit.kernels.dominance import dominance_sums


@st.composite
def tables(draw):
    """Few values, so ties, duplicate rows, constant columns and values that cancel are common."""
    n, p = draw(st.integers(1, 60)), draw(st.integers(1, 5))
    tops = [draw(st.sampled_from([0, 1, 3, 50])) for _ in range(p)]
    rows = [[float(draw(st.integers(-top, top))) for top in tops] for _ in range(n)]
    values = draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
    return rows, values


def brute(points, values):
    below = np.ones((len(points), len(points)), dtype=bool)
    for column in points.T:
        below &= column[:, None] <= column[None, :]
    return values @ below


@pytest.fixture(params=["as it comes", "by splitting"])
def either_way(request, monkeypatch):
    """Small files are compared pair by pair: here the kernel for large ones gets them, too."""
    if request.param == "by splitting":
        monkeypatch.setattr(module, "SMALL", -1)


@pytest.mark.usefixtures("either_way")
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables())
def test_same_as_every_pair_compared(case):
    rows, values = case
    found = dominance_sums(np.array(rows), np.array([values, values[::-1]]))
    assert found[0].tolist() == naive_dominance(rows, values)
    assert found[1].tolist() == naive_dominance(rows, values[::-1])


SHAPES = {
    "normal": lambda rng, n, p: rng.normal(size=(n, p)),
    "correlated": lambda rng, n, p: rng.normal(size=(n, 1)) + 0.1 * rng.normal(size=(n, p)),
    "opposed": lambda rng, n, p: rng.normal(size=(n, 1)) * np.resize([1, -1], p) + rng.normal(size=(n, p)),
    "mostly zero": lambda rng, n, p: rng.lognormal(size=(n, p)) * (rng.random((n, p)) < 0.3),
    "few values": lambda rng, n, p: rng.integers(0, 4, (n, p)).astype(float),
    "one column many values": lambda rng, n, p: np.column_stack(
        [rng.integers(0, 2, (n, p - 1)), rng.normal(size=n)]
    ),
}


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("p", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("shape", SHAPES)
def test_large_enough_to_be_split(shape, p):
    rng = np.random.default_rng(p)
    points = SHAPES[shape](rng, 1500, p)
    values = rng.integers(-(10**12), 10**12, (2, 1500))
    assert (dominance_sums(points, values) == brute(points, values)).all()


def test_more_than_thirty_thousand_in_threads():
    rng = np.random.default_rng(2)
    n = module.THREADED + 1000
    points, values = rng.normal(size=(n, 3)), rng.integers(-9, 9, (1, n))
    found = dominance_sums(points, values)
    for i in range(0, n, 997):
        assert found[0, i] == values[0, (points <= points[i]).all(axis=1)].sum()


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_nothing(monkeypatch, threads):
    rng = np.random.default_rng(4)
    points = np.round(rng.normal(size=(3000, 3)), 1)
    values = rng.integers(-(10**12), 10**12, (2, 3000))
    monkeypatch.setattr(module, "THREADED", 100)
    monkeypatch.setattr(numba, "get_num_threads", lambda: threads)
    assert (dominance_sums(points, values) == brute(points, values)).all()


def test_row_and_column_order_change_nothing():
    rng = np.random.default_rng(7)
    points, values = rng.integers(0, 30, (2000, 4)).astype(float), rng.integers(-9, 9, (2, 2000))
    expected, mixed = dominance_sums(points, values), rng.permutation(2000)
    assert (dominance_sums(points[mixed][:, [2, 0, 3, 1]], values[:, mixed]) == expected[:, mixed]).all()
    assert (dominance_sums(np.asfortranarray(points), np.asfortranarray(values)) == expected).all()


@pytest.mark.usefixtures("either_way")
def test_infinite_coordinates_are_the_ends():
    points = np.array([[-np.inf, 1.0], [0.0, np.inf], [np.inf, 1.0], [0.0, 0.0]])
    assert dominance_sums(points, np.array([[1, 10, 100, 1000]])).tolist() == [[1, 1011, 1101, 1000]]
