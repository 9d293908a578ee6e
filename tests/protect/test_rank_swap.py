"""rank_swap: the same values, no further than the window, missing values where they were."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from conftest import oracle_cases
from sdckit.data.effects import Effects
from sdckit.errors import ColumnError, OptionError

METHODS = ["window", "groups"]
values = st.lists(st.one_of(st.none(), st.integers(-3, 3), st.floats(-1e6, 1e6)), min_size=1, max_size=40)


def single(column, **more):
    return sdc.read(pl.DataFrame({"x": pl.Series(column, dtype=pl.Float64), **more}), numeric="x")


def displacements(before, after):
    """How far values moved in rank; `before` has no ties."""
    return np.searchsorted(np.sort(before), after) - np.searchsorted(np.sort(before), before)


@settings(max_examples=100, deadline=None)
@given(column=values, method=st.sampled_from(METHODS), percent=st.integers(1, 100), seed=st.integers(0, 999))
def test_marginals_are_kept_exactly_and_missing_values_stay(column, method, percent, seed):
    data = single(column)
    after = sdc.protect.rank_swap(data, rank_distance=percent / 100, method=method, rng=seed).frame["x"]
    before = data.frame["x"]
    assert after.is_null().to_list() == before.is_null().to_list()
    assert after.drop_nulls().sort().to_list() == before.drop_nulls().sort().to_list()


@settings(max_examples=100, deadline=None)
@given(n=st.integers(1, 120), percent=st.integers(1, 100), seed=st.integers(0, 999))
def test_no_value_moves_further_than_promised(n, percent, seed):
    x = np.random.default_rng(seed).permutation(n).astype(float)
    for method, furthest in (
        ("window", max(percent * n // 100, 1)),
        ("groups", max(-(-percent * n // 100) - 1, 1)),
    ):
        y = (
            sdc.protect.rank_swap(single(x), rank_distance=percent / 100, method=method, rng=seed)
            .frame["x"]
            .to_numpy()
        )
        moved = np.abs(displacements(x, y))
        assert moved.max() <= furthest
        if method == "window":
            assert (moved == 0).sum() == n % 2


def test_strata_are_swapped_each_on_its_own():
    rng = np.random.default_rng(1)
    stratum = rng.choice(["a", "b", None], 300)
    x = rng.permutation(300).astype(float)
    data = single(x, s=pl.Series(stratum.tolist()))
    after = sdc.protect.rank_swap(data, rank_distance=0.1, by="s", rng=1)
    for old, new in zip(data.frame.partition_by("s"), after.frame.partition_by("s"), strict=True):
        assert new["x"].sort().to_list() == old["x"].sort().to_list()
        assert np.abs(displacements(old["x"].to_numpy(), new["x"].to_numpy())).max() <= 0.1 * old.height
    assert after.log[-1].figures["values_changed"] >= 297


def test_variables_are_swapped_independently_and_types_are_kept():
    frame = pl.DataFrame({"a": range(1000), "b": range(1000), "other": range(1000)})
    data = sdc.read(frame, numeric=["a", "b"])
    after = sdc.protect.rank_swap(data, rank_distance=0.05, rng=1).frame
    assert after.schema == frame.schema
    assert after["other"].to_list() == frame["other"].to_list()
    assert after["a"].to_list() != after["b"].to_list()


def test_the_seed_decides():
    data = single(np.random.default_rng(0).normal(size=200))
    for method in METHODS:
        one, same, other = (sdc.protect.rank_swap(data, method=method, rng=s).frame for s in (1, 1, 2))
        assert one.equals(same)
        assert not one.equals(other)


def test_relations_weaken_with_the_share():
    x = np.random.default_rng(0).normal(size=2000)
    data = sdc.read(pl.DataFrame({"a": x, "b": x}), numeric=["a", "b"])
    kept = [
        sdc.protect.rank_swap(data, rank_distance=s, rng=1).frame.select(pl.corr("a", "b")).item()
        for s in (0.01, 0.1, 0.5, 1.0)
    ]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] > 0.99
    assert abs(kept[-1]) < 0.15


def test_records_keep_their_place_and_the_log_says_what_moved():
    data = single(np.random.default_rng(0).normal(size=50))
    entry = sdc.protect.rank_swap(data, rng=1).log[-1]
    assert entry.figures == {"values_changed": 50, "values_not_moved": 0}
    assert entry.effects == Effects(moves_values=("x",))


def test_old_names_of_options_are_still_taken():
    data = single(np.random.default_rng(0).normal(size=50))
    with pytest.warns(DeprecationWarning, match="is now called '(method|rank_distance)'"):
        old = sdc.protect.rank_swap(data, rule="groups", share=0.3, rng=1)
    assert old.frame.equals(sdc.protect.rank_swap(data, method="groups", rank_distance=0.3, rng=1).frame)


def test_mistakes():
    data = sdc.read(pl.DataFrame({"x": [1.0, 2.0], "t": ["a", "b"]}), numeric="x")
    with pytest.raises(OptionError, match=r"Option 'rank_distance' of rank_swap is not valid. Given: 5"):
        sdc.protect.rank_swap(data, rank_distance=5)
    with pytest.raises(ColumnError, match=r"rank_swap needs numbers; 't' does not hold numbers"):
        sdc.protect.rank_swap(data, variables="t")


@pytest.mark.parametrize("case", oracle_cases("05", lambda c: c["id"].startswith("rankswap_P_0.")))
def test_values_move_as_far_on_average_as_the_stored_ones(oracles, case):
    n, expected = case["params"]["n"], case["expected"]
    window = expected["max_rank_displacement"]
    x = np.arange(n, dtype=float)
    moved = np.array(
        [
            np.abs(
                sdc.protect.rank_swap(single(x), rank_distance=window / n, rng=s).frame["x"].to_numpy() - x
            )
            for s in range(20)
        ]
    )
    assert moved.max() == window
    # the mean over 20 seeds has a standard error of about 0.2 % on either side
    assert moved.mean() == pytest.approx(expected["mean_abs_displacement"], rel=0.015)
