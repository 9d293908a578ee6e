"""Suppression on subsets of the keys: k records on each of them, and no value blanked that all could show."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_suppression import group_sizes, tables
from sdckit.kernels.suppression.sound import UnreachableError
from sdckit.kernels.suppression.subsets import suppress_on_subsets

COSTS = st.sampled_from([1.0, 1.0, 2.0, 5.0, np.inf])


@settings(deadline=None, max_examples=60)
@given(tables(max_rows=20, max_keys=4), st.integers(2, 4), st.data())
def test_every_subset_has_k_records_in_each_pattern(codes, k, data):
    q = codes.shape[1]
    cost = np.array(data.draw(st.lists(COSTS, min_size=q, max_size=q)))
    some = st.lists(st.integers(0, q - 1), min_size=1, max_size=q, unique=True)
    subsets = data.draw(st.lists(some, min_size=1, max_size=4))
    fixed = [[j for j in s if np.isinf(cost[j])] for s in subsets]
    rng = np.random.default_rng(1)
    if any(min(group_sizes(codes, s)) < k for s in fixed):
        with pytest.raises(UnreachableError):
            suppress_on_subsets(codes, subsets, k=k, cost=cost, rng=rng, effort=0.02)
        return
    mask = suppress_on_subsets(codes, subsets, k=k, cost=cost, rng=rng, effort=0.02)
    after = np.where(mask, -1, codes)
    assert all(min(group_sizes(after, s)) >= k for s in subsets)
    assert not mask[codes < 0].any()
    assert not mask[:, np.isinf(cost)].any()
    assert not mask[:, [j for j in range(q) if not any(j in s for s in subsets)]].any()
    for row, j in np.argwhere(mask):  # no single value could be shown again
        shown = after.copy()
        shown[row, j] = codes[row, j]
        assert any(min(group_sizes(shown, s)) < k for s in subsets)


def test_pairs_cost_less_than_all_keys():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, [2, 3, 4, 6], (200, 4)).astype(np.int32)
    masks = [
        suppress_on_subsets(
            codes, list(combinations(range(4), size)), k=3, cost=np.ones(4), rng=rng, effort=0.1
        )
        for size in (2, 4)
    ]
    assert 0 <= masks[0].sum() < masks[1].sum()
