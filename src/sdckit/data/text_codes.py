"""The values of a column as numbers, in the order of their texts: 1 and 1.0 are the same value."""

from typing import NamedTuple

import numpy as np
import polars as pl

from sdckit._support.arrays import Codes, Ints
from sdckit.data.values import texts

_LOOK_UP = 1_000_000  # whole numbers in so short a range are looked up in a table
_SAFE = 2**62


class TextCodes(NamedTuple):
    """values: the different values as text, sorted. codes: of each record, −1 where the value is missing."""

    values: pl.Series
    codes: Codes


def text_codes(column: pl.Series) -> TextCodes:
    """A column as codes 0, 1, … Only the different values are written as text, not those of all records.

    >>> text_codes(pl.Series([10.0, 9.5, None, 10.0])).codes
    array([ 0,  1, -1,  0], dtype=int32)
    """
    if isinstance(column.dtype, pl.Categorical | pl.Enum):
        different = column.unique().drop_nulls()
        physical = column.to_physical(), different.to_physical()
    elif column.dtype.is_integer() or column.dtype.is_float() or column.dtype == pl.String:
        different = column.unique().drop_nulls()
        physical = column, different
    else:
        column = texts(column)
        different = column.unique().drop_nulls()
        physical = column, different
    written = texts(different)
    values = written.unique().sort()
    if not len(values):
        return TextCodes(values, np.full(len(column), -1, dtype=np.int32))
    place = written.replace_strict(values, pl.Series(np.arange(len(values), dtype=np.int32)))
    return TextCodes(values, _looked_up(*physical, place))


def _looked_up(column: pl.Series, different: pl.Series, place: pl.Series) -> Codes:
    """The place of every record's value; `different` are the values that have a place."""
    if column.dtype.is_integer():
        low, high = int(different.min()), int(different.max())  # type: ignore[arg-type]
        if low > -_SAFE and high < _SAFE and high - low < _LOOK_UP:
            table = np.full(high - low + 2, -1, dtype=np.int32)
            table[different.cast(pl.Int64).to_numpy() - low] = place.to_numpy()
            at = (column.cast(pl.Int64) - low).fill_null(high - low + 1).to_numpy()
            return np.asarray(table[at])
    found = column.replace_strict(different, place, default=-1, return_dtype=pl.Int32)
    return np.asarray(found.fill_null(-1).to_numpy())


def common_codes(*columns: TextCodes) -> tuple[list[Ints], int]:
    """Codes of several columns that are the same where the values are, and how many values there are."""
    first = columns[0].values
    if all(one.values is first or one.values.equals(first) for one in columns):
        return _widened(columns), len(first)
    values = pl.concat([one.values for one in columns]).unique().sort()
    places = pl.Series(np.arange(len(values), dtype=np.int32))

    def moved(one: TextCodes) -> TextCodes:
        there = one.values.replace_strict(values, places) if len(one.values) else places.head(0)
        table = np.append(there.to_numpy(), np.int32(-1))  # the last is for −1
        return TextCodes(values, table[one.codes])

    of = {id(one): moved(one) for one in columns}
    return _widened([of[id(one)] for one in columns]), len(values)


def _widened(columns: "list[TextCodes] | tuple[TextCodes, ...]") -> list[Ints]:
    """The codes in 64 bits; equal columns stay one object, so that it is seen that they are equal."""
    wide = {id(one): one.codes.astype(np.int64) for one in columns}
    return [wide[id(one)] for one in columns]
