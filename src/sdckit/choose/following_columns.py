"""Released columns that follow from a hidden key or number: filters of a questionnaire give its classes."""

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit.data.content_key import content_key
from sdckit.data.intruder import known_numbers
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import source_rows
from sdckit.data.text_codes import text_codes
from sdckit.data.values import as_numbers

SURELY = 0.99  # of the records have the class that their value of the key has
MANY = 10  # records a value of the key, from which on its class is no accident
NUMBERS = 6  # that are taken in pairs
SAMPLE = 20_000  # records, at random, in which the classes along numbers are counted
CLASSES = 20  # values of a column that are looked at in any file
LARGEST = 4_000_000  # pairs of a value of a column and of a key that are counted
RARER = (1.0, 0.2, 0.0)  # than so many times by chance: pairs that are taken for exceptions


def columns_that_follow(original: Microdata, protected: Microdata) -> dict[str, Ints]:
    """Classes of released columns that nobody is said to know, but that a hidden value tells of everybody.

    Who is asked a question only above an age answers it or not, so that who knows the age knows which; who
    has a benefit follows from the income, and what part of it is spent on rent from both. By column the class
    of each record of the protected file; those that tell nothing are left out.
    """
    rows = source_rows(original, protected)
    if rows is None or original.engine != "polars" or protected.engine != "polars":
        return {}
    numbers, first, second = known_numbers(original), original.frame, protected.frame
    known = {*original.roles.keys, *numbers}
    true = {c: first[c].gather(rows) for c in known}
    changed = {c: x for c, x in true.items() if c not in second.columns or not x.equals(second[c])}
    codes = [text_codes(x).codes for c, x in changed.items() if c not in numbers]
    keys = [one.astype(np.int64) + 1 for one in codes if MANY * len(np.unique(one)) <= len(one)]
    released = [text_codes(second[c]).codes for c in changed if c in second.columns and c not in numbers]
    shown = [one.astype(np.int64) + 1 for one in released if (one >= 0).any()]  # as classes, 0 where blanked
    draws = np.random.default_rng(content_key(original, protected))  # who makes the file cannot choose
    some = draws.permutation(len(rows))[:SAMPLE]
    orders = [_order(x) for x in _numbers({c: as_numbers(true[c])[some] for c in numbers}, changed)]
    asked = [c for c in protected.columns if c in first.columns and c not in known] if keys or orders else []
    found = {}
    for column in asked:
        for classes in _classes(protected, column, len(rows) // MANY):
            few = int(classes.max()) < CLASSES
            if any(_in_steps(classes[some], order) for order in orders) or (
                few and any(_follows(classes, key) for key in keys)
            ):
                found[column] = classes
                break
            parts = (
                one
                for key in keys
                for one in _parts_in_common(classes, key)
                if _follows(one, key) and not any(_follows(one[x > 0], x[x > 0]) for x in shown)
            )
            if (told := next(parts, None)) is not None:
                found[column] = told
                break
    return found


def _numbers(true: Mapping[str, Floats], changed: Collection[str]) -> Iterator[Floats]:
    """Hidden numbers, and sums, differences and ratios of two, as a body mass index is one."""
    yield from (x for c, x in true.items() if c in changed)
    for one, other in combinations(list(true)[:NUMBERS], 2):
        if one in changed or other in changed:
            x, y = true[one], true[other]
            with np.errstate(all="ignore"):
                yield from (x + y, x - y, x / y, x / y**2, y / x**2)


def _order(number: Floats) -> Ints:
    """The records in the order of a number, those without one last, and those alike as they stand."""
    return np.argsort(np.where(np.isfinite(number), number, np.inf), kind="stable")


def _classes(data: Microdata, name: str, most: int) -> Iterator[Ints]:
    """The values of a column where they are few, and whether they are missing; not where all are alike."""
    column = data.frame[name]
    if column.dtype.is_nested() or column.dtype == pl.Object or not len(column):
        return
    few = data.column_fact("different", name, pl.Series.n_unique) <= max(most, CLASSES)
    values = [data.column_fact("codes", name, text_codes).codes] if few else []
    for codes in (*values, column.is_null().to_numpy().astype(np.int64)):
        classes = codes.astype(np.int64) - codes.min()
        if classes.max() > 0:
            yield classes


def _in_steps(classes: Ints, order: Ints) -> bool:
    """Whether records in the order of a number hardly ever change the class, far less than by chance.

    Records that are alike in it stand in random order, so that one class follows from one number.
    """
    steps = int((np.diff(classes[order]) != 0).sum())
    shares = np.bincount(classes[order]) / len(order)
    return MANY * max(steps, 1) <= len(order) * float(1 - (shares**2).sum())


def _parts_in_common(classes: Ints, key: Ints) -> Iterator[Ints]:
    """What a column and a key both tell: of a clinic and a municipality the region, if patients stay in it.

    Values that occur together belong to one part; pairs that are rarer than by chance may be exceptions. Of a
    column that follows from the key each value is a part.
    """
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    k, m = int(key.max()) + 1, int(classes.max()) + 1
    if k * m > LARGEST:
        return
    table = _counted(classes, key)
    by_chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(key)
    for least in RARER:
        one, other = np.nonzero(table > least * by_chance)
        links = coo_array((np.ones(len(one)), (one, k + other)), shape=(k + m, k + m))
        part = np.unique(connected_components(links, directed=False)[1][k:], return_inverse=True)[1]
        if part.max() > 0:
            yield part[classes]


def _follows(classes: Ints, key: Ints) -> bool:
    """Whether the key tells the class of (nearly) everybody, far better than the most frequent one does."""
    table = _counted(classes, key)
    told, anyway = table.max(axis=1).sum() / len(key), table.sum(axis=0).max() / len(key)
    return bool(told >= SURELY and 1 - told <= (1 - anyway) / MANY)


def _counted(classes: Ints, key: Ints) -> Ints:
    """How many records have each value of the key, and of these each class."""
    size = int(classes.max()) + 1
    return np.bincount(key * size + classes, minlength=(int(key.max()) + 1) * size).reshape(-1, size)
