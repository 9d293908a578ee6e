"""A number with its values in order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sdckit.models.number_column import NumberColumn, frequent_values, is_among, number_columns

VALUES = st.lists(st.sampled_from([np.nan, -2.0, 0.0, 1.5, 3.0, 7.0]), max_size=30).map(
    lambda given: np.array(given, dtype=np.float64)
)


@given(VALUES, st.booleans())
def test_all_that_sorting_tells(values, order_first):
    column = NumberColumn(values)
    present = values[~np.isnan(values)]
    if order_first:
        np.testing.assert_array_equal(values[column.order], np.sort(present))
    distinct, count = np.unique(present, return_counts=True)
    np.testing.assert_array_equal(column.ordered, np.sort(present))
    np.testing.assert_array_equal(column.distinct, distinct)
    np.testing.assert_array_equal(column.count, count)
    assert column.complete == (present.size == values.size)
    np.testing.assert_array_equal(np.append(column.distinct, np.nan)[column.place], values)


@given(VALUES, st.randoms(use_true_random=False))
def test_some_of_the_rows(values, random):
    rows = np.array([random.random() < 0.8 for _ in values], dtype=np.bool_)
    for kept in (rows, rows | ~np.isnan(values)):
        some = NumberColumn(values).only(kept)
        np.testing.assert_array_equal(some.values, values[kept])
        np.testing.assert_array_equal(some.ordered, np.sort(values[kept & ~np.isnan(values)]))
        np.testing.assert_array_equal(np.append(some.distinct, np.nan)[some.place], values[kept])


@given(VALUES, st.floats(0, 10))
def test_frequent_values(values, least):
    ordered = np.sort(values[~np.isnan(values)])
    distinct, count = np.unique(ordered, return_counts=True)
    found = frequent_values(ordered, least)
    np.testing.assert_array_equal(found, distinct[count >= least])
    np.testing.assert_array_equal(is_among(values, found), np.isin(values, found))


def test_what_is_not_finite_is_missing():
    (column,) = number_columns(np.array([[1.0], [np.inf], [np.nan]]))
    np.testing.assert_array_equal(column.values, [1.0, np.nan, np.nan])
    assert number_columns((column,)) == (column,)
