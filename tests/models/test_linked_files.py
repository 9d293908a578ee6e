"""Persons and records laid out for the kernels of an attack."""

import numpy as np
import pytest

from sdckit.models import linked_files


@pytest.mark.parametrize("bits", [64, 3])
@pytest.mark.parametrize("order", ["any", "value", "draw"])
def test_rows_that_are_alike_are_one(monkeypatch, order, bits):
    """Also where hashes of rows that differ are equal: then at worst some are counted as two."""
    rng = np.random.default_rng(1)
    block, level = rng.integers(0, 3, 200), rng.integers(0, 2, 200)
    values = [rng.integers(0, 4, 200) - 0.5, np.where(rng.random(200) < 0.3, np.nan, rng.integers(0, 2, 200))]
    if bits < 64:
        hashed = linked_files._hashed
        monkeypatch.setattr(linked_files, "_hashed", lambda *given: hashed(*given) >> 50 << 50)
    found = linked_files._sorted(block, [level], values, 3, by_value=order != "any", by_draw=order == "draw")
    rows = np.column_stack([block, level, *values])
    distinct = np.unique(np.nan_to_num(rows, nan=9.0), axis=0)
    if bits == 64:
        assert found.member.size == len(distinct)
    assert found.count.sum() == 200
    np.testing.assert_array_equal(found.count, np.bincount(found.place))
    np.testing.assert_array_equal(rows[found.member][found.place], rows)
    np.testing.assert_array_equal(np.sort(found.order), np.arange(200))
    of_cells = np.column_stack([block, level])[found.member]
    assert (np.diff(of_cells[:, 0] * 2 + of_cells[:, 1]) >= 0).all()  # by block, then by cell
    np.testing.assert_array_equal(found.codes[found.cell, 0], level[found.member])
    if order != "draw":
        assert (np.diff(found.place[found.order]) >= 0).all()
    else:
        inside = found.cell[1:] == found.cell[:-1]
        assert (np.diff(found.draw)[inside] > 0).all()


def test_minus_zero_is_zero():
    found = linked_files._sorted(np.zeros(4, dtype=np.int64), [], [np.array([0.0, -0.0, 1.0, -0.0])], 1)
    assert sorted(found.count) == [1, 3]
