"""Diversity: enough sensitive values in every pattern, k records kept, and what it cannot do is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_suppression import cells_of, group_sizes, records_of, tables
from sdckit.kernels.suppression.diversity import NotDiverseError, diversify
from sdckit.kernels.suppression.sound import suppress_cells


def fewest_values(codes, sensitive):
    return min(
        len(set(column[(codes == pattern).all(axis=1)].tolist()) - {-1})
        for pattern in np.unique(codes, axis=0)
        for column in sensitive.T
    )


@settings(deadline=None, max_examples=80)
@given(tables(max_rows=24, max_keys=4), st.integers(2, 3), st.integers(2, 3), st.integers(0, 999))
def test_every_pattern_has_k_records_and_l_values(codes, k, least, seed):
    if len(codes) < k:
        return
    cells, counts = cells_of(codes)
    cost = np.ones(codes.shape[1])
    _, released = records_of(cells, suppress_cells(cells, counts, k=k, cost=cost, effort=0))
    rng = np.random.default_rng(seed)
    sensitive = rng.integers(-1, 4, (len(codes), 2)).astype(np.int32)
    enough = all(len(set(column.tolist()) - {-1}) >= least for column in sensitive.T)
    if not enough:
        with pytest.raises(NotDiverseError):
            diversify(released, sensitive, k=k, least=least, cost=cost, rng=rng)
        return
    mask = diversify(released, sensitive, k=k, least=least, cost=cost, rng=rng)
    after = np.where(mask, -1, released)
    assert not mask[released < 0].any()
    assert min(group_sizes(after)) >= k
    assert fewest_values(after, sensitive) >= least


def test_a_few_records_are_borrowed_and_the_cheaper_key_is_given_up():
    """Three alike in value 0; ten others on one key and ten on another could lend one with value 1."""
    codes = np.array([[0, 0]] * 3 + [[0, 1]] * 10 + [[1, 0]] * 10, dtype=np.int32)
    sensitive = np.array([0] * 3 + [0, 1] * 10, dtype=np.int32)[:, None]
    mask = diversify(codes, sensitive, k=3, least=2, cost=np.array([2.0, 1.0]), rng=np.random.default_rng(1))
    assert mask.sum(axis=0).tolist() == [0, 4]
    assert mask[:3, 1].all()


def test_keys_that_must_stay_are_not_crossed():
    codes = np.array([[0, 0]] * 3 + [[1, 0]] * 6, dtype=np.int32)
    sensitive = np.array([0] * 3 + [0, 1] * 3, dtype=np.int32)[:, None]
    with pytest.raises(NotDiverseError) as caught:
        diversify(codes, sensitive, k=3, least=2, cost=np.array([np.inf, 1]), rng=np.random.default_rng(1))
    assert caught.value.records.tolist() == [0, 1, 2]
