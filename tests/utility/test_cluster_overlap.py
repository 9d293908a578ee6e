"""Cluster overlap: hand-worked, extremes and what must not matter."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.utility.cluster_overlap import cluster_overlap


def blobs(shares, seed=1, **roles) -> sdc.Microdata:
    """Records around far-apart centres, so that k-means has only one good answer."""
    rng = np.random.default_rng(seed)
    centre = np.repeat(np.arange(len(shares)), shares)
    frame = pl.DataFrame(
        {
            "x": centre * 100 + rng.normal(size=len(centre)),
            "y": (centre % 2) * 100 + rng.normal(size=len(centre)),
            "k": [f"c{c}" for c in centre],
            "w": rng.integers(1, 4, len(centre)).astype(float),
        }
    )
    return sdc.read(frame, numeric=["x", "y"], keys="k", **roles)


def test_by_hand():
    result = cluster_overlap(blobs([30, 10, 20]), blobs([10, 20, 10], seed=2), groups=3)
    c = 60 / 100
    expected = np.mean([(30 / 40 - c) ** 2, (10 / 30 - c) ** 2, (20 / 30 - c) ** 2])
    assert result.value == pytest.approx(expected)
    assert result.parts.select("records", "share_original").rows() == [
        (40, pytest.approx(0.75)),
        (30, pytest.approx(1 / 3)),
        (30, pytest.approx(2 / 3)),
    ]
    assert result.figures["expected_by_chance"] == pytest.approx(c * (1 - c) * (1 / 40 + 2 / 30) / 3)


def test_the_same_file_twice_gives_exactly_nothing():
    data = blobs([20, 30, 40])
    assert cluster_overlap(data, data).value == 0
    assert cluster_overlap(data, data.with_frame(data.frame.reverse())).value == 0


def test_files_with_nothing_in_common_give_the_maximum():
    data = blobs([20, 30])
    far = data.with_frame(data.frame.with_columns(pl.col("x") + 1e4, k=pl.lit("z")))
    assert cluster_overlap(data, far).value == pytest.approx(0.25)


def test_swapping_the_files_or_repeating_all_records_changes_nothing():
    x, y = blobs([30, 10, 20]), blobs([10, 20, 30], seed=2)
    expected = cluster_overlap(x, y).value
    assert expected > 0
    assert cluster_overlap(y, x).value == pytest.approx(expected, rel=1e-9)
    xx, yy = (d.with_frame(pl.concat([d.frame, d.frame])) for d in (x, y))
    assert cluster_overlap(xx, yy).value == pytest.approx(expected, rel=1e-9)


def test_records_count_with_their_weights():
    x, y = blobs([30, 10, 20], weight="w"), blobs([10, 20, 30], seed=2, weight="w")
    expected = []
    for group in ("c0", "c1", "c2"):
        a, b = (
            d.frame.filter(pl.col("k") == group)["w"].sum() / d.frame["w"].sum() for d in (x, y)
        )  # files of the same length, so their weights are scaled to the same total
        expected.append((a / (a + b) - 0.5) ** 2)
    assert cluster_overlap(x, y, groups=3).value == pytest.approx(np.mean(expected))


def test_whole_weights_are_repeated_records():
    x, y = blobs([30, 10, 20]), blobs([10, 20, 30], seed=2)
    twice = [pl.concat([d.frame, d.frame.head(20)]) for d in (x, y)]
    weight = pl.Series([2.0] * 20 + [1.0] * 40)
    roles = {"numeric": ["x", "y"], "keys": "k"}
    weighted = [sdc.read(d.frame.with_columns(w=weight), weight="w", **roles) for d in (x, y)]
    found = cluster_overlap(*weighted, groups=7).value
    assert found == pytest.approx(cluster_overlap(*[sdc.read(f, **roles) for f in twice], groups=7).value)
    assert found != pytest.approx(cluster_overlap(x, y, groups=7).value)


def test_weights_pull_the_clusters():
    frame = pl.DataFrame({"v": [0.0, 4.0, 10.0], "w": [100.0, 100.0, 1.0]})
    light, heavy = sdc.read(frame, numeric="v"), sdc.read(frame, numeric="v", weight="w")
    assert cluster_overlap(light, light, groups=2).parts["weight"].to_list() == [4, 2]  # 0 and 4 | 10
    shares = cluster_overlap(heavy, heavy, groups=2).parts["weight"] / 6
    assert shares.to_list() == pytest.approx([101 / 201, 100 / 201])  # 4 and 10 | 0


def test_fewer_distinct_records_than_groups():
    data = sdc.read(pl.DataFrame({"k": ["a", "a", "b"]}), keys="k")
    result = cluster_overlap(data, data.with_frame(pl.DataFrame({"k": ["a", "b", "b"]})))
    assert result.figures["clusters"] == 2
    assert result.value == pytest.approx((2 / 3 - 0.5) ** 2)
    assert "only 2 clusters" in result.notes[0]


def test_categories_and_missing_values_count():
    data = blobs([50, 50])
    lost = data.with_frame(data.frame.with_columns(x=pl.when(pl.col("x") > 50).then(None).otherwise("x")))
    assert cluster_overlap(data, lost, variables="x", groups=3).value > 0.01
    swapped = data.with_frame(data.frame.with_columns(k=pl.lit("c0")))
    assert cluster_overlap(data, swapped, variables="k", groups=2).value > 0.01


def test_many_distinct_records_are_all_assigned():
    rng = np.random.default_rng(1)
    x, y = (sdc.read(pl.DataFrame({"v": rng.normal(size=15_000)}), numeric="v") for _ in range(2))
    result = cluster_overlap(x, y, groups=5)
    assert result.parts["records"].sum() == 30_000
    assert result.value < 0.001
