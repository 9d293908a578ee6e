"""The records nearest to some persons among those of a few cells, which are near by their keys."""

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit.kernels._jit import jit


def nearest_in_cells(
    persons: Floats, cells: Ints, start: Ints, apart: Floats, records: Floats, first: Ints, count: int
) -> Ints:
    """The places (persons, count) of the nearest records, the nearest first; −1 where there are fewer.

    persons, records: points (…, numbers); records are sorted by cell, and those of cell c are from first[c]
    to first[c + 1]. cells: those that are searched for each person, of person i from start[i] to
    start[i + 1], with the squared distance by keys that all records of the cell have (apart).
    """
    found = np.full((persons.shape[0], count), -1, dtype=np.int64)
    _search(persons, cells, start, apart, records, first, found, np.empty(count))
    return found


@jit
def _search(
    persons: Floats,
    cells: Ints,
    start: Ints,
    apart: Floats,
    records: Floats,
    first: Ints,
    found: Ints,
    distance: Floats,
) -> None:
    count = found.shape[1]
    for i in range(persons.shape[0]):
        for k in range(count):
            distance[k] = np.inf
        for at in range(start[i], start[i + 1]):
            for record in range(first[cells[at]], first[cells[at] + 1]):
                total = apart[at]
                for v in range(persons.shape[1]):
                    total += (persons[i, v] - records[record, v]) * (persons[i, v] - records[record, v])
                if total >= distance[count - 1]:
                    continue
                place = count - 1
                while place > 0 and distance[place - 1] > total:
                    distance[place] = distance[place - 1]
                    found[i, place] = found[i, place - 1]
                    place -= 1
                distance[place] = total
                found[i, place] = record
