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


@pytest.mark.parametrize("abroad", [0.0, 0.005])
def test_a_clinic_tells_the_region_of_a_hidden_municipality(abroad):
    """No clinic follows from a municipality, but who knows the municipality knows which six it can be."""
    rng = np.random.default_rng(1)
    town, away = rng.integers(0, 60, 3000), rng.random(3000) < abroad
    region = np.where(away, rng.integers(0, 5, 3000), town // 12)
    clinic = rng.permutation(30)[region * 6 + rng.integers(0, 6, 3000)]
    frame = pl.DataFrame({"town": town, "clinic": clinic, "other": rng.permutation(clinic)})
    frame = frame.with_columns(none=pl.lit(None, dtype=pl.Int64))
    data = sdc.read(frame, keys="town", sensitive=["clinic", "other", "none"])
    told = columns_that_follow(data, sdc.protect.drop(data, variables="town"))
    assert list(told) == ["clinic"]
    assert len(np.unique(told["clinic"])) == 5
    assert not columns_that_follow(data, data)
