"""top_code and bottom_code: nothing beyond the threshold, the rest untouched."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.errors import ColumnError, OptionError


def numbers(*columns, **more):
    frame = pl.DataFrame({f"x{j}": c for j, c in enumerate(columns)} | more)
    return sdc.read(frame, numeric=[f"x{j}" for j in range(len(columns))])


@settings(max_examples=80, deadline=None)
@given(
    values=st.lists(st.none() | st.integers(-50, 50), min_size=1, max_size=25).filter(
        lambda v: any(x is not None for x in v)
    ),
    share=st.floats(0.01, 0.9),
    whole=st.booleans(),
)
def test_shares_of_both_tails(values, share, whole):
    column = pl.Series(values, dtype=pl.Int64 if whole else pl.Float64, strict=False)
    data = numbers(column)
    present = np.array([v for v in values if v is not None], dtype=float)
    top = sdc.protect.top_code(data, share=share)
    limit = min(v for v in present if (present > v).mean() <= share + 1e-9)
    assert top.frame["x0"].to_list() == [None if v is None else min(v, limit) for v in values]
    assert top.frame["x0"].dtype == column.dtype
    bottom = sdc.protect.bottom_code(data, share=share).frame["x0"].to_list()
    turned = sdc.protect.top_code(numbers(-column), share=share).frame["x0"].to_list()
    assert bottom == [None if v is None else -v for v in turned], "bottom coding is top coding turned round"


def test_a_value_cuts_and_the_log_tells():
    done = sdc.protect.top_code(numbers([10, 64, 85, 89, None]), value=85)
    assert done.frame["x0"].to_list() == [10, 64, 85, 85, None]
    assert done.log[-1].figures == {"values_changed": 1, "records_touched": 1, "thresholds": {"x0": 85.0}}
    done = sdc.protect.bottom_code(numbers([-5.0, 3.0], [1, -7]), value=0)
    assert done.frame.rows() == [(0.0, 1), (3.0, 0)]
    assert done.log[-1].figures["records_touched"] == 2


def test_means_of_the_cut_keep_totals_and_few_values_are_not_given_away():
    x = [1, 2, 3, 10, 20, 60]
    done = sdc.protect.top_code(numbers(x), value=5, replacement="mean")
    assert done.frame["x0"].to_list() == [1, 2, 3, 30, 30, 30]
    assert done.frame["x0"].sum() == sum(x)
    assert (
        sdc.protect.top_code(numbers(x), value=5, replacement="median").frame["x0"].to_list()[3:] == [20] * 3
    )
    assert sdc.protect.top_code(numbers(x), value=15, replacement="mean").frame["x0"].to_list()[3:] == [
        10,
        15,
        15,
    ]
    assert sdc.protect.top_code(numbers(x), value=5, replacement=99).frame["x0"].to_list() == [
        1,
        2,
        3,
        99,
        99,
        99,
    ]
    decimal = sdc.protect.bottom_code(numbers([1, 2, 2, 10, 20]), value=5, replacement="mean")
    assert decimal.frame["x0"].to_list() == pytest.approx([5 / 3] * 3 + [10, 20])


def test_strata_have_their_own_thresholds():
    data = numbers([1.0, 2.0, 3.0, 100.0, 200.0, 300.0], s=["a"] * 3 + ["b"] * 3)
    done = sdc.protect.top_code(data, share=0.5, by="s")
    assert done.frame["x0"].to_list() == [1, 2, 2, 100, 200, 200]


def test_jointly_far_records_are_drawn_to_the_ellipsoid():
    rng = np.random.default_rng(1)
    x = rng.multivariate_normal([0, 0], [[1, 0.95], [0.95, 1]], size=400)
    x[0] = [1.5, -1.5]  # usual in each variable, odd in both
    done = sdc.protect.top_code(numbers(*x.T), share=0.02, joint=True)
    y = done.frame.to_numpy()
    moved = (y != x).any(axis=1)
    assert moved.sum() == done.log[-1].figures["records_touched"] == 8
    assert moved[0]
    assert abs(y[0, 0] - y[0, 1]) < 1.2
    from sdckit.models.mcd import mcd

    bulk = mcd(x)
    distance = np.sqrt(
        ((x - bulk.location) @ np.linalg.inv(bulk.covariance) * (x - bulk.location)).sum(axis=1)
    )
    after = np.sqrt(((y - bulk.location) @ np.linalg.inv(bulk.covariance) * (y - bulk.location)).sum(axis=1))
    limit = np.sort(distance)[-9]
    assert after == pytest.approx(np.minimum(distance, limit), rel=1e-6)
    direction = (y - bulk.location)[moved] / (x - bulk.location)[moved]
    assert direction[:, 0] == pytest.approx(direction[:, 1])


def test_joint_with_missing_constant_and_heaped_columns():
    rng = np.random.default_rng(2)
    x = np.column_stack([rng.normal(size=300), rng.normal(size=300), np.full(300, 7.0)])
    x[:5, 0] = 40.0
    x[:3, 1] = np.nan
    done = sdc.protect.top_code(numbers(*x.T), share=0.05, joint=True).frame.to_numpy()
    assert (np.isnan(done) == np.isnan(x)).all()
    assert done[:5, 0].max() < 10
    assert (done[:, 2] == 7).all()
    heaped = np.column_stack(
        [np.where(rng.random(300) < 0.7, 0.0, rng.normal(size=300)), rng.normal(size=300)]
    )
    assert np.isfinite(
        sdc.protect.top_code(numbers(*heaped.T), share=0.05, joint=True).frame.to_numpy()
    ).all()
    few = numbers([1.0, 2.0, 9.0])
    assert sdc.protect.top_code(few, share=0.5, joint=True).frame.height == 3


def test_mistakes():
    data = numbers([1, 2])
    for method in (sdc.protect.top_code, sdc.protect.bottom_code):
        with pytest.raises(OptionError, match=r"needs 'value' or 'share'. Given: neither"):
            method(data)
        with pytest.raises(OptionError, match=r"takes either 'value' or 'share'. Given: value, share"):
            method(data, value=1, share=0.5)
    with pytest.raises(OptionError, match=r"'joint' of top_code means nothing without 'share'"):
        sdc.Step("top_code", value=1, joint=True)
    with pytest.raises(OptionError, match=r"takes either 'joint' or 'replacement'"):
        sdc.Step("top_code", share=0.1, joint=True, replacement="mean")
    with pytest.raises(OptionError, match=r"top_code has no option 'rng'.*It draws no random numbers"):
        sdc.protect.top_code(data, value=1, rng=1)
    with pytest.raises(ColumnError, match=r"top_code needs numbers; 'k' does not"):
        sdc.protect.top_code(sdc.read(pl.DataFrame({"k": ["a"]})), variables="k", value=1)
