"""sample_records: sizes, strata, whole households, weights that add up."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc
from sdckit.errors import OptionError


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=4),
    seed=st.integers(0, 99),
    share=st.floats(0.01, 1),
)
def test_shares_of_strata_and_weights_that_add_up(sizes, seed, share):
    rng = np.random.default_rng(seed)
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    frame = pl.DataFrame({"i": np.arange(len(stratum)), "s": stratum, "w": rng.uniform(1, 9, len(stratum))})
    data = sdc.read(frame, weight="w", id="i")
    done = sdc.protect.sample_records(data, share=share, by="s", rng=seed).frame
    assert done.group_by("s").len().sort("s")["len"].to_list() == [max(round(share * n), 1) for n in sizes]
    assert done["i"].is_sorted()
    sums = [f.group_by("s").agg(pl.col("w").sum()).sort("s")["w"].to_list() for f in (frame, done)]
    assert sums[1] == pytest.approx(sums[0])
    plain = sdc.protect.sample_records(data, share=share, by="s", adjust_weights=False, rng=seed).frame
    assert plain.equals(frame.join(done.select("i"), on="i", how="semi", maintain_order="left"))


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=5), seed=st.integers(0, 99), part=st.floats(0, 1)
)
def test_a_number_of_records_is_divided_by_size(sizes, seed, part):
    total = sum(sizes)
    n = max(round(part * total), len(sizes))
    frame = pl.DataFrame({"s": np.repeat(np.arange(len(sizes)), sizes)})
    done = sdc.protect.sample_records(sdc.read(frame), n=n, by="s", rng=seed).frame
    kept = done.group_by("s").len().sort("s")["len"].to_list()
    assert sum(kept) == n
    for mine, size in zip(kept, sizes, strict=True):
        assert 1 <= mine <= size
        assert abs(mine - (1 + (n - len(sizes)) * (size - 1) / max(total - len(sizes), 1))) < 1


def test_every_record_is_equally_likely():
    # 20 counts of 600 draws with chance 1/4, each within 5 standard errors: wrong once in 80,000 by chance
    data, rng = sdc.read(pl.DataFrame({"x": range(20)})), np.random.default_rng(5)
    drawn = np.concatenate([sdc.protect.sample_records(data, n=5, rng=rng).frame["x"] for _ in range(600)])
    times = np.bincount(drawn, minlength=20)
    assert np.abs(times - 150).max() < 5 * np.sqrt(600 * 0.25 * 0.75)


def test_households_are_drawn_whole(survey):
    done = sdc.protect.sample_records(survey, share=0.3, by="urban", rng=1)
    homes = survey.frame["household_id"]
    kept = done.frame["household_id"].unique().to_list()
    assert done.frame.height == homes.is_in(kept).sum()
    assert done.log[-1].figures["households_kept"] == len(kept)
    assert abs(len(kept) - 0.3 * homes.n_unique()) <= 1
    assert done.weights().sum() == pytest.approx(survey.weights().sum())
    assert done.log[-1].figures["records_kept"] + done.log[-1].figures["records_left_out"] == survey.height


def test_mistakes(survey):
    data = sdc.read(pl.DataFrame({"s": ["a", "b", None]}))
    with pytest.raises(OptionError, match=r"needs 'share' or 'n'. Given: neither"):
        sdc.protect.sample_records(data)
    with pytest.raises(OptionError, match=r"larger than the number of records. Given: 4. Allowed: 1 to 3"):
        sdc.protect.sample_records(data, n=4)
    with pytest.raises(OptionError, match=r"larger than the number of households"):
        sdc.protect.sample_records(survey, n=600)
    with pytest.raises(OptionError, match=r"n is smaller than the number of strata. Given: 2. Allowed: 3"):
        sdc.protect.sample_records(data, n=2, by="s")
