"""Files of new records: whether persons come back in some columns, whatever the others say."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np

from sdckit._support.arrays import Bools, Floats

NEARER = 0.1  # of the distance to the nearest other person, within which a record can be nobody else's
MOST, FEWEST = 500, 100  # persons who are looked for
WORK = 5e8  # comparisons of records in all pairs of columns, above which fewer persons are looked for
STARTS = 12  # columns of which pairs are looked at first: those with most different values
ERRORS = 3.0  # standard errors that the excess must be above 0: the best of many sets of columns is taken


@dataclass(frozen=True)
class InSomeColumns:
    """surely: by how much more persons come back in these columns than others, less the error of chance.

    how: in what way, where it is not by the values as they are; without columns in all of them.
    """

    surely: float
    columns: tuple[str, ...]
    how: str = ""


@dataclass(frozen=True, eq=False)
class _Sides:
    """Persons looked for among records, and others beside them; columns as in `kernels.own_records`."""

    everybody: Floats
    people: Floats
    records: Floats
    half: Floats  # the others are of the population of these: the original, or one half of it
    others: Floats
    other_records: Floats
    nominal: Bools
    beside: int

    def excess(self, used: Sequence[int]) -> tuple[float, float]:
        """How many more persons than others come back in these columns, and three standard errors of it."""
        columns = list(used)
        theirs = _back(self.people, self.everybody, self.records, self.nominal, columns, 0)
        chance = _back(self.others, self.half, self.other_records, self.nominal, columns, self.beside)
        error = sqrt(theirs.var() / len(theirs) + chance.var() / len(chance))
        return float(theirs.mean() - chance.mean()), ERRORS * error


def _back(
    people: Floats, everybody: Floats, records: Floats, nominal: Bools, columns: list[int], more: int
) -> Floats:
    """For each person the chance to be the one whose record comes back; equal persons share it."""
    from sdckit.kernels.own_records import nearest_rows

    mine, all_, made = (np.ascontiguousarray(x[:, columns]) for x in (people, everybody, records))
    kinds = np.ascontiguousarray(nominal[columns])
    gap, alike = (x[:, 0] for x in nearest_rows(mine, all_, kinds, same=True, whole=True))
    apart = nearest_rows(mine, made, kinds, same=False, whole=True)[0][:, 0]
    back = apart <= NEARER * np.where(np.isfinite(gap), gap, 0.0) + 1e-9
    return np.asarray(back / np.maximum(alike + more, 1))


def in_some_columns(
    people: Floats,
    records: Floats,
    others: Floats,
    nominal: Bools,
    names: Sequence[str],
    how: str = "",
    starts: int = STARTS,
) -> InSomeColumns:
    """The columns in which persons come back most, beyond others: the best pair, then one after another.

    Columns that were renamed, shuffled or drawn anew lie outside them. Without others one half of the
    original is looked for in the other half. starts: columns of which pairs are looked at first.
    """
    width = people.shape[1]
    if width < 2 or len(people) < 4 or not len(records):
        return InSomeColumns(0.0, ())
    different = [len(np.unique(column)) for column in people.T]
    pairs = list(combinations(sorted(np.argsort(different)[::-1][:starts].tolist()), 2))
    count = int(np.clip(WORK / (len(pairs) * (len(people) + len(records))), FEWEST, MOST))
    half, rest = (people, records) if len(others) else (people[1::2], people[::2])
    some = others if len(others) else half
    taken = 1 if len(others) else 0  # others are one more beside those of the original who are equal
    sides = _Sides(people, spread(people, count), records, half, spread(some, count), rest, nominal, taken)
    found = {pair: sides.excess(pair) for pair in pairs}
    best = max(found, key=lambda pair: found[pair][0])
    used, value = list(best), found[best]
    surely = max(excess - error for excess, error in found.values())
    while len(used) < width:
        further = {c: sides.excess([*used, c]) for c in range(width) if c not in used}
        column = max(further, key=lambda c: further[c][0])
        if further[column][0] <= value[0]:
            break
        used, value = [*used, column], further[column]
        surely = max(surely, value[0] - value[1])
    return InSomeColumns(max(surely, 0.0), tuple(names[c] for c in sorted(used)), how)


def spread(rows: Floats, count: int) -> Floats:
    """So many of the rows at most, evenly over the file."""
    chosen = np.linspace(0, len(rows) - 1, min(count, len(rows))).round().astype(np.int64)
    return np.ascontiguousarray(rows[chosen])
