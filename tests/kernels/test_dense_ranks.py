import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from sdckit.kernels import dense_ranks
from sdckit.kernels.dense_ranks import dense_ranks as ranks


def by_sorting(values):
    different = sorted({v for v in values if v == v})
    return [different.index(v) if v == v else -1 for v in values]


@given(st.lists(st.floats(width=64) | st.sampled_from([0.0, -0.0, 1.5, -1.5])))
@example([float("inf"), 5e-324, -5e-324, float("nan"), float("-inf"), -0.0, 0.0, 1.7e308, -1.7e308])
def test_codes_are_the_places_among_the_different_numbers(values):
    assert ranks(np.array(values, dtype=np.float64)).tolist() == by_sorting(values)


def test_many_numbers_in_one_part_of_the_table(monkeypatch):
    monkeypatch.setattr(dense_ranks, "BITS", 2)
    values = np.append(np.random.default_rng(1).integers(0, 500, 2000) / 7, 1e300)
    assert ranks(values).tolist() == by_sorting(values.tolist())


def test_numbers_that_are_handed_in_stay_as_they_are():
    values = np.array([-0.0, 1.0])
    values.setflags(write=False)
    assert ranks(values).tolist() == [0, 1]
    assert np.signbit(values[0])
