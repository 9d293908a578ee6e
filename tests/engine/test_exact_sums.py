import random
from fractions import Fraction

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdckit.engine import frames
from sdckit.engine.exact_sums import ExactSum, exact_sums
from sdckit.errors import DataError


def table(n=2000, seed=1):
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "g": [draw.choice(["a", "b", None]) for _ in range(n)],
            "x": [draw.choice([None, draw.gauss(0, 1) * 10.0 ** draw.randint(-3, 8)]) for _ in range(n)],
            "whole": [draw.randint(-(10**9), 10**9) for _ in range(n)],
        }
    )


def test_sums_are_those_of_fractions_on_every_engine(lazy):
    frame = table()
    got = exact_sums(lazy(frame), ["x", "whole"], ["g"])
    for g in ("a", "b", None):
        part = frame.filter(pl.col("g").eq_missing(pl.lit(g)))
        for name, found in zip(["x", "whole"], got[(g,)], strict=True):
            values = part[name].drop_nulls()
            exact = sum((Fraction(v) for v in values), Fraction(0))
            assert found.n == len(values)
            assert abs(found.total - exact) <= Fraction(2) ** -50  # below the last digit of any sum here
    again = exact_sums(frames.lazy(frame), ["x", "whole"], ["g"])
    assert got == again


def test_nearly_everything_cancels(lazy):
    x = [1e16, 1.0, -1e16, 1e-3]
    (found,) = exact_sums(lazy(pl.DataFrame({"x": x})), ["x"])[()]
    assert float(found.total) == 1.001
    assert found.mean == 1.001 / 4


def test_no_values(lazy):
    empty = lazy(pl.DataFrame({"x": [None, None]}, schema={"x": pl.Float64}))
    assert exact_sums(empty, ["x"]) == {(): [ExactSum(0, Fraction(0))]}
    assert exact_sums(empty, ["x"])[()][0].mean == 0.0


def test_infinite_numbers_are_refused():
    infinite = frames.lazy(pl.DataFrame({"x": [1e200]})).with_columns((nw.col("x") * nw.col("x")).alias("y"))
    with pytest.raises(DataError, match="too large"):
        exact_sums(infinite, ["y"])


@settings(max_examples=60)
@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_any_numbers_in_any_order(x, order):
    shuffled = list(x)
    order.shuffle(shuffled)
    first, second = (exact_sums(frames.lazy(pl.DataFrame({"x": v})), ["x"])[()][0] for v in (x, shuffled))
    assert first == second
    exact = sum(map(Fraction, x), Fraction(0))
    assert abs(first.total - exact) <= Fraction(2) ** -80 * Fraction(max(np.abs(x)) + 2.0**-900) * len(x)
