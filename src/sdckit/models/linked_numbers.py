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
    exact: list[int]  # numbers that tell exactly which records are possible: maps, nothing missing
    joint: JOINT | None  # known, shown, density with the normal kernel in place of all densities


def number_tables(
    known: Floats, released: Floats, own: Ints, channels: Sequence[NumberChannel]
) -> NumberTables:
    """What the kernels need of numbers that an intruder knows (persons, numbers) and that are released."""
    n, p = known.shape
    persons, records = np.zeros((n, p, 7)), np.zeros((released.shape[0], p, 5))
    profile, heavy = np.zeros((n, p), dtype=np.int64), np.zeros((n, p), dtype=np.bool_)
    for v, channel in enumerate(channels):
        profile[:, v] = channel.profiles(known[:, v])
        persons[:, v] = _of_persons(known[:, v], profile[:, v], channel)
        heavy[:, v] = _is_heavy(persons[:, v, 0])
        persons[:, v, 6] = (persons[:, v, 4] > 0) & ~heavy[:, v] & (profile[:, v] >= 0)
        records[:, v] = _of_records(released[:, v], channel)
    variance = [float(np.nanvar(x)) if (~np.isnan(x)).any() else 0.0 for x in known.T]
    exact = [
        v
        for v, channel in enumerate(channels)
        if channel.is_map and (profile[:, v] >= 0).all() and not np.isnan(released[:, v]).any()
    ]
    precision = np.array([1.0 / s if s > 0 else 1.0 for s in variance])
    joint = _joint(known, released, own, channels, persons, records)
    return NumberTables(persons, records, _densities(channels), precision, profile, heavy, exact, joint)


def _of_persons(x: Floats, profile: Ints, channel: NumberChannel) -> Floats:
    """Value, centre, 1/s, chance to move over s, chance to stay, chance of a blank."""
    table = np.zeros((x.size, 7))
    if not channel.pairs:
        table[:, 0] = np.nan
        return table
    shown = 1.0 - channel.blank[profile]
    table[:, 0] = channel.image(x) if channel.is_map else x
    table[:, 4], table[:, 5] = channel.stay[profile] * shown, channel.blank[profile]
    if not channel.is_map:
        table[:, 1] = channel.transform.value(x) + channel.middle[profile]
        table[:, 2] = 1.0 / channel.spread[profile]
        table[:, 3] = (1.0 - channel.stay[profile]) * shown / channel.spread[profile]
    return table


def _of_records(y: Floats, channel: NumberChannel) -> Floats:
    """Value, T(y), Δ(y), share of the records alike, chance that a missing value becomes this."""
    table, shown = np.zeros((y.size, 5)), ~np.isnan(y)
    _, place, count = np.unique(y, return_inverse=True, return_counts=True, equal_nan=True)
    share = (count / max(y.size, 1))[place]
    blank = channel.blank_of_missing
    table[:, 0], table[:, 3] = y, share
    table[:, 4] = np.where(shown, share / max(float(shown.mean()), 1e-300) * (1 - blank), blank)
    if not channel.is_map and channel.pairs:
        table[:, 1] = channel.transform.value(y)
        table[shown, 2] = released_masses(channel, y)[shown]
    return table


def _is_heavy(value: Floats) -> Bools:
    _, place, count = np.unique(value, return_inverse=True, return_counts=True, equal_nan=True)
    return np.asarray(count[place] * HEAVY >= value.size)


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
    persons[:, part, 0] = persons[:, part, 1] = (known[:, part] + pairs.mean(axis=0)) @ whiten
    persons[:, part, 2:4], persons[:, part, 4] = 1.0, 0.0
    records[:, part, 0] = records[:, part, 1] = released[:, part] @ whiten
    widths = np.prod([released_widths(y) for y in released[:, part].T], axis=0) * np.linalg.det(whiten)
    records[:, part, 2] = np.nan_to_num(np.abs(widths), nan=0.0)[:, None] ** (1.0 / p)
    table = np.exp(-0.5 * np.linspace(-REACH, REACH, NORMAL_STEPS + 1) ** 2) / np.sqrt(2 * np.pi)
    return persons, records, np.broadcast_to(table, (len(channels), table.size)).copy()
