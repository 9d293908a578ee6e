"""In which order the rows of a file stand."""

import numpy as np
import pytest

from sdckit.choose.row_order import is_random_order


@pytest.mark.parametrize("n", [20, 21, 23, 26, 30, 40])
def test_small_files_that_were_shuffled_are_in_random_order(n):
    rng = np.random.default_rng(n)
    assert np.mean([is_random_order(rng.permutation(n)) for _ in range(500)]) > 0.98


@pytest.mark.parametrize("n", [22, 30, 40])
def test_every_seventh_row_in_turn_is_no_random_order(n):
    assert not is_random_order(np.concatenate([np.arange(first, n, 7) for first in range(7)]))
    assert not is_random_order(np.arange(n).reshape(2, -1).T.ravel())
