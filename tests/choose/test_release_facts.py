"""Facts about a protected file that are asked before it is released."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.choose.release_facts import joining_columns, not_looked_at


@pytest.mark.parametrize("kind", [pl.UInt64, pl.Int64])
@pytest.mark.parametrize(("value", "long"), [(5, False), (2**53, False), (2**53 + 1, True)])
def test_numbers_longer_than_measures_see(kind, value, long):
    frame = pl.DataFrame({"sex": ["f", "m"] * 20, "debt": pl.Series([value, 1] * 20, dtype=kind)})
    data = sdc.read(frame, keys="sex", sensitive="debt")
    assert not_looked_at(data, data) == ["debt"] * long


def test_the_lowest_number_is_long():
    data = sdc.read(pl.DataFrame({"sex": ["f", "m"] * 20, "debt": [-(2**63), 1] * 20}), sensitive="debt")
    assert not_looked_at(data, data) == ["sex", "debt"]


@pytest.mark.parametrize("none", [0.0, 0.9, 0.97])
@pytest.mark.parametrize("shown", [0, None])
def test_benefits_of_few_join_their_households(none, shown):
    rng = np.random.default_rng(1)
    home = np.repeat(np.arange(1000), 2)
    benefit = np.where(rng.random(1000) < none, 0, rng.integers(1, 10**6, 1000))
    frame = pl.DataFrame(
        {
            "region": rng.choice(list("abcdefgh"), 1000)[home],
            "sex": rng.choice(["f", "m"], 2000),
            "benefit": pl.Series(benefit[home]).replace({0: shown}),
        }
    )
    roles = {"keys": ["region", "sex"], "sensitive": "benefit"}
    data = sdc.read(frame, **roles)
    assert joining_columns(data, data) == ["benefit"]
    strangers = sdc.read(frame.with_columns(pl.col("benefit").shuffle(seed=1)), **roles)
    assert joining_columns(strangers, strangers) == []
