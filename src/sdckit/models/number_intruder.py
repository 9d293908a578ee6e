"""What an intruder finds who knows numbers of a person, alone or together with categorical keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.kernels.linked import attack as kernel
from sdckit.models.linked_files import KnownKeys, link_files
from sdckit.models.number_channel import NumberChannel, fit_number_channel
from sdckit.models.number_column import NumberColumn, number_columns

EXACT = 30_000_000  # pairs of a person and a record, up to which all of them are looked at
MANY = 200_000  # persons from which on threads are worth starting
_ODD = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


class Attack(StrEnum):
    """How the intruder chooses among records."""

    SHARES = "shares"  # the likelihood over what all persons would produce
    LIKELIHOOD = "likelihood"
    NORMAL_KERNEL = "normal kernel"  # shares, residuals of all numbers taken as jointly normal
    NEAREST_RECORD = "nearest record"
    FEW_CHANGES = "few changes"  # the numbers that a known one can have become


@dataclass(frozen=True, slots=True)
class LinkAttack:
    """The outcome of the strongest attack, one element for each target."""

    targets: Ints  # persons
    found: Floats  # chance that the intruder picks the target's own record
    believed: Floats  # the intruder's own probability of the record he picks
    posterior: Floats  # the intruder's probability of the target's own record
    best_records: Floats  # how many records look best
    best_weight: Floats  # their weights
    settled: Bools  # no record that was passed over could have been better
    persons: int
    attack: Attack
    attacks: dict[Attack, float]  # share found by each attack
    channels: tuple[NumberChannel, ...]

    @property
    def value(self) -> float:
        """Share of persons found."""
        return float(self.found.mean())

    @property
    def sampling_error(self) -> float:
        """Standard error of the value because only some persons were targets."""
        m = self.found.size
        if m < 2:
            return 0.0 if m == self.persons else float("nan")
        return float(self.found.std(ddof=1) / np.sqrt(m) * np.sqrt(1 - m / self.persons))

    @property
    def open(self) -> int:
        """Targets whose attack was broken off; there `found` is an upper bound."""
        return int((~self.settled).sum())

    def claims(self, sure: float) -> tuple[int, float]:
        """How many targets the intruder is at least so sure of, and how many of them he found."""
        claimed = self.believed >= sure - 1e-12
        return int(claimed.sum()), float(self.found[claimed].sum())


def attack_numbers(
    x: Floats | Sequence[NumberColumn],
    y: Floats | Sequence[NumberColumn],
    own: Ints,
    *,
    errors: Floats,
    keys: KnownKeys | None = None,
    weights: Floats | None = None,
    targets: Ints | None = None,
    identity: Ints | None = None,
    channels: Sequence[NumberChannel] | None = None,
) -> LinkAttack:
    """Attack every target with all that is known, in four ways; the way that finds most counts.

    x: true numbers (persons, numbers); y: released numbers (records, numbers); nan is missing; as columns
    they bring their order along, where several attacks need it. own: the record of each person, −1 where
    there is none; such persons are never found, but could have produced records. errors: the relative error
    with which each number is known; 0 exactly. keys: categorical keys beside the numbers. weights: of
    records. targets: persons; default all. identity: a whole number for each person from which the error of
    what is known of the person is drawn, the same in every row order; default the position. channels:
    learned elsewhere, with the same errors; default from the pairs.
    """
    persons = own.size
    true, released = number_columns(x), number_columns(y)
    records = y.shape[0] if isinstance(y, np.ndarray) else (released[0].values.size if released else 0)
    identity = np.arange(persons) if identity is None else identity
    known = [
        _known_column(column, error, identity, v)
        for v, (column, error) in enumerate(zip(true, errors, strict=True))
    ]
    if channels is None:
        channels = _channels(known, released, own, errors)
    if keys is None:
        none = np.zeros((persons, 0), dtype=np.int32)
        keys = KnownKeys(none, np.zeros((records, 0), dtype=np.int32), ())
    weights = np.ones(records) if weights is None else weights
    targets = np.arange(persons) if targets is None else targets
    if not records or not targets.size:
        return _nothing(targets, persons, channels)
    return _attacked(known, released, own, channels, keys, weights, targets)


def _channels(
    known: Sequence[NumberColumn], released: Sequence[NumberColumn], own: Ints, errors: Floats
) -> list[NumberChannel]:
    """The channel of each number; in large files of several at a time: most of it is sorting."""
    given = (known, released, [own] * len(known), [bool(error == 0) for error in errors])
    if own.size < MANY or len(known) < 2:
        return list(map(_channel, *given))
    from sdckit.kernels._threads import in_order

    return in_order(_channel, *given)


def _channel(known: NumberColumn, released: NumberColumn, own: Ints, exact: bool) -> NumberChannel:
    """The channel of the pairs of a person and the person's record."""
    linked = own >= 0
    if own.size == released.values.size and np.array_equal(own, np.arange(own.size)):
        return fit_number_channel(known, released, exact=exact)
    return fit_number_channel(known.only(linked), NumberColumn(released.values[own[linked]]), exact=exact)


