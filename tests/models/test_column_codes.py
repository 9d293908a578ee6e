"""Columns as codes: levels, ranks, spikes, missing and infinite values, the digits that a column has."""

from datetime import date

import numpy as np
import polars as pl
import pytest

from sdckit.models.column_codes import REST, category_codes, number_codes


def test_missing_is_the_last_category():
    codes = category_codes(pl.Series(["b", None, "a", "b"]))
    assert codes.classes.tolist() == [1, 2, 0, 1]
    assert codes.levels == 3
    assert not codes.is_number


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([True, None, False, True]),
        pl.Series([3, None, 1, 3]),
        pl.Series(["y", None, "x", "y"], dtype=pl.Categorical),
        pl.Series([date(2020, 1, 3), None, date(2020, 1, 1), date(2020, 1, 3)]),
    ],
)
def test_categories_of_any_type(column):
    assert category_codes(column).classes.tolist() == [1, 2, 0, 1]


def test_numbers_have_ranks_and_missing_is_below_all():
    codes = number_codes(pl.Series([2.5, None, 1.0, 2.5, float("nan"), 9.0]), spikes=())
    assert codes.codes.tolist() == [2, 0, 1, 2, 0, 3]
    assert codes.ranks[[0, 2, 3, 5]].tolist() == [2.5, 1.0, 2.5, 4.0]
    assert (codes.classes[[0, 2, 3, 5]] == REST).all()
    assert codes.classes[1] == codes.classes[4] != REST


def test_spikes_are_classes_of_their_own():
    values = np.concatenate([np.zeros(10), np.arange(1, 91)])
    codes = number_codes(pl.Series(values), spikes=[0.0])
    assert codes.spikes == 1
    assert len(set(codes.classes[:10])) == 1
    assert codes.classes[0] != REST
    assert (codes.classes[10:] == REST).all()
    told = number_codes(pl.Series(values), spikes=[5.0])
    assert np.flatnonzero(told.classes != REST).tolist() == [14]


def test_infinite_values_are_classes_too():
    codes = number_codes(pl.Series([1.0, float("inf"), 2.0, float("-inf")]), spikes=())
    assert len({*codes.classes.tolist()}) == 3
    assert codes.codes.argmax() == 1


def test_more_values_than_codes_are_cut_into_quantiles():
    codes = number_codes(pl.Series(np.arange(70_000.0)))
    assert codes.codes.max() <= 65_001
    assert (np.diff(codes.codes.astype(int)) >= 0).all()
    assert len(np.unique(codes.codes)) > 60_000


@pytest.mark.parametrize(
    ("values", "given", "expected"),
    [
        ([10, 30, 70], [14.0, 26.0], [10.0, 30.0]),
        ([1.25, 2.5, 0.05], [0.123, 1.999], [0.12, 2.0]),
        ([10.0, 20.0, 50.0], [33.0], [30.0]),
        ([0.1234567, 2.0, 3.0], [0.7654321987], [0.7654321987]),
    ],
)
def test_numbers_are_rounded_as_the_column_is(values, given, expected):
    assert number_codes(pl.Series(values * 4), spikes=()).rounded(np.array(given)).tolist() == expected


def test_a_handful_of_numbers_tells_no_step():
    told = number_codes(pl.Series([0.0] * 50 + [80_000.0]), spikes=[0.0]).rounded(np.array([1e5]))
    assert told.tolist() == [1e5], "a multiple of 80,000 would be that one"
