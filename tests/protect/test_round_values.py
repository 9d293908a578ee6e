"""round_values: multiples of the base, near, and unbiased where random."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.data.effects import Effects
from sdckit.errors import OptionError


def numbers(values, **options):
    return sdc.protect.round_values(sdc.read(pl.DataFrame({"x": values}), numeric="x"), rng=1, **options)


@settings(max_examples=100, deadline=None)
@given(
    values=st.lists(st.none() | st.integers(-5000, 5000), min_size=1, max_size=20).filter(
        lambda v: any(x is not None for x in v)
    ),
    base=st.integers(1, 300),
)
def test_whole_numbers(values, base):
    column = pl.Series(values, dtype=pl.Int64)
    near = numbers(column, base=base).frame["x"]
    down = numbers(column, base=base, method="down").frame["x"]
    drawn = numbers(column, base=base, method="random").frame["x"]
    assert near.dtype == down.dtype == drawn.dtype == pl.Int64
    for x, a, b, c in zip(values, near, down, drawn, strict=True):
        if x is None:
            assert (a, b, c) == (None, None, None)
            continue
        assert a == math.floor(Fraction(x, base) + Fraction(1, 2)) * base
        assert b == x // base * base
        assert c in (b, b + base)
        assert c == x or x % base


def test_decimal_bases_are_exact():
    assert numbers([0.3, 0.15, 0.25, -0.15, 2.0], base=0.1).frame["x"].to_list() == [0.3, 0.2, 0.3, -0.1, 2.0]
    assert numbers([0.3, 0.7, 1.1], base=0.1, method="down").frame["x"].to_list() == [0.3, 0.7, 1.1]
    assert numbers([1.3, 1.2], base=0.5).frame["x"].to_list() == [1.5, 1.0]
    assert numbers([7, 8], base=2.5).frame["x"].to_list() == [7.5, 7.5]


def test_random_rounding_is_unbiased():
    # 4.5 standard errors of the binomial: wrong about once in 150,000 runs by chance
    n = 20_000
    for x in (13.0, 19.5, -7.0):
        drawn = numbers(np.full(n, x), base=10, method="random").frame["x"].to_numpy()
        p = x / 10 - math.floor(x / 10)
        assert abs(drawn.mean() - x) < 4.5 * 10 * math.sqrt(p * (1 - p) / n)
        assert len(set(drawn)) == 2


def test_only_random_rounding_draws():
    assert not sdc.Step("round_values", base=10).random
    assert not sdc.Step("round_values", base=10, method="down").random
    assert sdc.Step("round_values", base=10, method="random").random
    entries = {m: numbers([13, 27], base=10, method=m).log[-1] for m in ("nearest", "random")}
    assert entries["random"].effects == Effects(randomises=("x",))
    assert list(entries["nearest"].effects.recodes) == ["x"]


def test_log_and_mistakes():
    assert numbers([1, 10, None], base=10).log[-1].figures == {"values_changed": 1, "records_touched": 1}
    with pytest.raises(OptionError, match=r"Option 'base' of round_values is not valid. Given: 0"):
        numbers([1], base=0)
    with pytest.raises(OptionError, match=r"Option 'method'.*'up'"):
        numbers([1], base=1, method="up")


def test_weights_that_would_become_nothing_are_refused_with_a_way_out():
    data = sdc.read(pl.DataFrame({"w": [3.0, 40.0], "x": [1, 2]}), weight="w", numeric="x")
    for method, most in (("nearest", 6), ("down", 3), ("random", 3)):
        with pytest.raises(OptionError, match=rf"1 weight would be 0.*a base of at most {most}\."):
            sdc.protect.round_values(data, variables="w", base=40, method=method, rng=1)
        sdc.protect.round_values(data, variables="w", base=most, method=method, rng=1)
