"""Released columns that follow from a hidden key or number: filters of a questionnaire give its classes."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.intruder import known_numbers
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import source_rows
from sdckit.data.text_codes import text_codes
from sdckit.data.values import as_numbers

SURELY = 0.99  # of the records have the class that their value of the key has
MANY = 10  # records a value of the key, from which on its class is no accident
CLASSES = 20  # values of a column; of more only whether they are missing is looked at


def columns_that_follow(original: Microdata, protected: Microdata) -> dict[str, Ints]:
    """Classes of released columns that nobody is said to know, but that a hidden value tells of everybody.

    Who is asked a question only above an age answers it or not, so that who knows the age knows which; who
    has a benefit follows from the income. By column the class of each record of the protected file; those
    that tell nothing are left out.
    """
    rows = source_rows(original, protected)
    if rows is None or original.engine != "polars" or protected.engine != "polars":
        return {}
    numbers, first, second = known_numbers(original), original.frame, protected.frame
    known = {*original.roles.keys, *numbers}
    true = {c: first[c].gather(rows) for c in known}
    changed = {c: x for c, x in true.items() if c not in second.columns or not x.equals(second[c])}
    codes = [_in_bins(x) if c in numbers else text_codes(x).codes for c, x in changed.items()]
    hidden = [one.astype(np.int64) + 1 for one in codes if MANY * len(np.unique(one)) <= len(one)]
    asked = [c for c in protected.columns if c in first.columns and c not in known]
    found = {}
    for column in asked:
        for classes in _classes(second[column]):
            if any(_follows(classes, codes) for codes in hidden):
                found[column] = classes
                break
    return found


def _in_bins(column: pl.Series) -> Ints:
    """Numbers in their order, so many in a bin as make its class no accident; −1 where they are missing."""
    rank = pl.Series(as_numbers(column)).fill_nan(None).rank("ordinal").cast(pl.Int64) - 1
    return np.asarray((rank // (MANY + 1)).fill_null(-1).to_numpy())


def _classes(column: pl.Series) -> Iterator[Ints]:
    """The values of a column where they are few, and whether they are missing; not where all are alike."""
    if column.dtype.is_nested() or column.dtype == pl.Object:
        return
    values = [text_codes(column).codes] if column.n_unique() <= CLASSES else []
    for codes in (*values, column.is_null().to_numpy()):
        classes = np.unique(codes, return_inverse=True)[1]
        if classes.max(initial=0) > 0:
            yield classes


def _follows(classes: Ints, key: Ints) -> bool:
    """Whether the key tells the class of (nearly) everybody, far better than the most frequent one does."""
    size = int(classes.max()) + 1
    table = np.bincount(key * size + classes, minlength=(int(key.max()) + 1) * size).reshape(-1, size)
    told, anyway = table.max(axis=1).sum() / len(key), table.sum(axis=0).max() / len(key)
    return bool(told >= SURELY and 1 - told <= (1 - anyway) / MANY)
