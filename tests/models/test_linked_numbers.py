"""Channels of numbers applied to persons and records."""

import numpy as np
import pytest

from linked_cases import noisy, skewed
from sdckit.models.linked_numbers import joint_tables, number_tables
from sdckit.models.number_channel import fit_number_channel
from sdckit.models.number_column import number_columns


def tables_of(x, y):
    known, released = number_columns(x), number_columns(y)
    channels = [fit_number_channel(a, b) for a, b in zip(known, released, strict=True)]
    everybody = slice(None), slice(None)
    tables = number_tables(known, released, channels, *everybody, (len(x), len(y)))
    return tables, joint_tables(tables, known, released, np.arange(len(x)), channels, *everybody)


def test_what_a_missing_number_becomes_is_known_of_all_numbers():
    """In the joint kernel, who lacks one number has no component at all: then the other's is asked, too."""
    x = skewed(200, 2)
    y = noisy(x, 0.2)
    x[:10, 0] = y[:10, 0] = np.nan
    tables, joint = tables_of(x, y)
    shown = tables.shown
    known, components, _ = joint
    assert np.isnan(known[:10, :, 0]).any(axis=0).all()
    _, place, count = np.unique(shown[:, 1, 0], return_inverse=True, return_counts=True)
    np.testing.assert_allclose(shown[:, 1, 3], count[place] / 200)
    np.testing.assert_array_equal(components[:, :, 3:], shown[:, :, 3:])


def test_values_of_many_are_heavy():
    x = skewed(1000, 1, zeros=0.02)
    tables, _ = tables_of(x, noisy(x, 0.2))
    _, place, count = np.unique(x[:, 0], return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(tables.heavy[:, 0], count[place] >= 5)
    assert tables.heavy.any()
    assert tables.precision[0] == pytest.approx(1 / x.var())
