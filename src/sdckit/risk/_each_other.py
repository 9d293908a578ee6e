"""Files of new records: persons and records that are nearest to each other, as copies with noise are."""

from math import sqrt

import numpy as np

from sdckit._support.arrays import Bools, Floats
from sdckit.risk._in_some_columns import InSomeColumns, spread

STANDS_OUT = 0.9  # of the distance to the second nearest record, within which the nearest stands out
MOST, FEWEST = 2_000, 200  # persons who look for their nearest record
WORK = 2e8  # comparisons of records
ERRORS = 2.0  # standard errors that the excess must be above 0


def nearest_to_each_other(people: Floats, records: Floats, others: Floats, nominal: Bools) -> InSomeColumns:
    """How many more persons than others have a record that stands out and is nearest to them in turn.

    Noise on every column, or a change of every fifth value, leaves no record within a tenth of the distance
    to the next person. But a record that was made from a person is still more often the nearest to them, and
    they to it, than a record is to somebody who was not in the original. Without others one half of the
    original is looked for in the other half.
    """
    if not people.shape[1] or min(len(people), len(records)) < FEWEST:
        return InSomeColumns(0.0, ())
    if len(others):
        size = min(len(people), len(others))
        theirs, chance = spread(people, size), spread(others, size)
        found = [_share(side, records, nominal) for side in (theirs, chance)]
    else:
        found = [_share(people, spread(records, len(people)), nominal)]
        found.append(_share(people[1::2].copy(), people[::2].copy(), nominal))
    (mine, asked), (chance_share, asked_others) = found
    error = sqrt(mine * (1 - mine) / asked + chance_share * (1 - chance_share) / asked_others)
    return InSomeColumns(max(mine - chance_share - ERRORS * error, 0.0), (), "as those nearest to each other")


def _share(people: Floats, records: Floats, nominal: Bools) -> tuple[float, int]:
    """The share of some persons who are alone with the record that is alone with them, and how many."""
    from sdckit.kernels.own_records import nearest_two

    count = int(np.clip(WORK / (len(people) + len(records)), FEWEST, MOST))
    asked = spread(people, count)
    record, apart, next_apart = nearest_two(asked, records, nominal)
    _, nearest, second = nearest_two(np.ascontiguousarray(records[record]), people, nominal)
    back = (apart <= STANDS_OUT * next_apart) & (apart <= nearest + 1e-9) & (second > nearest + 1e-9)
    return float(back.mean()), len(asked)
