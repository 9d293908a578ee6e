"""Numbers at the ends of what a computer holds: risks are those of the same numbers in another unit."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc

RNG = np.random.default_rng(3)
N = 60


def files(factor: float) -> tuple[sdc.Microdata, sdc.Microdata]:
    """Whole numbers and the same a little moved, times a factor by which no digit is lost."""
    x = RNG_VALUES[0] * factor
    y = RNG_VALUES[1] * factor
    data = sdc.read(pl.DataFrame(x, schema=["a", "b"], orient="row"), numeric=["a", "b"])
    return data, data.with_frame(pl.DataFrame(y, schema=["a", "b"], orient="row"))


RNG_VALUES = (
    RNG.integers(-500, 500, (N, 2)).astype(float),
    np.zeros((N, 2)),
)
RNG_VALUES[1][:] = RNG_VALUES[0] + RNG.integers(-30, 31, (N, 2))


@pytest.mark.parametrize("factor", [5e-324, 2.0**-1060, 2.0**-1000, 2.0**-600, 2.0**900])
@pytest.mark.parametrize("distance", ["euclidean", "manhattan", "gower"])
def test_record_linkage_does_not_depend_on_the_unit(factor, distance):
    plain = sdc.risk.record_linkage(*files(1.0), distance=distance)
    odd = sdc.risk.record_linkage(*files(factor), distance=distance)
    assert 0.1 < plain.value < 1
    assert odd.value == pytest.approx(plain.value)
    assert odd.parts["nearer"].to_list() == plain.parts["nearer"].to_list()


def test_two_neighbouring_numbers():
    data = sdc.read(pl.DataFrame({"x": [0.0, 5e-324]}), numeric="x")
    assert sdc.risk.record_linkage(data, data).value == 1.0


@pytest.mark.parametrize("far", [1e6, 1e300, -1.7e308])
def test_one_number_far_off_does_not_hide_all_others(far):
    data = sdc.read(pl.DataFrame({"x": np.arange(40.0) ** 1.5}), numeric="x")
    other = data.with_frame(
        data.frame.with_columns(x=pl.when(pl.int_range(40) == 7).then(far).otherwise("x"))
    )
    found = sdc.risk.record_linkage(data, other)
    assert found.value >= 39 / 40
    assert np.isfinite(found.parts["distance"].to_numpy()).all()
