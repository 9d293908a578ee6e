"""Channels of numbers applied to the persons and records of a file, as the kernels of an attack want them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.models.number_channel import REACH, NumberChannel
from sdckit.models.number_column import NumberColumn, frequent_values, is_among
from sdckit.models.number_widths import masses_of_values, widths_of_values

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


def exact_numbers(
    known: Sequence[NumberColumn], released: Sequence[NumberColumn], channels: Sequence[NumberChannel]
) -> list[int]:
    """The numbers that tell exactly which records are possible: maps, nothing missing."""
    return [
        v
        for v, channel in enumerate(channels)
        if channel.is_map and channel.pairs and known[v].complete and released[v].complete
    ]


def number_tables(
    known: Sequence[NumberColumn],
    released: Sequence[NumberColumn],
    channels: Sequence[NumberChannel],
    persons_at: Ints | slice,
    records_at: Ints | slice,
    sizes: tuple[int, int],
) -> NumberTables:
    """What the kernels need of numbers that an intruder knows and that are released.

    The tables are of so many persons and records (sizes) `at` these rows; how frequent values are is seen in
    all.
    """
    x, y = (np.empty((size, 0)) for size in sizes)
    if channels:
        x, y = values_at(known, persons_at), values_at(released, records_at)
    persons, records = np.zeros((*x.shape, 7)), np.zeros((*y.shape, 5))
    profile, heavy = np.zeros(x.shape, dtype=np.int64), np.zeros(x.shape, dtype=np.bool_)
    unknown = not all(column.complete for column in known)  # who lacks one number has no joint components
    for v, channel in enumerate(channels):
        profile[:, v] = channel.profiles(x[:, v])
        persons[:, v] = _of_persons(x[:, v], profile[:, v], channel)
        heavy[:, v] = _is_heavy(persons[:, v, 0], known[v], channel)
        persons[:, v, 6] = (persons[:, v, 4] > 0) & ~heavy[:, v] & (profile[:, v] >= 0)
        records[:, v] = _of_records(y[:, v], released[v], channel, records_at, unknown=unknown)
    variance = [float(column.ordered.var()) if column.ordered.size else 0.0 for column in known]
    precision = np.array([1.0 / s if s > 0 else 1.0 for s in variance])
    return NumberTables(persons, records, _densities(channels), precision, profile, heavy)


def values_at(columns: Sequence[NumberColumn], rows: Ints | slice) -> Floats:
    """The values of some rows, (rows, numbers)."""
    return np.column_stack([column.values[rows] for column in columns])


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


def _of_records(
    y: Floats, released: NumberColumn, channel: NumberChannel, rows: Ints | slice, *, unknown: bool
) -> Floats:
    """Value, T(y), Δ(y), share of the records alike, chance that a missing value becomes this.

    The last two only where a number is `unknown` of somebody: else nobody asks for them.
    """
    table, shown = np.zeros((y.size, 5)), ~np.isnan(y)
    table[:, 0] = y
    if unknown or not channel.pairs:
        n, blank = released.values.size, channel.blank_of_missing
        often = np.append(released.count, n - released.ordered.size)
        share = often[released.place[rows]] / max(n, 1)
        visible = released.ordered.size / n if n else 0.0
        table[:, 3] = share
        table[:, 4] = np.where(shown, share / max(visible, 1e-300) * (1 - blank), blank)
    if not channel.is_map and channel.pairs:
        table[:, 1] = channel.transform.value(y)
        table[shown, 2] = masses_of_values(channel, released)[released.place[rows][shown]]
    return table


def _is_heavy(value: Floats, known: NumberColumn, channel: NumberChannel) -> Bools:
    """Which values one in so many persons has."""
    ordered = _values(known.ordered, channel)
    if channel.is_map and ordered is not known.ordered:
        ordered = np.sort(ordered)
    return is_among(value, frequent_values(ordered, known.values.size / HEAVY))


def _densities(channels: Sequence[NumberChannel]) -> Floats:
    """Tables of one size: the points of a coarse one are in every finer one, so nothing is lost."""
    points = max((channel.density.table.size for channel in channels), default=2)
    grid = np.linspace(0, 1, points)
    tables = [np.interp(grid, np.linspace(0, 1, c.density.table.size), c.density.table) for c in channels]
    return np.array(tables).reshape(len(channels), points)


def joint_tables(
    tables: NumberTables,
    known: Sequence[NumberColumn],
    released: Sequence[NumberColumn],
    own: Ints,
    channels: Sequence[NumberChannel],
    persons_at: Ints | slice,
    records_at: Ints | slice,
) -> JOINT | None:
    """Residuals y − x as jointly normal: uncorrelated components of variance 1 take the place of the numbers.

    known, shown, density with the normal kernel in place of all densities. Nothing where no number has a
    density or there are too few pairs. A person or record with a missing number has no components; its
    likelihoods are those of the missing numbers alone.
    """
    part = np.array([not c.is_map and c.pairs > 0 for c in channels], dtype=np.bool_)
    of_known, of_released = ([c for c, used in zip(f, part, strict=True) if used] for f in (known, released))
    linked, p = own >= 0, int(part.sum())
    if p == 0:
        return None
    pairs = values_at(of_released, own[linked]) - values_at(of_known, np.flatnonzero(linked))
    pairs = pairs[~np.isnan(pairs).any(axis=1)]
    if pairs.shape[0] < p + 2 or not (pairs.std(axis=0) > 0).all():
        return None
    scale = pairs.std(axis=0)
    correlation = np.atleast_2d(np.corrcoef(pairs, rowvar=False)) + 1e-9 * np.eye(p)
    whiten = np.linalg.inv(np.linalg.cholesky(correlation) * scale[:, None]).T
    persons, records = tables.known.copy(), tables.shown.copy()
    x, y = values_at(of_known, persons_at), values_at(of_released, records_at)
    persons[:, part, 0] = persons[:, part, 1] = (x + pairs.mean(axis=0)) @ whiten
    persons[:, part, 2:4], persons[:, part, 4] = 1.0, 0.0
    records[:, part, 0] = records[:, part, 1] = y @ whiten
    each = [np.append(widths_of_values(c), np.nan)[c.place[records_at]] for c in of_released]
    widths = np.prod(each, axis=0) * np.linalg.det(whiten)
    records[:, part, 2] = np.nan_to_num(np.abs(widths), nan=0.0)[:, None] ** (1.0 / p)
    table = np.exp(-0.5 * np.linspace(-REACH, REACH, NORMAL_STEPS + 1) ** 2) / np.sqrt(2 * np.pi)
    return persons, records, np.broadcast_to(table, (len(channels), table.size)).copy()
