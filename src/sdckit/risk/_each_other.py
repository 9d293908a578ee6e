"""Files of new records: persons and records that are nearest to each other, as copies with noise are."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import sqrt

import numpy as np

from sdckit._support.arrays import Bools, Floats
from sdckit.risk._in_some_columns import ERRORS as OF_THE_BEST
from sdckit.risk._in_some_columns import InSomeColumns, spread

STANDS_OUT = 0.9  # of the distance to the second nearest record, within which the nearest stands out
MOST, FEWEST = 2_000, 200  # persons who look for their nearest record
WORK = 2e8  # comparisons of records
SEARCH = 1e6  # the same for each of many sets of columns
STARTS = 5  # columns of which pairs are looked at first: those with most different values
ALIKE = 10  # persons with a value of a number, from which on it is a category
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
    excess, error = _excess(people, records, others, nominal, WORK)
    return InSomeColumns(max(excess - ERRORS * error, 0.0), (), "as those nearest to each other")


def nearest_among_alike(
    people: Floats, records: Floats, others: Floats, nominal: Bools, names: Sequence[str]
) -> InSomeColumns:
    """The same among records that agree in some columns, where the numbers decide who is nearest.

    Columns that were drawn anew make everybody as far as the next; those that were left say who may be whose,
    and numbers with noise then tell them apart. The columns are found in a part of the records: the best
    pair, then one after another. Numbers of few values are categories here.
    """
    values = np.array([len(np.unique(column)) for column in people.T])
    exact = nominal | (values * ALIKE <= len(people))
    if exact.all() or exact.sum() < 2 or min(len(people), len(records), len(others)) < FEWEST:
        return InSomeColumns(0.0, ())
    weight = np.where(exact, 1.0, 1.0 / len(exact))  # numbers never outweigh a category
    sides = [x * weight for x in (people, records, others)]

    def excess(some: Iterable[int], work: float) -> tuple[float, float]:
        chosen = [*some, *np.flatnonzero(~exact)]
        one, two, three = (np.ascontiguousarray(x[:, chosen]) for x in sides)
        return _excess(one, two, three, np.ascontiguousarray(exact[chosen]), work)

    most = sorted(np.flatnonzero(exact).tolist(), key=lambda c: -values[c])
    pairs: list[tuple[int, ...]] = list(combinations(most[:STARTS], 2))
    found = {pair: excess(pair, SEARCH)[0] for pair in pairs}
    used = max(found, key=lambda pair: found[pair])
    best = found[used]
    while further := {(*used, c): excess((*used, c), SEARCH)[0] for c in most if c not in used}:
        longer = max(further, key=lambda some: further[some])
        if further[longer] <= best:
            break
        used, best = longer, further[longer]
    value, error = excess(used, WORK)
    columns = tuple(names[c] for c in sorted([*used, *np.flatnonzero(~exact).tolist()]))
    return InSomeColumns(
        max(value - OF_THE_BEST * error, 0.0), columns, "as those nearest among who are alike"
    )


def _excess(
    people: Floats, records: Floats, others: Floats, nominal: Bools, work: float
) -> tuple[float, float]:
    """The share of persons who are nearest to a record and it to them for no chance, and its error.

    What others have by chance persons have, too: of those left, so many have a record of their own.
    """
    if len(others):
        size = min(len(people), len(others))
        theirs, chance = spread(people, size), spread(others, size)
        found = [_share(side, records, nominal, work) for side in (theirs, chance)]
    else:
        found = [_share(people, spread(records, len(people)), nominal, work)]
        found.append(_share(people[1::2].copy(), people[::2].copy(), nominal, work))
    (mine, asked), (by_chance, asked_others) = found
    error = sqrt(mine * (1 - mine) / asked + by_chance * (1 - by_chance) / asked_others)
    left = max(1 - by_chance, 1 / asked_others)
    return (mine - by_chance) / left, error / left


def _share(people: Floats, records: Floats, nominal: Bools, work: float) -> tuple[float, int]:
    """The share of some persons who are alone with the record that is alone with them, and how many."""
    from sdckit.kernels.own_records import nearest_two

    count = int(np.clip(work / (len(people) + len(records)), FEWEST, MOST))
    asked = spread(people, count)
    record, apart, next_apart = nearest_two(asked, records, nominal)
    _, nearest, second = nearest_two(np.ascontiguousarray(records[record]), people, nominal)
    back = (apart <= STANDS_OUT * next_apart) & (apart <= nearest + 1e-9) & (second > nearest + 1e-9)
    return float(back.mean()), len(asked)
