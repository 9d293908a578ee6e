"""Channels of numbers applied to the persons and records of a file, as the kernels of an attack want them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.models.number_channel import REACH, NumberChannel, released_masses, released_widths

HEAVY = 200  # a value is frequent if one in so many persons has it
NORMAL_STEPS = 4_800
JOINT = tuple[Floats, Floats, Floats]


@dataclass(frozen=True, slots=True)
class NumberTables:
    """The last axes are explained with the kernels (kernels.linked.tables)."""

    known: Floats  # (persons, numbers, 7)
    shown: Floats  # (records, numbers, 5)
    density: Floats  # (numbers, points)
    precision: Floats  # (numbers,)
    profile: Ints  # (persons, numbers)
    heavy: Bools  # (persons, numbers) a value of many
    joint: JOINT | None  # known, shown, density with the normal kernel in place of all densities


def exact_numbers(known: Floats, released: Floats, channels: Sequence[NumberChannel]) -> list[int]:
    """The numbers that tell exactly which records are possible: maps, nothing missing."""
    return [
        v
        for v, channel in enumerate(channels)
        if channel.is_map
        and channel.pairs
        and not np.isnan(known[:, v]).any()
        and not np.isnan(released[:, v]).any()
    ]


def number_tables(
    known: Floats,
    released: Floats,
    own: Ints,
    channels: Sequence[NumberChannel],
    persons_at: Ints | slice = slice(None),
    records_at: Ints | slice = slice(None),
) -> NumberTables:
    """What the kernels need of numbers that an intruder knows (persons, numbers) and that are released.

    The tables are of the persons and records `at` these rows; how frequent values are is seen in all.
    """
    x, y = known[persons_at], released[records_at]
    n, p = x.shape
    persons, records = np.zeros((n, p, 7)), np.zeros((y.shape[0], p, 5))
    profile, heavy = np.zeros((n, p), dtype=np.int64), np.zeros((n, p), dtype=np.bool_)
    for v, channel in enumerate(channels):
        profile[:, v] = channel.profiles(x[:, v])
        persons[:, v] = _of_persons(x[:, v], profile[:, v], channel)
        heavy[:, v] = _is_heavy(persons[:, v, 0], _values(known[:, v], channel))
        persons[:, v, 6] = (persons[:, v, 4] > 0) & ~heavy[:, v] & (profile[:, v] >= 0)
        records[:, v] = _of_records(y[:, v], released[:, v], channel)
    variance = [float(np.nanvar(x)) if (~np.isnan(x)).any() else 0.0 for x in known.T]
    precision = np.array([1.0 / s if s > 0 else 1.0 for s in variance])
    joint = _joint(known, released, own, channels, persons, records, persons_at, records_at)
    return NumberTables(persons, records, _densities(channels), precision, profile, heavy, joint)


def _values(x: Floats, channel: NumberChannel) -> Floats:
    """What is known of each person, in the terms of the released file."""
    if not channel.pairs:
        return np.full(x.size, np.nan)
    return channel.image(x) if channel.is_map else x


def _of_persons(x: Floats, profile: Ints, channel: NumberChannel) -> Floats:
    """Value, centre, 1/s, chance to move over s, chance to stay, chance of a blank."""
    table = np.zeros((x.size, 7))
    table[:, 0] = _values(x, channel)
    if not channel.pairs:
        return table
    shown = 1.0 - channel.blank[profile]
    table[:, 4], table[:, 5] = channel.stay[profile] * shown, channel.blank[profile]
    if not channel.is_map:
        table[:, 1] = channel.transform.value(x) + channel.middle[profile]
        table[:, 2] = 1.0 / channel.spread[profile]
        table[:, 3] = (1.0 - channel.stay[profile]) * shown / channel.spread[profile]
    return table


def _of_records(y: Floats, of_all: Floats, channel: NumberChannel) -> Floats:
    """Value, T(y), Δ(y), share of the records alike, chance that a missing value becomes this."""
    table, shown = np.zeros((y.size, 5)), ~np.isnan(y)
    share = _count(y, of_all) / max(of_all.size, 1)
    blank = channel.blank_of_missing
    table[:, 0], table[:, 3] = y, share
    visible = float((~np.isnan(of_all)).mean()) if of_all.size else 0.0
    table[:, 4] = np.where(shown, share / max(visible, 1e-300) * (1 - blank), blank)
    if not channel.is_map and channel.pairs:
        table[:, 1] = channel.transform.value(y)
        table[shown, 2] = released_masses(channel, of_all, y)[shown]
    return table


def _is_heavy(value: Floats, of_all: Floats) -> Bools:
    return np.asarray(_count(value, of_all) * HEAVY >= of_all.size)


def _count(value: Floats, of_all: Floats) -> Ints:
    """How many of all have each value; nan is one."""
    ordered = np.sort(of_all[~np.isnan(of_all)])
    order = np.argsort(value)  # looked up in order, which takes far fewer steps through memory
    found = np.empty(value.size, dtype=np.int64)
    below, up_to = (np.searchsorted(ordered, value[order], side) for side in ("left", "right"))
    found[order] = up_to - below
    return np.where(np.isnan(value), of_all.size - ordered.size, found)


def _densities(channels: Sequence[NumberChannel]) -> Floats:
    """Tables of one size: the points of a coarse one are in every finer one, so nothing is lost."""
    points = max((channel.density.table.size for channel in channels), default=2)
    grid = np.linspace(0, 1, points)
    tables = [np.interp(grid, np.linspace(0, 1, c.density.table.size), c.density.table) for c in channels]
    return np.array(tables).reshape(len(channels), points)


def _joint(
    known: Floats,
    released: Floats,
    own: Ints,
    channels: Sequence[NumberChannel],
    persons: Floats,
    records: Floats,
    persons_at: Ints | slice,
    records_at: Ints | slice,
) -> JOINT | None:
    """Residuals y − x as jointly normal: uncorrelated components of variance 1 take the place of the numbers.

    Nothing where no number has a density or there are too few pairs. A person or record with a missing number
    has no components; its likelihoods are those of the missing numbers alone.
    """
    part = np.array([not c.is_map and c.pairs > 0 for c in channels], dtype=np.bool_)
    linked, p = own >= 0, int(part.sum())
    pairs = released[own[linked]][:, part] - known[linked][:, part]
    pairs = pairs[~np.isnan(pairs).any(axis=1)]
    if p == 0 or pairs.shape[0] < p + 2 or not (pairs.std(axis=0) > 0).all():
        return None
    scale = pairs.std(axis=0)
    correlation = np.atleast_2d(np.corrcoef(pairs, rowvar=False)) + 1e-9 * np.eye(p)
    whiten = np.linalg.inv(np.linalg.cholesky(correlation) * scale[:, None]).T
    persons, records = persons.copy(), records.copy()
    x, y = known[persons_at][:, part], released[records_at][:, part]
    persons[:, part, 0] = persons[:, part, 1] = (x + pairs.mean(axis=0)) @ whiten
    persons[:, part, 2:4], persons[:, part, 4] = 1.0, 0.0
    records[:, part, 0] = records[:, part, 1] = y @ whiten
    each = [released_widths(of_all, some) for of_all, some in zip(released[:, part].T, y.T, strict=True)]
    widths = np.prod(each, axis=0) * np.linalg.det(whiten)
    records[:, part, 2] = np.nan_to_num(np.abs(widths), nan=0.0)[:, None] ** (1.0 / p)
    table = np.exp(-0.5 * np.linspace(-REACH, REACH, NORMAL_STEPS + 1) ** 2) / np.sqrt(2 * np.pi)
    return persons, records, np.broadcast_to(table, (len(channels), table.size)).copy()
