"""Products along the axes of a tensor against the full matrix of likelihoods."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intruder_files import matrix, random_axis
from sdckit.kernels import mode_products
from sdckit.kernels.mode_products import best_over_records, expected_records, sum_over_records


@settings(max_examples=60)
@given(st.integers(0, 100_000), st.integers(0, 3), st.booleans(), st.sampled_from([5, 200_000]))
def test_products_agree_with_the_full_matrix(seed, keys, moves, slab):
    rng = np.random.default_rng(seed)
    blocks = int(rng.integers(1, 4))
    axes = [random_axis(rng, *rng.integers(1, 6, 2), bool(rng.integers(0, 2)), moves) for _ in range(keys)]
    full = np.eye(blocks)
    for axis in reversed(axes):
        full = np.kron(matrix(axis), full)  # [X… blocks, Y… blocks]
    persons = rng.integers(0, 4, full.shape[0]).astype(float)
    records = rng.integers(0, 3, full.shape[1]).astype(float)
    payload = np.stack([records, records * rng.random(len(records))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mode_products, "_SLAB", slab)
        expected = expected_records(persons, axes)
        sums = sum_over_records(records, axes)
        best, held = best_over_records(np.where(records > 0, 1.0, 0.0), payload, axes)

    def blocks_first(flat):
        return flat.reshape(-1, blocks).T.ravel()

    np.testing.assert_allclose(expected, blocks_first(persons @ full), atol=1e-12)
    np.testing.assert_allclose(sums, blocks_first(full @ records), atol=1e-12)
    candidates = full * (records > 0)
    top = candidates.max(axis=1)
    ties = (candidates >= top[:, None] * (1 - 1e-9)) & (top[:, None] > 0)
    np.testing.assert_allclose(best, blocks_first(top), rtol=1e-12)
    some = best > 0
    np.testing.assert_allclose(held[0][some], blocks_first(ties @ payload[0])[some], atol=1e-9)
    np.testing.assert_allclose(held[1][some], blocks_first(ties @ payload[1])[some], atol=1e-9)
