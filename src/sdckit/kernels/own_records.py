"""Which records are so near to a person that they can be nobody else's, whatever one column says.

Records are rows of columns: categories are codes that differ by 1, numbers lie between 0 and 1 and differ by
the distance of their values, NaN is missing and differs by 1 from every value. The distance of two rows is
the sum over columns; it is also formed without each of the columns, one at a time. In all arrays of `p + 1`
elements the first p are the distances without a column, the last one is over all columns.
"""

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.kernels._jit import inner, jit
from sdckit.kernels._threads import by_rows

NOTHING = 1e-9  # sums of the same terms in another order
BLOCK = 512  # records whose distances from a person are worked out together


@inner
def _terms(a: Floats, b: Floats, nominal: Bools, term: Floats) -> float:
    """Fill `term` with the distance in each column; their sum."""
    total = 0.0
    for j in range(a.shape[0]):
        if a[j] == b[j]:
            term[j] = 0.0
        elif nominal[j] or np.isnan(a[j]) != np.isnan(b[j]):
            term[j] = 1.0
        elif np.isnan(a[j]):
            term[j] = 0.0
        else:
            term[j] = abs(a[j] - b[j])
        total += term[j]
    return total


@jit
def _scan(
    people: Floats,
    columns: Floats,
    nominal: Bools,
    left_out: Ints,
    same: bool,
    least: Floats,
    equal: Ints,
    term: Floats,
) -> None:
    """The smallest distances of each person from the others; with `same` equal rows are only counted.

    columns: (p, others). term is scratch, p + 2 rows of as many others as are looked at together: the
    distances in each column, zeros, and the sum. Loops are over others, so that they become vector code.
    """
    p, n, block = columns.shape[0], columns.shape[1], term.shape[1]
    total = term[p + 1]
    for start in range(0, n, block):
        size = min(block, n - start)
        for i in range(people.shape[0]):
            for k in range(size):
                total[k] = 0.0
            for j in range(p):
                _add_column(people[i, j], columns[j, start : start + size], nominal[j], term[j], total)
            for c in range(left_out.shape[0]):
                out = term[left_out[c]]
                best, count = least[i, c], 0
                for k in range(size):
                    apart = total[k] - out[k]
                    if apart <= NOTHING:
                        count += 1
                        if not same:
                            best = 0.0
                    elif apart < best:
                        best = apart
                least[i, c] = best
                equal[i, c] += count


@inner
def _add_column(value: float, column: Floats, nominal: bool, term: Floats, total: Floats) -> None:
    """Fill `term` with the distance of a value from each of a column, and add it to `total`."""
    for k in range(column.shape[0]):
        d = abs(value - column[k])
        if nominal:
            d = 0.0 if value == column[k] else 1.0
        elif np.isnan(d):
            d = 0.0 if np.isnan(value) and np.isnan(column[k]) else 1.0
        term[k] = d
        total[k] += d


def nearest_rows(
    people: Floats, others: Floats, nominal: Bools, *, same: bool, whole: bool = False
) -> tuple[Floats, Ints]:
    """For each person the smallest distances from the others (persons, p + 1), and how many rows are equal.

    same: the others are the file the person is of, or could be of: rows equal to the person's do not count.
    whole: only over all columns, so that there is one distance instead of p + 1.
    """
    width = people.shape[1]
    left_out = np.arange(width if whole else 0, width + 1)
    columns = np.ascontiguousarray(others.T)

    def work(some: Floats) -> tuple[Floats, Ints]:
        least = np.full((len(some), len(left_out)), np.inf)
        equal = np.zeros(least.shape, dtype=np.int64)
        term = np.zeros((width + 2, max(min(BLOCK, len(others)), 1)))
        _scan(some, columns, nominal, left_out, same, least, equal, term)
        return least, equal

    least, equal = by_rows(work, people)
    return least, equal


@jit
def _assign(
    people: Floats, records: Floats, nominal: Bools, left_out: int, limit: Floats, owner: Ints, least: Floats
) -> None:
    term = np.zeros(people.shape[1] + 1)
    for i in range(people.shape[0]):
        for k in range(records.shape[0]):
            apart = _terms(people[i], records[k], nominal, term) - term[left_out]
            if apart <= limit[i] + NOTHING and apart < least[k]:
                owner[k], least[k] = i, apart


def owners(people: Floats, records: Floats, nominal: Bools, left_out: int, limit: Floats) -> Ints:
    """For each record the nearest of the persons within whose limit it lies, −1 where there is none.

    left_out: the column that does not count; p for none.
    """
    owner = np.full(len(records), -1, dtype=np.int64)
    _assign(people, records, nominal, left_out, limit, owner, np.full(len(records), np.inf))
    return owner


@jit
def _nearest_two(
    rows: Floats, others: Floats, nominal: Bools, place: Ints, first: Floats, second: Floats
) -> None:
    term = np.zeros(rows.shape[1] + 1)
    for i in range(rows.shape[0]):
        for k in range(others.shape[0]):
            apart = _terms(rows[i], others[k], nominal, term)
            if apart < first[i]:
                place[i], first[i], second[i] = k, apart, first[i]
            elif apart < second[i]:
                second[i] = apart


def nearest_two(rows: Floats, others: Floats, nominal: Bools) -> tuple[Ints, Floats, Floats]:
    """For each row the place of the nearest of the others, its distance, and that of the second nearest."""

    def work(some: Floats) -> tuple[Ints, Floats, Floats]:
        place = np.zeros(len(some), dtype=np.int64)
        first, second = np.full(len(some), np.inf), np.full(len(some), np.inf)
        _nearest_two(some, others, nominal, place, first, second)
        return place, first, second

    place, first, second = by_rows(work, rows)
    return place, first, second
