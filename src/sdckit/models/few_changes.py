"""The attack on numbers to which one of a few amounts was added, or that were multiplied by one of a few.

Noise that has a density is seen by other attacks. Of one of twenty factors nothing is seen in a density, but
who knows a number exactly knows the twenty numbers that it can have become.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.models.number_intruder import Attack, LinkAttack

FREQUENT = 5  # times that a change occurs among those looked at
LOOKED_AT = 2_000  # changes
CLEARLY = 0.05  # share of all changes that the frequent ones are
RECUR = 3  # times that a change occurs in one half of those looked at, to be sought in the other
MOST = 200  # different changes
TIES = 0.2  # share of the released values that must differ: of a few values every attack sees as much
FINEST = 1e-6  # of the spread, or of a number: as exactly as changes of decimal numbers are compared
FACTORS = 2e-4  # width of the classes in which factors are sought
LARGEST = 3_000_000  # candidates
NEXT_TO_NOTHING = 1e-6  # likelihood of a change that is not among the frequent ones


Learner = Callable[[Floats, Floats, float, int], Floats]


class Changes(NamedTuple):
    """What numbers were changed by, how often, and how far a released one may be off."""

    amounts: Floats
    shares: Floats
    factors: bool
    unit: float

    @property
    def real(self) -> Bools:
        """Which amounts change anything."""
        return np.asarray(np.abs(self.amounts - (1.0 if self.factors else 0.0)) > FINEST)

    def images(self, x: Floats, amount: float) -> Floats:
        """What numbers become."""
        return x * amount if self.factors else x + amount

    def sources(self, y: Floats, amount: float) -> Floats:
        """From what numbers others became."""
        return y / amount if self.factors else y - amount

    def slack(self, y: Floats) -> Floats:
        """How far a released number may be off."""
        fine = FINEST * np.abs(y) if self.factors else np.zeros_like(y)
        return np.maximum(0.51 * self.unit, fine)

    def likelihood(self, x: Floats, y: Floats) -> Floats:
        """Of pairs of a person and a record."""
        found = np.full(len(x), NEXT_TO_NOTHING)
        for amount, share in zip(self.amounts, self.shares, strict=True):
            found[np.abs(self.images(x, amount) - y) <= self.slack(y)] += share
        return found


def few_changes(x: Floats, y: Floats, draws: np.random.Generator) -> Changes | None:
    """The amounts or factors by which numbers were changed; None where these are not a few.

    >>> x = np.random.default_rng(1).uniform(900, 5000, 200).round(2)
    >>> found = few_changes(x, (x * np.tile([0.8, 1.3], 100)).round(2), np.random.default_rng(1))
    >>> found.factors, found.amounts.round(3)
    (True, array([0.8, 1.3]))
    """
    there = np.flatnonzero(np.isfinite(x + y))
    some = draws.permutation(there)[:LOOKED_AT]
    x, y = x[some], y[some]
    if len(x) < FREQUENT or len(np.unique(y)) < TIES * len(y):
        return None
    unit = unit_of(np.concatenate([x, y])) or FINEST * float(x.std())
    kinds = (
        _with_shares(learn(x, y, unit, FREQUENT), x, y, factors=learn is _factors, unit=unit)
        for learn in (_sums, _factors)
        if _explained(learn, x, y, unit) > CLEARLY / 2
    )
    found = [one for one in kinds if one is not None]
    return max(found, key=lambda one: one.shares.sum()) if found else None


def _explained(learn: Learner, x: Floats, y: Floats, unit: float) -> float:
    """The share of the changes in one half that were frequent in the other one, beyond chance.

    Of noise that has a density some changes are frequent as well: those nearly like them are as many.
    """
    half, total = len(x) // 2, 0.0
    for mine, other in ((slice(half), slice(half, None)), (slice(half, None), slice(half))):
        made = Changes(learn(x[mine], y[mine], unit, RECUR), np.empty(0), learn is _factors, unit)
        slack = made.slack(y[other])
        for amount in made.amounts[made.real]:
            away = np.abs(made.images(x[other], amount) - y[other]) / slack
            total += float((away <= 1).mean() - ((away > 1) & (away <= 3)).mean() / 2)
    return total / 2


def _sums(x: Floats, y: Floats, unit: float, least: int) -> Floats:
    """Differences that are frequent, the most frequent first."""
    values, counts = np.unique(np.round((y - x) / unit), return_counts=True)
    order = np.argsort(-counts, kind="stable")[: int((counts >= least).sum())]
    return np.asarray(values[order[:MOST]] * unit)


def _factors(x: Floats, y: Floats, unit: float, least: int) -> Floats:
    """Factors that are frequent, from the largest numbers, of which rounding hides the least."""
    good = (x * y) > 0
    ratio, size = y[good] / x[good], np.abs(x[good])
    _, group, counts = np.unique(np.round(np.log(ratio) / FACTORS), return_inverse=True, return_counts=True)
    found = []
    for one in np.argsort(-counts, kind="stable")[: min(MOST, int((counts >= least).sum()))]:
        mine = np.flatnonzero(group == one)
        largest = mine[np.argsort(-size[mine], kind="stable")[:FREQUENT]]
        found.append(float(np.median(ratio[largest])))
    return np.array(found)


def _with_shares(amounts: Floats, x: Floats, y: Floats, *, factors: bool, unit: float) -> Changes | None:
    """The changes with their shares; None where all together are rare, or nothing was changed."""
    made = Changes(amounts, np.ones(len(amounts)), factors, unit)
    hits = [np.abs(made.images(x, amount) - y) <= made.slack(y) for amount in amounts]
    shares = np.array([float(hit.mean()) for hit in hits])
    often = shares * len(x) >= FREQUENT
    amounts, shares = amounts[often], shares[often]
    made = made._replace(amounts=amounts, shares=shares)
    return made if shares[made.real].sum() > CLEARLY else None


def unit_of(values: Floats) -> float:
    """The unit, 1 at most, of which most numbers are multiples; 0 where there is none."""
    for digits in range(5):
        units = values * 10.0**digits
        if (np.abs(units - np.round(units)) <= 1e-3).mean() > 0.5:
            return float(10.0**-digits)
    return 0.0


def attack_few_changes(
    x: Sequence[Floats],
    y: Sequence[Floats],
    own: Ints,
    *,
    cells: tuple[Ints, Ints],
    weights: Floats,
    targets: Ints,
    draws: np.random.Generator,
) -> LinkAttack | None:
    """What an intruder finds who knows numbers exactly; None where none was changed by a few amounts.

    x, y: columns of persons and of records. own: the record of each person, −1 without one. cells: of persons
    and records the known categories that no step changed, as one number from 0 on.
    """
    linked = own >= 0
    tried = [few_changes(a[linked], b[own[linked]], draws) for a, b in zip(x, y, strict=True)]
    changes = {v: one for v, one in enumerate(tried) if one is not None}
    if not changes:
        return None
    first = max(changes, key=lambda v: float(changes[v].shares.sum()))
    pairs = _candidates(x[first], y[first], changes.pop(first), cells, targets)
    if pairs is None:
        return None
    person, record, share = pairs
    for v, one in changes.items():
        share *= one.likelihood(x[v][targets[person]], y[v][record])
    return _picked(person, record, np.minimum(share, 1.0), own, weights, targets)


def _candidates(
    x: Floats, y: Floats, changes: Changes, cells: tuple[Ints, Ints], targets: Ints
) -> tuple[Ints, Ints, Floats] | None:
    """Targets, records that they can have become, and the shares of the targets among all who can."""
    people, records = _Sorted.of(x, cells[0]), _Sorted.of(y, cells[1])
    pairs: list[tuple[Ints, Ints, Floats]] = []
    room = LARGEST
    for amount, share in zip(changes.amounts, changes.shares, strict=True):
        image = changes.images(x[targets], amount)
        low, high = records.between(cells[0][targets], image, changes.slack(image))
        many = high - low
        room -= int(many.sum())
        if room < 0:
            return None
        person = np.repeat(np.arange(len(targets)), many)
        place = np.arange(len(person)) - np.repeat(np.cumsum(many) - many - low, many)
        pairs.append((person, records.order[place], np.full(len(person), share)))
    person, record, likely = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    some, back = np.unique(record, return_inverse=True)
    total = np.zeros(len(some))
    for amount, share in zip(changes.amounts, changes.shares, strict=True):
        source = changes.sources(y[some], amount)
        apart = changes.slack(y[some]) / (abs(amount) if changes.factors else 1.0)
        low, high = people.between(cells[1][some], source, apart)
        total += share * (high - low)
    return person, record, likely / np.maximum(total[back], likely)


class _Sorted(NamedTuple):
    """Numbers in the order of their cells and values."""

    order: Ints
    values: Floats
    starts: Ints

    @classmethod
    def of(cls, values: Floats, cells: Ints) -> "_Sorted":
        order = np.lexsort((values, cells))
        return cls(order, values[order], np.searchsorted(cells[order], np.arange(cells.max(initial=0) + 2)))

    def between(self, cells: Ints, middle: Floats, slack: Floats) -> tuple[Ints, Ints]:
        """The places of the numbers of a cell that are as near as that to others."""
        low = np.zeros(len(middle), dtype=np.int64)
        high = low.copy()
        order = np.argsort(cells, kind="stable")
        known = cells[order]
        for cell in np.unique(known[known + 1 < len(self.starts)]):
            mine = order[np.searchsorted(known, cell) : np.searchsorted(known, cell, "right")]
            mine = mine[np.isfinite(middle[mine])]
            start, end = self.starts[cell], self.starts[cell + 1]
            here = self.values[start:end]
            low[mine] = start + np.searchsorted(here, middle[mine] - slack[mine], "left")
            high[mine] = start + np.searchsorted(here, middle[mine] + slack[mine], "right")
        return low, high


def _picked(
    person: Ints, record: Ints, share: Floats, own: Ints, weights: Floats, targets: Ints
) -> LinkAttack:
    """The record with the largest share for each target, among equals at random."""
    n = len(targets)
    best = np.zeros(n)
    np.maximum.at(best, person, share)
    odds = share / np.maximum(1.0 - share, 1e-12)
    total = np.bincount(person, odds, n)
    top: Bools = share >= (1 - 1e-8) * best[person]
    mine = record == own[targets][person]
    many = np.bincount(person, top, n).astype(np.float64)
    found = np.bincount(person, top & mine, n) / np.maximum(many, 1)
    most = np.zeros(n)
    np.maximum.at(most, person, odds)
    whole = np.maximum(total, 1e-300)
    return LinkAttack(
        targets,
        np.minimum(found, 1.0),
        most / whole,
        np.minimum(np.bincount(person, odds * mine, n) / whole, 1.0),
        many,
        np.bincount(person, weights[record] * top, n).astype(np.float64),
        np.ones(n, dtype=np.bool_),
        len(own),
        Attack.FEW_CHANGES,
        {Attack.FEW_CHANGES: float(found.mean())},
        (),
    )
