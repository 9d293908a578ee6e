"""Tables of matching records against the plain twin."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_counts import match
from sdckit.kernels.wildcard import wildcard_sums


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
    found = wildcard_sums(codes, values)
    for i, mine in enumerate(codes.tolist()):
        matching = [j for j, other in enumerate(codes.tolist()) if match(mine, other)]
        assert found[i].tolist() == values[matching].sum(axis=0).tolist()
