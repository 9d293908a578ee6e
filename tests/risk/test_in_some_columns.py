"""Persons who come back in some columns: against plain Python, and against files in which they do."""

from itertools import combinations
from math import sqrt

import numpy as np
import pytest

from naive_own_records import nearest
from sdckit.risk._in_some_columns import ERRORS, NEARER, in_some_columns

NAMES = ("a", "b", "x", "y")
NOMINAL = np.array([True, True, False, False])


def rows(seed, n):
    """Two categories and two numbers of few digits: equal rows and near ones are there."""
    rng = np.random.default_rng(seed)
    numbers = np.round(rng.random((n, 2)), 2)
    return np.column_stack([rng.integers(0, 4, n), rng.integers(0, 3, n), numbers]).astype(np.float64)


def come_back(people, everybody, records, used, more):
    """The definition, person by person: their record is ten times nearer than the nearest other person."""
    found = []
    for person in people[:, used]:
        gap, alike = nearest(person, everybody[:, used], NOMINAL[used], len(used), same=True)
        apart, _ = nearest(person, records[:, used], NOMINAL[used], len(used), same=False)
        back = apart <= NEARER * (gap if np.isfinite(gap) else 0.0) + 1e-9
        found.append(back / max(alike + more, 1))
    return np.array(found)


def plain(people, records, others):
    """The best pair of columns, then one column after another as long as more persons come back."""
    half, rest = (people, records) if len(others) else (people[1::2], people[::2])
    beside, more = (others, 1) if len(others) else (half, 0)

    def excess(used):
        theirs = come_back(people, people, records, used, 0)
        chance = come_back(beside, half, rest, used, more)
        error = ERRORS * sqrt(theirs.var() / len(theirs) + chance.var() / len(chance))
        return theirs.mean() - chance.mean(), error

    pairs = {pair: excess(list(pair)) for pair in combinations(range(4), 2)}
    used = list(max(pairs, key=lambda pair: pairs[pair][0]))
    value = pairs[tuple(used)][0]
    surely = max(mean - error for mean, error in pairs.values())
    while len(used) < 4:
        further = {c: excess([*used, c]) for c in range(4) if c not in used}
        column = max(further, key=lambda c: further[c][0])
        if further[column][0] <= value:
            break
        used, value = [*used, column], further[column][0]
        surely = max(surely, value - further[column][1])
    return max(surely, 0.0), tuple(NAMES[c] for c in sorted(used))


@pytest.mark.parametrize("held_back", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_plain_python_finds(seed, held_back):
    people = rows(seed, 60)
    records = people[::2].copy()
    records[:, 1] = np.random.default_rng(seed).permutation(records[:, 1])  # one column says nothing
    others = rows(seed + 100, 40) if held_back else np.empty((0, 4))
    found = in_some_columns(people, records, others, NOMINAL, NAMES)
    surely, columns = plain(people, records, others)
    assert found.surely == pytest.approx(surely, abs=1e-12)
    assert found.columns == columns
    assert surely > 0.05


@pytest.mark.parametrize("shuffled", [(0, 1), (0, 2), (1, 3), (0, 1, 2)])
def test_columns_that_were_shuffled_lie_outside_what_is_found(shuffled):
    """Copies in all other columns: the intruder who leaves the shuffled ones aside finds them."""
    rng = np.random.default_rng(5)
    people = np.column_stack([rng.integers(0, 5, (400, 2)), rng.random((400, 2))]).astype(np.float64)
    records = people.copy()
    for column in shuffled:
        records[:, column] = rng.permutation(records[:, column])
    found = in_some_columns(people, records, np.empty((0, 4)), NOMINAL, NAMES)
    left = [name for j, name in enumerate(NAMES) if j not in shuffled]
    if len(left) > 1:
        assert set(left) <= set(found.columns)
        assert found.surely > 0.5
    else:  # a single column is no link between two things a person is known by
        assert found.surely < 0.2


def test_other_people_of_the_same_population_do_not_come_back():
    for seed in range(5):
        people, records, others = (rows(10 * seed + i, 300) for i in range(3))
        assert in_some_columns(people, records, others, NOMINAL, NAMES).surely < 0.02


@pytest.mark.parametrize(
    ("people", "records"),
    [(np.zeros((3, 4)), np.zeros((5, 4))), (np.zeros((9, 1)), np.zeros((9, 1))), (rows(1, 9), rows(1, 0))],
    ids=["three persons", "one column", "no records"],
)
def test_too_little_to_look_for(people, records):
    width = people.shape[1]
    found = in_some_columns(people, records, np.empty((0, width)), NOMINAL[:width], NAMES[:width])
    assert (found.surely, found.columns) == (0.0, ())
