"""Records that can be nobody else's: the kernel against plain Python."""

import numpy as np
import pytest

from naive_own_records import nearest, owner
from sdckit.kernels import own_records
from sdckit.kernels.own_records import nearest_rows, owners


def rows(rng, n):
    """Two categories and two numbers, some missing, with repeated rows."""
    made = np.column_stack([rng.integers(0, 3, n), rng.integers(0, 2, n), rng.random(n), rng.random(n)])
    made[:, 2] = np.round(made[:, 2], 1)
    made[rng.random(n) < 0.2, 3] = np.nan
    made[n // 2] = made[0]
    return made.astype(np.float64)


@pytest.mark.parametrize(("seed", "together"), [(0, 512), (1, 7), (2, 1)])
def test_the_kernel_does_what_plain_python_does(seed, together, monkeypatch):
    monkeypatch.setattr(own_records, "BLOCK", together)
    rng = np.random.default_rng(seed)
    people, records = rows(rng, 25), rows(rng, 30)
    nominal = np.array([True, True, False, False])
    for others, same in ((people, True), (records, False)):
        least, equal = nearest_rows(people, others, nominal, same=same)
        for i, person in enumerate(people):
            for left_out in range(5):
                expected = nearest(person, others, nominal, left_out, same=same)
                assert least[i, left_out] == pytest.approx(expected[0], abs=1e-12)
                assert equal[i, left_out] == expected[1]
        whole = nearest_rows(people, others, nominal, same=same, whole=True)
        assert (whole[0][:, 0] == least[:, -1]).all()
        assert (whole[1][:, 0] == equal[:, -1]).all()
    limits = rng.random(25)
    for left_out in (1, 4):
        found = owners(people, records, nominal, left_out, limits)
        assert found.tolist() == [owner(r, people, nominal, left_out, limits) for r in records]


def test_rows_that_are_all_equal_have_no_nearest_other():
    people = np.ones((3, 2))
    least, equal = nearest_rows(people, people, np.array([True, True]), same=True)
    assert np.isinf(least).all()
    assert (equal == 3).all()


def test_without_others_nobody_is_near():
    least, equal = nearest_rows(np.ones((2, 3)), np.empty((0, 3)), np.array([True, False, False]), same=False)
    assert np.isinf(least).all()
    assert (equal == 0).all()
