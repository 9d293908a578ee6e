"""Nearest records by all distances, by scan and by the tree: the same to the last digit."""

import numpy as np
import pytest

from sdckit.kernels import nearest
from sdckit.kernels.nearest import Rule, build, count_nearer, own_distances, two_nearest


@pytest.mark.parametrize("n", [1, 2, 40, 3_000])
@pytest.mark.parametrize("levels", [3, 700])
@pytest.mark.parametrize("blank", [0.0, 1.0])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_scan_and_tree_agree(n, levels, blank, missing, monkeypatch):
    rng = np.random.default_rng(n + levels)

    def records(size):
        categories = rng.integers(1, levels + 1, (size, 5)).astype(float)
        x = np.column_stack([rng.uniform(0, 1, size), categories, rng.uniform(0, 1, size)])
        x[rng.random(x.shape) < missing] = np.nan
        return x

    nominal = np.array([False, *[True] * 5, False])
    x, queries = records(n), records(60)
    rule = Rule(nominal, np.ones(7), np.full(7, blank), False, False)
    small = build(x, rule)
    monkeypatch.setattr(nearest, "CLOSE", 100)  # few queries at a time, and one where there are many records
    monkeypatch.setattr(nearest, "SMALL", -1)
    tree = build(x, rule)
    for q, own in ((queries, np.full(60, -1)), (x[:60], np.arange(len(x[:60])))):
        monkeypatch.setattr(nearest, "SCAN", 4)
        scanned = two_nearest(tree, q, own)
        monkeypatch.setattr(nearest, "SCAN", 99)
        for other in (two_nearest(tree, q, own), two_nearest(small, q, own)):
            assert all((a == b).all() for a, b in zip(scanned, other, strict=True))


@pytest.mark.parametrize("n", [1, 30, 400])
@pytest.mark.parametrize("square", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_counts_of_nearer_records_by_all_distances_and_by_the_tree(n, square, missing, monkeypatch):
    rng = np.random.default_rng(n)
    x, y = rng.integers(0, 9, (2, n, 3)) / 8 + rng.normal(size=3)
    for values in (x, y):
        values[rng.random((n, 3)) < missing] = np.nan
    rule = Rule(np.array([True, False, False]), np.full(3, 0.7), np.full(3, 0.2), square, False)
    own = own_distances(x, y, rule)
    monkeypatch.setattr(nearest, "CLOSE", 100)
    by_all = count_nearer(build(x, rule), y, own, own * 1.01, 5)
    monkeypatch.setattr(nearest, "PAIRS", -1)  # all records in one leaf
    in_a_leaf = count_nearer(build(x, rule), y, own, own * 1.01, 5)
    monkeypatch.setattr(nearest, "SMALL", -1)
    by_tree = count_nearer(build(x, rule), y, own, own * 1.01, 5)
    complete = by_all[0] < 5  # beyond that counting ended early
    for nearer, within in (in_a_leaf, by_tree):
        assert (nearer == by_all[0]).all()
        assert (within[complete] == by_all[1][complete]).all()


def test_without_records_there_is_no_nearest():
    rule = Rule(np.array([True, False]), np.ones(2), np.ones(2), False, False)
    tree, queries = build(np.empty((0, 2)), rule), np.ones((3, 2))
    for distances in two_nearest(tree, queries, np.full(3, -1)):
        assert np.isinf(distances).all()
    for counts in count_nearer(tree, queries, np.ones(3), np.ones(3), 5):
        assert (counts == 0).all()
