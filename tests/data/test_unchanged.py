"""What still stands in a protected file as it stood in the original."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.unchanged import same_ids


def sample(clusters: int) -> sdc.Microdata:
    rng = np.random.default_rng(clusters)
    frame = pl.DataFrame({"psu": rng.integers(0, clusters, 200) + 1, "sex": rng.choice(["f", "m"], 200)})
    return sdc.read(frame, keys="sex", cluster="psu")


@pytest.mark.parametrize("clusters", [4, 8, 12, 40])
def test_new_numbers_of_few_clusters_are_not_the_old_ones(clusters):
    data = sample(clusters)
    assert not any(same_ids(data, sdc.protect.new_ids(data, rng=seed)) for seed in range(30))


@pytest.mark.parametrize("change", [pl.col("psu") + 1000, 5000 - 7 * pl.col("psu")])
def test_numbers_that_follow_the_old_ones_are_the_same(change):
    data = sample(40)
    assert same_ids(data, data.with_frame(data.frame.with_columns(change))) == ("psu",)
