"""Rows shared among threads give the same results in the same order."""

import numpy as np
import pytest

from sdckit.kernels import _threads
from sdckit.kernels._threads import by_rows, in_order


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("n", [0, 1, 23, 2_000])
def test_pieces_come_back_in_order(number, n, monkeypatch):
    monkeypatch.setattr(_threads, "threads", lambda: number)
    x, y = np.arange(n), np.arange(2 * n).reshape(n, 2)
    total, square = by_rows(lambda a, b: (a + b.sum(axis=1), a**2), x, y)
    assert (total == x + y.sum(axis=1)).all()
    assert (square == x**2).all()


def test_an_error_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setattr(_threads, "threads", lambda: 2)

    def fail(_):
        raise ValueError("in a thread")

    with pytest.raises(ValueError, match="in a thread"):
        by_rows(fail, np.arange(5_000))


@pytest.mark.parametrize("number", [1, 3])
def test_results_come_in_order(number, monkeypatch):
    monkeypatch.setattr(_threads, "threads", lambda: number)
    assert in_order(lambda a, b: (a, b), "xyz", [1, 2, 3]) == [("x", 1), ("y", 2), ("z", 3)]
    assert in_order(str, []) == []
