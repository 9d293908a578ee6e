"""Intervals of quantiles from those of the distribution function."""

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta, t

import sdckit as sdc

X = np.arange(1.0, 101.0)  # 1 to 100: the share up to x is x/100
DATA = sdc.read(pl.DataFrame({"x": X}), numeric="x")


def limits(data=DATA, p=0.5, row=0, **options):
    found = sdc.utility.indicators(data, data, indicators={"quantile": {"p": p}}, **options).parts
    return found.row(row, named=True)


def test_the_limits_of_1_to_100_by_hand():
    """The first value with a share above 0.5 is 51, of share 0.51: se = √(0.51·0.49/99), 99 degrees."""
    share, error, wide = 0.51, math.sqrt(0.51 * 0.49 / 99), t.ppf(0.975, 99)
    row = limits(quantile_interval="woodruff")
    assert row["estimate_original"] == 51
    assert row["low_original"] == math.floor(100 * (share - wide * error)) + 1
    assert row["high_original"] == math.floor(100 * (share + wide * error)) + 1
    width = row["high_original"] - row["low_original"]
    assert row["variance_original"] == pytest.approx((width / (2 * wide)) ** 2)


def test_the_limits_on_the_logit_and_beta_scale_by_hand():
    """Of p = 0.9 the value is 91, of share 0.91."""
    share, wide = 0.91, t.ppf(0.975, 99)
    error = math.sqrt(share * (1 - share) / 99)
    row = limits(p=0.9, quantile_interval="logit")
    ends = [
        1 / (1 + math.exp(-(math.log(share / (1 - share)) + sign * wide * error / (share * (1 - share)))))
        for sign in (-1, 1)
    ]
    assert [row["low_original"], row["high_original"]] == [math.floor(100 * e) + 1 for e in ends]
    effective = share * (1 - share) / error**2  # t of n − 1 and of the design are the same here
    row = limits(p=0.9, quantile_interval="beta")
    ends = [
        beta.ppf(0.025, effective * share, effective * (1 - share) + 1),
        beta.ppf(0.975, effective * share + 1, effective * (1 - share)),
    ]
    assert [row["low_original"], row["high_original"]] == [math.floor(100 * e) + 1 for e in ends]


def test_clusters_make_beta_limits_wider_than_their_number_of_records_would():
    frame = pl.DataFrame({"x": X, "c": np.repeat(np.arange(10), 10)})
    apart, together = sdc.read(frame, numeric="x"), sdc.read(frame, numeric="x", cluster="c")
    width = [
        row["high_original"] - row["low_original"]
        for row in (limits(data, quantile_interval="beta") for data in (apart, together))
    ]
    assert width[1] > 2 * width[0]


def test_replicates_give_the_error_of_the_share():
    """A jackknife of records is refused for a quantile, but right for the share up to it."""
    linear, left_out = (limits(quantile_interval="woodruff", variance=v) for v in ("taylor", "jackknife"))
    assert left_out == linear
    with pytest.raises(sdc.SdcError, match="rests on a quantile"):
        limits(variance="jackknife")
    with pytest.raises(sdc.SdcError, match="rests on a quantile"):
        sdc.utility.indicators(
            DATA, DATA, indicators="poverty_rate", variance="jackknife", quantile_interval="woodruff"
        )


def test_other_indicators_keep_their_intervals():
    wanted = ["mean", "median"]
    plain = sdc.utility.indicators(DATA, DATA, indicators=wanted).parts
    other = sdc.utility.indicators(DATA, DATA, indicators=wanted, quantile_interval="logit").parts
    assert plain.row(0) == other.row(0)
    assert plain["low_original"][1] != other["low_original"][1]


def test_where_there_is_no_interval():
    assert limits(p=0.999, quantile_interval="woodruff")["variance_original"] is None
    one = sdc.read(pl.DataFrame({"x": [3.0]}), numeric="x")
    assert limits(one, quantile_interval="beta")["variance_original"] is None
    same = sdc.read(pl.DataFrame({"x": [3.0, 3.0, 3.0]}), numeric="x")
    assert limits(same, quantile_interval="beta")["variance_original"] == 0
    all_taken = sdc.read(pl.DataFrame({"x": X, "f": np.ones(100)}), numeric="x")
    assert limits(all_taken, quantile_interval="woodruff", fpc="f")["variance_original"] == 0
    none = sdc.read(
        pl.DataFrame({"x": [None, None], "y": [1.0, 2.0]}, schema={"x": pl.Float64, "y": pl.Float64})
    )
    result = sdc.utility.indicators(
        none, none, indicators="median", variables="x", quantile_interval="woodruff"
    )
    assert math.isnan(result.value)
    assert result.notes


def test_a_domain_has_its_own_limits_and_an_empty_one_none():
    frame = pl.DataFrame({"x": [*X, None], "g": ["a"] * 50 + ["b"] * 50 + ["c"]})
    data = sdc.read(frame, numeric="x")
    row = limits(data, row=2, by="g", quantile_interval="woodruff")
    alone = limits(sdc.read(frame.filter(pl.col("g") == "b"), numeric="x"), quantile_interval="woodruff")
    assert row["estimate_original"] == alone["estimate_original"] == 76
    # the design of the whole file has 101/100 for 50/49 as its factor
    assert 50 < row["low_original"] <= 76 <= row["high_original"] <= 100
    notes = sdc.utility.indicators(data, data, indicators="median", by="g", quantile_interval="beta").notes
    assert any("Not computable" in note for note in notes)


def test_percentiles_and_woodruff_are_not_asked_for_together():
    with pytest.raises(sdc.SdcError, match="either 'interval' or 'quantile_interval'"):
        limits(variance="bootstrap", interval="percentile", quantile_interval="woodruff")
