"""microaggregate: groups of k, means kept, nothing left unprotected."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from conftest import oracle_cases
from sdckit.errors import OptionError


def numbers(x, **more):
    frame = pl.DataFrame({f"x{j}": x[:, j] for j in range(x.shape[1])}).fill_nan(None)
    return sdc.read(frame.with_columns(**more), numeric=[f"x{j}" for j in range(x.shape[1])])


@settings(max_examples=40, deadline=None)
@given(n=st.integers(3, 60), p=st.integers(1, 3), k=st.integers(2, 3), seed=st.integers(0, 99))
def test_groups_have_k_members_and_means_are_kept(n, p, k, seed):
    x = np.round(np.random.default_rng(seed).lognormal(size=(n, p)), 1)
    data = numbers(x)
    protected = sdc.protect.microaggregate(data, k=k)
    sizes = protected.frame.group_by(protected.roles.numeric).len()["len"]
    assert sizes.min() >= k
    for column in data.roles.numeric:
        assert protected.frame[column].mean() == pytest.approx(data.frame[column].mean())


@settings(max_examples=60, deadline=None)
@given(n=st.integers(4, 50), k=st.integers(2, 4), seed=st.integers(0, 999), share=st.floats(0.05, 0.9))
def test_no_number_is_released_that_stands_for_fewer_than_k_records(n, k, seed, share):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    x[rng.random(x.shape) < share] = np.nan
    data = numbers(x)
    protected = sdc.protect.microaggregate(data, k=k).frame.to_numpy()
    assert (np.isnan(x) <= np.isnan(protected)).all(), "missing stays missing"
    released = protected[~np.isnan(protected)]
    assert not np.isin(released, x).any(), "an original value survived"


def test_within_strata_and_small_strata_are_pooled():
    x = np.arange(12.0)[:, None]
    data = numbers(x, s=pl.Series(["a"] * 5 + ["b"] * 4 + ["c", "d", "e"]))
    protected = sdc.protect.microaggregate(data, k=3, by="s").frame
    means = dict(protected.group_by("s").agg(pl.col("x0").mean()).iter_rows())
    assert means["a"] == 2.0
    assert means["b"] == 6.5
    assert protected["x0"].tail(3).to_list() == [10, 10, 10]


@settings(max_examples=60, deadline=None)
@given(n=st.integers(3, 60), k=st.integers(2, 3), percent=st.integers(1, 100), seed=st.integers(0, 99))
def test_rank_groups_have_k_members_of_close_rank_and_keep_means(n, k, percent, seed):
    x = np.random.default_rng(seed).permutation(n).astype(float)[:, None] ** 2
    y = sdc.protect.microaggregate(numbers(x), k=k, method="rank_groups", share=percent / 100).frame["x0"]
    groups = (
        pl.DataFrame({"rank": np.sqrt(x[:, 0]), "value": x[:, 0], "y": y})
        .group_by("y")
        .agg(pl.len(), spread=pl.col("rank").max() - pl.col("rank").min(), mean=pl.col("value").mean())
    )
    assert groups["len"].min() >= k
    assert groups["y"].to_list() == pytest.approx(groups["mean"].to_list())
    # k may ask for more than the share allows; groups of fewer than 2k are then not cut
    assert groups["spread"].max() < max(percent / 100 * n, 2 * k - 1)


def test_rank_groups_take_each_variable_on_its_own():
    data = numbers(np.array([[1.0, 9.0], [2.0, 8.0], [3.0, 1.0], [6.0, np.nan], [5.0, 2.0]]))
    after = sdc.protect.microaggregate(data, k=2, method="rank_groups", share=0.5)
    assert after.frame["x0"].to_list() == [2.0, 2.0, 2.0, 5.5, 5.5]
    assert after.frame["x1"].to_list() == [8.5, 8.5, 1.5, None, 1.5]
    assert after.log[-1].figures == {"groups": 4, "values_changed": 8, "values_blanked": 0}


def test_the_log_tells_what_was_done():
    entry = sdc.protect.microaggregate(numbers(np.arange(7.0)[:, None]), k=3).log[-1]
    assert entry.method == "microaggregate"
    assert entry.figures["groups"] == 2


def test_mistakes():
    data = numbers(np.arange(4.0)[:, None])
    with pytest.raises(
        OptionError, match=r"k is larger than the number of records. Given: 5. Allowed: 2 to 4"
    ):
        sdc.protect.microaggregate(data, k=5)
    with pytest.raises(OptionError, match=r"Option 'method' of microaggregate is not valid. Given: 'mdaw'"):
        sdc.protect.microaggregate(data, method="mdaw")
    for options in ({"share": 0.1}, {"method": "rank_groups"}):
        with pytest.raises(OptionError, match="share belongs to the method rank_groups, which needs it"):
            sdc.protect.microaggregate(data, **options)


@pytest.mark.parametrize("case", oracle_cases("05", lambda c: "mdav" in c["id"]))
def test_information_loss_is_not_above_the_stored_one(oracles, case):
    variables = case["inputs"]["variables"]
    data = oracles.data(case["dataset"], numeric=variables)
    k = case["params"]["aggr"]
    x = data.frame.select(pl.col(variables).cast(pl.Float64)).to_numpy()
    y = sdc.protect.microaggregate(data, k=k).frame.select(variables).to_numpy()
    z = (x - y) / x.std(axis=0, ddof=1)
    ours = (z**2).sum() / ((len(x) - 1) * x.shape[1])
    assert ours <= case["expected"]["IL_SSE_over_SST"] * (1 + 1e-9)
