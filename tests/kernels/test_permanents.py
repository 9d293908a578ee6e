"""Permanents against their definition."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest

from sdckit.kernels.permanents import LARGEST, permanents


def by_definition(matrix):
    size = len(matrix)
    return sum(
        np.prod([matrix[a, b] for a, b in enumerate(p)]) for p in permutations(range(size))
    ) / factorial(size)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_mean_over_all_permutations(size):
    matrices = np.random.default_rng(size).random((20, size, size))
    np.testing.assert_allclose(permanents(matrices), [by_definition(m) for m in matrices], rtol=1e-12)


def test_small_permanents_keep_their_precision():
    # two members look like the same record: inclusion and exclusion would leave rounding errors only
    matrix = np.full((1, 4, 4), 1e-12)
    matrix[0, :, 0] = 0.9
    np.testing.assert_allclose(permanents(matrix), 0.9e-36, rtol=1e-12)


def test_large_households_are_matched_in_the_best_way():
    rng = np.random.default_rng(1)
    size = LARGEST + 1
    order = rng.permutation(size)
    matrix = rng.uniform(0.0, 0.1, (size, size))
    matrix[np.arange(size), order] = 0.9
    matrix[0, order[1]] = 0.95  # taking the largest first would be worse
    impossible = matrix.copy()
    impossible[:, 0] = 0
    found = permanents(np.stack([matrix, impossible]))
    np.testing.assert_allclose(found, [0.9**size, 0])
