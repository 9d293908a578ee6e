"""How much of the line belongs to a released value."""

import numpy as np
import pytest

from sdckit.models.number_channel import Scale, fit_number_channel
from sdckit.models.number_column import NumberColumn
from sdckit.models.number_widths import masses_of_values, widths_of_values


def test_widths_fill_the_line():
    y = np.sort(np.random.default_rng(1).normal(size=500))
    once, twice = widths_of_values(NumberColumn(y)), widths_of_values(NumberColumn(np.append(y, y)))
    assert once.sum() == pytest.approx(y[-1] - y[0], rel=0.05)
    np.testing.assert_allclose(twice, once)


@pytest.mark.parametrize("noise", [0.01, 3.0])
def test_masses_are_those_of_a_sum_over_windows(noise):
    rng = np.random.default_rng(6)
    y = rng.normal(size=300).round(1)
    y[:3] = np.nan
    channel = fit_number_channel(np.exp(y + noise * rng.normal(size=300)), y)
    column = NumberColumn(y)
    values, count = np.unique(y[3:], return_counts=True)
    np.testing.assert_array_equal(column.distinct, values)
    for found, line in (
        (widths_of_values(column), values),
        (masses_of_values(channel, column), channel.transform.value(values)),
    ):
        assert found.shape == values.shape
        for k in range(10, values.size - 10, 7):
            near = slice(k - 5, k + 6)
            records = count[near].sum() - (count[k - 5] + count[k + 5]) / 2
            assert found[k] == pytest.approx(count[k] * (line[k + 5] - line[k - 5]) / records, rel=1e-9)


def test_values_that_become_one_on_the_scale_share_its_width():
    x = np.arange(500.0)
    rng = np.random.default_rng(2)
    channel = fit_number_channel(x, x[np.clip(np.arange(500) + rng.integers(-40, 41, 500), 0, 499)])
    assert channel.transform.scale is Scale.RANK
    beyond = np.append(x, [1_000.0, 2_000.0, 3_000.0])  # all of rank 1
    masses = masses_of_values(channel, NumberColumn(beyond))
    assert masses[500] == masses[501] == masses[502]
