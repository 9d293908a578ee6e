"""Nearest records by scan: the same distances as by the tree."""

import numpy as np
import pytest

from sdckit.kernels import nearest
from sdckit.kernels.nearest import Rule, build, two_nearest


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
    tree = build(x, Rule(nominal, np.ones(7), np.full(7, blank), False, False))
    for q, own in ((queries, np.full(60, -1)), (x[:60], np.arange(len(x[:60])))):
        monkeypatch.setattr(nearest, "SCAN", 4)
        scanned = two_nearest(tree, q, own)
        monkeypatch.setattr(nearest, "SCAN", 99)
        assert all((a == b).all() for a, b in zip(scanned, two_nearest(tree, q, own), strict=True))
