"""Join patterns whose records share a sensitive value, until every pattern has l different ones."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from sdckit._support.arrays import Codes, Floats, Ints
from sdckit.kernels.suppression.patterns import Bools
from sdckit.kernels.suppression.release import distinct_rows


class NotDiverseError(ValueError):
    """`records` are in patterns that no other pattern can make diverse."""

    def __init__(self, records: Ints) -> None:
        self.records = records
        super().__init__("Too few different sensitive values among the records that can be joined.")


def diversify(
    released: Codes, sensitive: Codes, *, k: int, least: int, cost: Floats, rng: np.random.Generator
) -> Bools:
    """Further values [n, q] to suppress so that each pattern has `least` values of every sensitive column.

    released [n, q]: keys in which every pattern occurs k times. sensitive [n, s]: codes, missing −1, which is
    no value. Failing patterns, smallest first, are joined with the one that makes this cheapest: the keys in
    which the two differ are suppressed in the failing one and in as many records of the other as are needed,
    drawn at random, or in all of them where it would not keep k records and enough values.
    """
    patterns = _Patterns(released, sensitive, k, least, rng)
    while True:
        number = patterns.next_failing()
        if number < 0:
            return (patterns.codes() < 0) & (released >= 0)
        for other in patterns.cheapest_first(number, cost):
            if patterns.join(number, other):
                break
        else:
            raise NotDiverseError(np.sort(np.array(patterns.rows[number])))


class _Patterns:
    """Patterns with their records; a pattern joined to another has none."""

    def __init__(
        self, released: Codes, sensitive: Codes, k: int, least: int, rng: np.random.Generator
    ) -> None:
        first, sizes, group = distinct_rows(released)
        order = np.argsort(group, kind="stable")
        self.sensitive, self.k, self.least, self.rng = sensitive, k, least, rng
        self.keys = released[first]
        self.rows = [part.tolist() for part in np.split(order, np.cumsum(sizes)[:-1])] if len(first) else []
        self.number = {tuple(row): i for i, row in enumerate(self.keys.tolist())}
        self.failing = {i for i in range(len(first)) if not self.diverse(self.rows[i])}

    def codes(self) -> Codes:
        """The keys of each record as they are now."""
        found = np.empty((len(self.sensitive), self.keys.shape[1]), np.int32)
        for number, rows in enumerate(self.rows):
            found[rows] = self.keys[number]
        return found

    def values(self, rows: list[int]) -> list[Counter[int]]:
        """How often each sensitive value occurs, column by column."""
        return [Counter(v for v in column.tolist() if v >= 0) for column in self.sensitive[rows].T]

    def diverse(self, rows: list[int]) -> bool:
        """Whether records have enough different values in every sensitive column."""
        return all(len(values) >= self.least for values in self.values(rows))

    def next_failing(self) -> int:
        """The smallest pattern without enough values, or −1."""
        return min(self.failing, key=lambda i: (len(self.rows[i]), self.keys[i].tolist()), default=-1)

    def cheapest_first(self, number: int, cost: Floats) -> Iterator[int]:
        """Other patterns by what joining them costs, a few records being taken from those that have more."""
        mine = self.keys[number]
        sizes = np.array([len(rows) for rows in self.rows])
        lacking = max(self.least - len(values) for values in self.values(self.rows[number]))
        taken = np.where(sizes >= self.k + lacking, lacking, sizes)
        price = np.zeros(len(sizes))
        for j in range(len(mine)):
            differs = self.keys[:, j] != mine[j]
            gone = len(self.rows[number]) * (mine[j] >= 0) + taken * (self.keys[:, j] >= 0)
            price[differs] += cost[j] * gone[differs]
        price[(sizes == 0) | (np.arange(len(sizes)) == number)] = np.inf
        for other in np.lexsort((*self.keys.T, price)).tolist():
            if not np.isfinite(price[other]):
                return
            yield other

    def join(self, number: int, other: int) -> bool:
        """Join a pattern with records of another; False where that brings no new value."""
        taken = self._taken(number, other)
        if not taken:
            return False
        joined = np.where(self.keys[number] == self.keys[other], self.keys[number], np.int32(-1))
        moved = [*self.rows[number], *taken]
        left = set(self.rows[other]) - set(taken)
        self.rows[other] = sorted(left)
        self.rows[number] = []
        self.failing -= {number, *(() if left else (other,))}
        key = tuple(joined.tolist())
        if key not in self.number:
            self.number[key] = len(self.rows)
            self.rows.append([])
            self.keys = np.concatenate([self.keys, joined[None]])
        at = self.number[key]
        self.rows[at] = [*self.rows[at], *moved]
        if self.diverse(self.rows[at]):
            self.failing.discard(at)
        else:
            self.failing.add(at)
        return True

    def _taken(self, number: int, other: int) -> list[int]:
        """The records of another pattern with which a pattern becomes diverse: a few, else all of them."""
        have = [set(values) for values in self.values(self.rows[number])]
        new = [set(values) - mine for values, mine in zip(self.values(self.rows[other]), have, strict=True)]
        if not any(values for values, mine in zip(new, have, strict=True) if len(mine) < self.least):
            return []
        taken: list[int] = []
        for row in self.rng.permutation(self.rows[other]).tolist():
            values = self.sensitive[row].tolist()
            needed = [
                len(mine) < self.least and v in fresh
                for v, mine, fresh in zip(values, have, new, strict=True)
            ]
            if any(needed):
                taken.append(row)
                for v, mine, fresh in zip(values, have, new, strict=True):
                    mine |= {v} & fresh
                    fresh.discard(v)
        left = [row for row in self.rows[other] if row not in set(taken)]
        enough = other not in self.failing and len(left) >= self.k and self.diverse(left)
        return taken if enough else list(self.rows[other])