def known_values(x: Floats, errors: Floats, identity: Ints) -> Floats:
    """What the intruder knows: x·(1 + e·u), u uniform on (−1, 1), always the same for the same person."""
    columns = [
        _known_column(NumberColumn(x[:, v]), error, identity, v).values for v, error in enumerate(errors)
    ]
    return np.column_stack(columns) if columns else x.copy()


def _known_column(true: NumberColumn, error: float, identity: Ints, stream: int) -> NumberColumn:
    if error <= 0:
        return true
    return NumberColumn(true.values * (1.0 + error * (2.0 * _uniform(identity, stream) - 1.0)))


def draw_targets(identity: Ints, size: int, rng: np.random.Generator) -> Ints:
    """Positions of a simple random sample of persons, the same persons in every row order."""
    if size >= identity.size:
        return np.arange(identity.size)
    return first_drawn(identity, draw_for(identity, rng), size)


def draw_for(identity: Ints, rng: np.random.Generator) -> Floats:
    """A random number for each person, the same in every row order."""
    return _uniform(identity, int(rng.integers(1, 2**62)))


def first_drawn(identity: Ints, draw: Floats, size: int) -> Ints:
    """Positions of the persons with the smallest of these random numbers."""
    last = np.partition(draw, size - 1)[size - 1]
    some = np.flatnonzero(draw <= last)  # the sample and those drawn equal to its last
    return np.sort(some[np.lexsort((identity[some], draw[some]))[:size]])


def _uniform(identity: Ints, stream: int) -> Floats:
    """Numbers in [0, 1) by two rounds of multiplying and shifting (SplitMix64)."""
    bits = identity.astype(np.uint64) + np.uint64((stream + 1) * _ODD[0] % 2**64)
    for factor, shift in ((_ODD[1], 30), (_ODD[2], 27)):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    bits >>= np.uint64(11)
    return np.asarray(bits * 2.0**-53, dtype=np.float64)


def _attacked(
    known: Sequence[NumberColumn],
    released: Sequence[NumberColumn],
    own: Ints,
    channels: Sequence[NumberChannel],
    keys: KnownKeys,
    weights: Floats,
    targets: Ints,
) -> LinkAttack:
    linked = link_files(known, released, own, channels, keys, weights, targets, EXACT)
    exact = linked.pairs <= EXACT
    rows, mine, dropped = linked.row[targets], linked.outcome[targets], bool((own < 0).any())
    lines = kernel.attack(linked.files, rows, mine, exact=exact, dropped=dropped)
    columns = {
        Attack.SHARES: (lines, kernel.BY_SHARES),
        Attack.LIKELIHOOD: (lines, kernel.BY_LIKELIHOOD),
        Attack.NEAREST_RECORD: (lines, kernel.BY_DISTANCE),
    }
    if linked.jointly is not None:
        jointly = kernel.attack(linked.jointly, rows, mine, exact=exact, dropped=dropped)
        columns[Attack.NORMAL_KERNEL] = (jointly, kernel.BY_SHARES)
    means = {name: float(table[:, column].mean()) for name, (table, column) in columns.items()}
    best = max(means, key=lambda name: means[name])
    table, column = columns[best]
    return LinkAttack(
        targets,
        table[:, column],
        table[:, kernel.BELIEVED],
        table[:, kernel.POSTERIOR],
        table[:, column + 1],
        table[:, column + 2],
        table[:, kernel.OPEN] == 0,
        own.size,
        best,
        means,
        tuple(channels),
    )


def _nothing(targets: Ints, persons: int, channels: Sequence[NumberChannel]) -> LinkAttack:
    """No record was released, or nobody is attacked."""
    none = np.zeros(targets.size)
    return LinkAttack(
        targets,
        none,
        none,
        none,
        none,
        none,
        none == 0,
        persons,
        Attack.SHARES,
        {Attack.SHARES: 0.0},
        tuple(channels),
    )
