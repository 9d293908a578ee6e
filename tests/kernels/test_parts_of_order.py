"""parts_of_order: as many limits as are not above a row, keys compared as tuples are."""

import numpy as np
import pytest

from sdckit.kernels.parts_of_order import parts_of_order


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_limits_reached_are_those_that_tuples_reach(kind):
    draw = np.random.default_rng(4)

    def keys(n):
        return draw.integers(-2, 3, n), draw.integers(0, 4, n).astype(kind), draw.integers(0, 5, n)

    rows, some = keys(500), keys(40)
    order = np.lexsort(some[::-1])
    limits = tuple(key[order] for key in some)
    ordered = list(zip(*limits, strict=True))
    want = [sum(limit <= row for limit in ordered) for row in zip(*rows, strict=True)]
    assert parts_of_order(rows, limits).tolist() == want


def test_without_limits_there_is_one_part():
    none = np.empty(0, dtype=np.int64)
    assert (
        parts_of_order((np.arange(3), np.arange(3.0), np.arange(3)), (none, none.astype(float), none)).sum()
        == 0
    )
