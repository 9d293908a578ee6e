"""Released columns that follow from a hidden key or number."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.choose.following_columns import columns_that_follow


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
def test_classes_of_a_number_follow_from_it_also_where_most_have_none(missing):
    rng = np.random.default_rng(1)
    income = np.exp(rng.normal(8, 0.5, 2000))
    income[rng.random(2000) < missing] = np.nan
    benefit = np.where(np.isnan(income), 0, np.digitize(income, [2000, 3000, 4000]))
    frame = pl.DataFrame({"income": income, "benefit": benefit, "other": rng.permutation(benefit)})
    data = sdc.read(frame, numeric="income", sensitive=["benefit", "other"])
    assert list(columns_that_follow(data, sdc.protect.add_noise(data, sd=1.0, rng=1))) == ["benefit"]


def test_nothing_follows_from_the_order_of_records_that_are_alike():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"income": rng.integers(0, 8, 3000) * 1000.0, "stratum": np.arange(3000) // 750})
    data = sdc.read(frame, numeric="income", strata="stratum")
    assert columns_that_follow(data, sdc.protect.add_noise(data, sd=1.0, rng=1)) == {}
