"""The nearest records of some cells, against all distances."""

import numpy as np
import pytest

from sdckit.kernels.nearest_in_cells import nearest_in_cells


@pytest.mark.parametrize("numbers", [0, 1, 3])
def test_distances_are_the_smallest_of_all(numbers):
    rng = np.random.default_rng(numbers)
    cell = np.sort(rng.integers(0, 6, 80))
    records, persons = rng.normal(size=(80, numbers)), rng.normal(size=(12, numbers))
    first = np.searchsorted(cell, np.arange(7))
    lists = [rng.permutation(6)[: rng.integers(1, 4)] for _ in persons]
    apart = [rng.integers(0, 3, len(one)) * 4.0 for one in lists]
    start = np.append(0, np.cumsum([len(one) for one in lists]))
    found = nearest_in_cells(persons, np.concatenate(lists), start, np.concatenate(apart), records, first, 15)
    for i, person in enumerate(persons):
        at = {
            row: far + ((records[row] - person) ** 2).sum()
            for c, far in zip(lists[i], apart[i], strict=True)
            for row in np.flatnonzero(cell == c)
        }
        rows = [row for row in found[i] if row >= 0]
        assert len(set(rows)) == len(rows) == min(len(at), 15)
        np.testing.assert_allclose([at[row] for row in rows], sorted(at.values())[: len(rows)])
        assert (found[i, len(rows) :] == -1).all()
