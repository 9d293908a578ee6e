"""Tables of matching records against the plain twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_counts import match
from sdckit.kernels import wildcard
from sdckit.kernels.wildcard import wildcard_sums


def by_hashing(codes, values):
    """As for a large file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wildcard, "SORTED", -1)
        return wildcard_sums(codes, values)


@settings(max_examples=80, deadline=None)
@given(
    cells=st.lists(st.tuples(*[st.integers(-1, 2)] * 3), min_size=1, max_size=25, unique=True),
    columns=st.integers(1, 4),
    wide=st.booleans(),
    seed=st.integers(0, 99),
)
def test_agrees_with_comparing_every_pair(cells, columns, wide, seed):
    codes = np.array(cells, dtype=np.int32)
    if wide:  # more bits than one word holds
        codes = np.where(codes > 0, codes + 2**30 - 8, codes).astype(np.int32)
    values = np.random.default_rng(seed).integers(0, 5, (len(cells), columns)).astype(float)
    for found in (wildcard_sums(codes, values), by_hashing(codes, values)):
        for i, mine in enumerate(codes.tolist()):
            matching = [j for j, other in enumerate(codes.tolist()) if match(mine, other)]
            assert found[i].tolist() == values[matching].sum(axis=0).tolist()


@pytest.mark.parametrize("top", [9, 2**29])  # one word, and more
@pytest.mark.parametrize("keys", [1, 4, 7])
def test_sorting_and_hashing_agree_to_the_last_digit(keys, top):
    rng = np.random.default_rng(keys)
    codes = np.where(rng.random((400, keys)) < 0.1, -1, rng.integers(top - 4, top, (400, keys)))
    weights = rng.lognormal(size=(400, 3))
    patterns = len(np.unique(codes < 0, axis=0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wildcard, "PATTERNS", patterns)
        found = wildcard_sums(codes.astype(np.int32), weights)
    assert (found == by_hashing(codes.astype(np.int32), weights)).all()
