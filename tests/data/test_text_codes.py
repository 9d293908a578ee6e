"""Columns as codes in the order of their texts."""

from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdckit.data.text_codes import common_codes, text_codes
from sdckit.data.values import texts

COLUMNS = {
    "whole numbers": pl.Series([10, 9, None, -3, 10], dtype=pl.Int8),
    "far apart": pl.Series([10**17, -5, 3, None, 10**17]),
    "largest": pl.Series([2**64 - 1, 0, None], dtype=pl.UInt64),
    "decimals": pl.Series([1.0, 0.5, float("nan"), None, -0.0, 0.0, float("inf"), 1e300]),
    "text": pl.Series(["b", "", None, "a", "b", "ä"]),
    "categories": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
    "ordered": pl.Series(["low", "high", None, "low"], dtype=pl.Enum(["low", "middle", "high"])),
    "days": pl.Series([date(2001, 2, 3), None, date(1999, 1, 1)]),
    "truth": pl.Series([True, None, False, True]),
    "nothing": pl.Series([None, None], dtype=pl.Int64),
    "no records": pl.Series([], dtype=pl.String),
}


def naive(column: pl.Series) -> tuple[list[str], list[int]]:
    written = texts(column).to_list()
    values = sorted({text for text in written if text is not None}, key=lambda text: text.encode())
    return values, [-1 if text is None else values.index(text) for text in written]


@pytest.mark.parametrize("name", COLUMNS)
def test_as_every_record_written_as_text(name):
    found = text_codes(COLUMNS[name])
    values, codes = naive(COLUMNS[name])
    assert found.values.to_list() == values
    assert found.codes.tolist() == codes


@given(st.lists(st.none() | st.integers(-(10**7), 10**7)))
def test_numbers(values):
    column = pl.Series(values, dtype=pl.Int64)
    assert text_codes(column).codes.tolist() == naive(column)[1]


@given(*[st.lists(st.none() | st.sampled_from("abcde"))] * 2)
def test_codes_of_two_files_are_those_of_both_together(first, second):
    columns = [pl.Series(x, dtype=pl.String) for x in (first, second)]
    (one, two), size = common_codes(*(text_codes(x) for x in columns))
    values, codes = naive(pl.concat(columns))
    assert size == len(values)
    assert [*one, *two] == codes


def test_a_code_may_be_whole_in_one_file_and_a_float_in_the_other():
    (one, two), size = common_codes(text_codes(pl.Series([1, 2])), text_codes(pl.Series([2.0, 2.5])))
    assert (one.tolist(), two.tolist(), size) == ([0, 1], [1, 2], 3)


def test_the_same_column_stays_one_object():
    column = text_codes(pl.Series([3, 1]))
    (one, two), _ = common_codes(column, column)
    assert one is two
    assert one.dtype == np.int64
