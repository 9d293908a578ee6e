"""The counts on a release, against plain ones."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_suppression import alone_on_shown_keys, cells_of, group_sizes, posterior, records_of, tables
from sdckit.kernels.suppression.exposure import chances, measure_exposure
from sdckit.kernels.suppression.release import count_release, distinct_rows


@settings(deadline=None, max_examples=80)
@given(tables(max_rows=16, max_keys=3), st.integers(2, 4), st.data())
def test_counts_are_the_plain_ones_whatever_is_blanked(codes, k, data):
    cells, counts = cells_of(codes)
    _, _, group = distinct_rows(codes)
    first, _, _ = distinct_rows(codes)
    number = {tuple(row): i for i, row in enumerate(cells.tolist())}
    of_record = np.array([number[tuple(codes[first[g]].tolist())] for g in group])
    wanted = data.draw(
        st.lists(st.integers(0, 2 ** codes.shape[1] - 1), min_size=len(codes), max_size=len(codes))
    )
    bits = np.array(
        [
            b & int(sum(1 << j for j, v in enumerate(x) if v >= 0))
            for b, x in zip(wanted, codes.tolist(), strict=True)
        ]
    )
    release = count_release(of_record, bits.astype(np.int64))
    before, after = records_of(cells, release)
    found = measure_exposure(cells, counts, release, k)
    rates = (after < 0).mean(axis=0)
    right = posterior(before, after, rates)
    assert np.allclose(np.repeat(chances(cells, release), release.records), right)
    assert found.smallest_pattern == min(group_sizes(after))
    assert found.alone_on_shown_keys == alone_on_shown_keys(after)
    assert found.above_one_in_k == (right > 1 / k + 1e-9).sum()
    touched = ((after < 0) & (before >= 0)).any(axis=1)
    assert found.records_lent == (touched & (np.array(group_sizes(before)) >= k)).sum()
    shared = 0
    for pattern in np.unique(after, axis=0):
        mine = before[(after == pattern).all(axis=1)]
        for j in np.flatnonzero(pattern < 0):
            shared += len(mine) * (len(set(mine[:, j].tolist())) == 1 and mine[0, j] >= 0)
    assert found.hidden_value_shared == shared
