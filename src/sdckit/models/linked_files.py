"""Persons and records as the kernels of an attack want them: distinct, sorted by block and cell, with channels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdckit._support.arrays import Bools, Codes, Floats, Ints
from sdckit.kernels.linked.tables import Cells, Files, Keys, Numbers, Outcomes, Rows, Sampling
from sdckit.models.number_channel import REACH, TAIL, NumberChannel, released_widths

GOLDEN = 0.6180339887498949
LARGEST_KEY = 2**62
ROWS_IN_TOTAL = 1_000  # persons that stand for all who could have produced a record, in blocks of more than twice as many
REFERENCES = 300
FEW_CELLS = 3_000
BINS = {0: 0, 1: 64, 2: 32, 3: 12, 4: 8}  # of each number, by how many numbers are binned
HEAVY = 200  # a value of one in so many persons has a bin of its own


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """Categorical keys of an intruder, as codes into their channels m[x, y], the last y of each being a blank."""

    true: Codes  # (persons, keys)
    released: Codes  # (records, keys)
    channels: tuple[Floats, ...]


@dataclass(frozen=True, slots=True)
class LinkedFiles:
    """What the kernel works on, and where persons are in it."""

    files: Files
    row: Ints  # (persons,)
    outcome: Ints  # (persons,) of the own record; −1 none
    block: Ints  # (persons,)


@dataclass(frozen=True, slots=True)
class _Persons:
    """Persons before they are sorted."""

    block: Ints
    codes: Codes  # (persons, keys that were not released exactly)
    profile: Codes
    value: Floats
    centre: Floats
    heavy: Bools  # (persons, numbers) a value of many


def link_files(
    known: Floats,
    released: Floats,
    own: Ints,
    channels: Sequence[NumberChannel],
    keys: KnownKeys,
    weights: Floats,
    *,
    all_rows: bool = False,
) -> LinkedFiles:
    """Sort persons (known) and records (released) and take what the kernels need from the channels.

    all_rows: totals are summed over all persons, however large the block.
    """
    value = np.column_stack([c.image(x) if c.is_map else x for c, x in zip(channels, known.T, strict=True)] or [known])
    profile = np.column_stack([c.profiles(x) for c, x in zip(channels, known.T, strict=True)] or [known])
    exact = _exact_numbers(channels, value, released, profile)
    images = [_image(matrix, keys.true[:, v]) for v, matrix in enumerate(keys.channels)]
    changed = _changed_keys(keys, images)
    block, record_block = _blocks(keys, images, value, released, exact)
    persons = _Persons(
        block,
        keys.true[:, changed],
        profile.astype(np.int32),
        np.where(profile < 0, np.nan, value),
        _centres(channels, known, profile),
        _heavy(value),
    )
    largest = int(np.bincount(block).max(initial=0))
    binned = _binned(channels, known, exact) if largest > 2 * ROWS_IN_TOTAL and not all_rows else []
    bins = [_bins(persons.value[:, v], persons.heavy[:, v], BINS[len(binned)]) for v in binned]
    blocks = int(max(block.max(initial=-1), record_block.max(initial=-1))) + 1
    rows, cells, row = _rows(persons, bins, channels, blocks)
    normal = _normal_kernel(known, released, own, channels)
    outcomes, released_cells, outcome = _outcomes(
        record_block, keys.released[:, changed], released, weights, channels, blocks, normal, row, own
    )
    rows = rows._replace(white=_first_of(row, rows.count.size, normal.white_persons))
    tables = _numbers(channels, known, normal.part)
    files = Files(
        rows, outcomes, cells, released_cells, _keys([keys.channels[v] for v in changed]), tables,
        _sampling(rows, cells, binned, len(changed), tables), False,
    )  # fmt: skip
    return LinkedFiles(files, row, np.where(own < 0, -1, outcome[own]) if outcome.size else np.full(row.size, -1), block)


def _exact_numbers(channels: Sequence[NumberChannel], value: Floats, released: Floats, profile: Ints) -> list[int]:
    """Numbers that tell exactly which records are possible: maps, with nothing missing."""
    return [
        v
        for v, channel in enumerate(channels)
        if channel.is_map and (profile[:, v] >= 0).all() and not np.isnan(released[:, v]).any()
    ]


def _image(matrix: Floats, codes: Codes) -> Ints | None:
    """Where every true value goes to one released value: which one."""
    used = np.unique(codes)
    if ((matrix[used] > 0).sum(axis=1) != 1).any():
        return None
    return np.asarray(matrix.argmax(axis=1), dtype=np.int64)


def _changed_keys(keys: KnownKeys, images: list[Ints | None]) -> list[int]:
    """Keys that were not released exactly; those that rule most out first, so that products stop early."""
    changed = [v for v, image in enumerate(images) if image is None]
    return sorted(changed, key=lambda v: (round(float((keys.channels[v] > 0).mean()), 6), keys.channels[v].shape[0]))


def _blocks(
    keys: KnownKeys, images: list[Ints | None], value: Floats, released: Floats, exact: list[int]
) -> tuple[Ints, Ints]:
    """The block of every person and record: everything that was released exactly, in one number."""
    n, key = keys.true.shape[0], np.zeros(keys.true.shape[0] + keys.released.shape[0], dtype=np.int64)
    for v, image in enumerate(images):
        if image is not None:
            codes = np.append(image[keys.true[:, v]], keys.released[:, v].astype(np.int64))
            key = _joined(key, codes)
    for v in exact:
        key = _joined(key, np.unique(np.append(value[:, v], released[:, v]), return_inverse=True)[1])
    key = np.unique(key, return_inverse=True)[1]
    return key[:n], key[n:]


def _joined(key: Ints, codes: Ints) -> Ints:
    """Lexicographic numbers of pairs."""
    size = int(codes.max(initial=0)) + 1
    if key.size and (int(key.max()) + 1) * size > LARGEST_KEY:
        key = np.unique(key, return_inverse=True)[1]
    return np.asarray(key * size + codes)


def _centres(channels: Sequence[NumberChannel], known: Floats, profile: Ints) -> Floats:
    centre = np.zeros(known.shape)
    for v, channel in enumerate(channels):
        if not channel.is_map and channel.pairs:
            centre[:, v] = channel.transform.value(known[:, v]) + channel.middle[profile[:, v]]
    return centre


def _heavy(value: Floats) -> Bools:
    heavy = np.zeros(value.shape, dtype=np.bool_)
    for v in range(value.shape[1]):
        _, place, count = np.unique(value[:, v], return_inverse=True, return_counts=True, equal_nan=True)
        heavy[:, v] = count[place] * HEAVY >= value.shape[0]
    return heavy


def _binned(channels: Sequence[NumberChannel], known: Floats, exact: list[int]) -> list[int]:
    """The numbers whose bins decide who is sampled: up to four, those that tell most."""

    def width(v: int) -> float:
        channel = channels[v]
        if channel.is_map:
            return 0.0
        spread = float(np.nanstd(channel.transform.value(known[:, v])))
        return float(channel.spread.mean()) / spread if spread > 0 else np.inf

    learned = [v for v, channel in enumerate(channels) if channel.pairs and v not in exact]
    return sorted(learned, key=width)[: max(BINS)]


def _bins(value: Floats, heavy: Bools, bins: int) -> Ints:
    """A bin for every person: 0 not known, then one for each frequent value, then quantiles of the others."""
    code = np.zeros(value.size, dtype=np.int64)
    known = ~np.isnan(value)
    often, light = heavy & known, known & ~heavy
    values, place = np.unique(value[often], return_inverse=True)
    code[often] = 1 + place
    if light.any():
        edges = np.unique(np.quantile(value[light], np.arange(1, bins) / bins))
        code[light] = 1 + values.size + np.searchsorted(edges, value[light], "right")
    return code


def _rows(
    persons: _Persons, bins: list[Ints], channels: Sequence[NumberChannel], blocks: int
) -> tuple[Rows, Cells, Ints]:
    """Distinct persons sorted by block, cell and a permanent random number; their cells; the row of each person."""
    codes = np.column_stack([persons.codes.astype(np.int64), *bins])
    key = persons.block
    for column in codes.T:
        key = _joined(key, column)
    filled = np.where(np.isnan(persons.value), np.inf, persons.value)
    columns = [*filled.T, *persons.profile.T]
    order, starts = _distinct([*columns, key])
    count = np.diff(np.append(starts, order.size)).astype(np.float64)
    draw = np.arange(1, starts.size + 1) * GOLDEN % 1.0
    first = order[starts]
    by_draw = np.lexsort((draw, key[first]))
    row = np.empty(order.size, dtype=np.int64)
    row[order] = np.argsort(by_draw)[np.repeat(np.arange(starts.size), count.astype(np.int64))]
    first, count, draw = first[by_draw], count[by_draw], draw[by_draw]
    cells, cell = _cells(key[first], codes[first], persons.block[first], blocks)
    light = np.zeros((first.size, len(channels)), dtype=np.bool_)
    for v, channel in enumerate(channels):
        profile = persons.profile[first, v]
        light[:, v] = (profile >= 0) & ~persons.heavy[first, v] & (channel.stay[profile] > 0)
    return (
        Rows(
            count, cell, draw, np.ascontiguousarray(persons.profile[first]), np.ascontiguousarray(persons.value[first]),
            np.ascontiguousarray(persons.centre[first]), light, np.empty((first.size, 0)),
        ),
        cells,
        row,
    )  # fmt: skip


def _distinct(columns: Sequence[Floats | Ints]) -> tuple[Ints, Ints]:
    """The order by the last column, then the one before, …, and where new combinations start in it."""
    order = np.lexsort(columns)
    new = np.zeros(order.size, dtype=np.bool_)
    new[:1] = True
    for column in columns:
        new[1:] |= column[order[1:]] != column[order[:-1]]
    return order, np.flatnonzero(new)


def _cells(key: Ints, codes: Ints, block: Ints, blocks: int) -> tuple[Cells, Ints]:
    """Cells of rows or outcomes that are sorted by key; and the cell of each."""
    starts = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: key.size])
    cell = np.repeat(np.arange(starts.size), np.diff(np.append(starts, key.size)))
    of_cells, of_blocks = codes[starts].astype(np.int32), block[starts]
    differs = np.zeros(starts.size, dtype=np.int64)
    if codes.shape[1] and starts.size > 1:
        same_block = of_blocks[1:] == of_blocks[:-1]
        differs[1:] = np.where(same_block, (of_cells[1:] != of_cells[:-1]).argmax(axis=1), 0)
    return Cells(
        np.searchsorted(of_blocks, np.arange(blocks + 1)), np.append(starts, key.size),
        np.ascontiguousarray(of_cells), differs,
    ), cell  # fmt: skip


@dataclass(frozen=True, slots=True)
class _NormalKernel:
    part: Bools  # (numbers,) which take part
    white_persons: Floats
    white_records: Floats
    volume: Floats  # (records,)


def _normal_kernel(known: Floats, released: Floats, own: Ints, channels: Sequence[NumberChannel]) -> _NormalKernel:
    """Residuals y − x of the true pairs, made uncorrelated with variance 1; nothing where there are too few."""
    part = np.array([not c.is_map and c.pairs > 0 for c in channels], dtype=np.bool_)
    linked = own >= 0
    pairs = released[own[linked]][:, part] - known[linked][:, part]
    pairs = pairs[~np.isnan(pairs).any(axis=1)]
    p = int(part.sum())
    none = _NormalKernel(
        np.zeros_like(part), np.empty((known.shape[0], 0)), np.empty((released.shape[0], 0)), np.ones(released.shape[0])
    )
    if p == 0 or pairs.shape[0] < p + 2:
        return none
    covariance = np.atleast_2d(np.cov(pairs, rowvar=False))
    scale = np.sqrt(np.diag(covariance))
    if not (scale > 0).all():
        return none
    correlation = covariance / np.outer(scale, scale)
    factor = np.linalg.cholesky(correlation + 1e-9 * np.eye(p)) * scale[:, None]
    whiten = np.linalg.inv(factor).T
    widths = np.prod([released_widths(y) for y in released[:, part].T], axis=0)
    constant = np.abs(np.diag(whiten)).prod() / (2 * np.pi) ** (p / 2)
    shown = np.prod([1.0 - float(c.blank.mean()) for c, take in zip(channels, part, strict=True) if take])
    white = [(known[:, part] + pairs.mean(axis=0)) @ whiten, released[:, part] @ whiten]
    for w in white:
        w[np.isnan(w).any(axis=1)] = np.nan
    return _NormalKernel(part, white[0], white[1], np.nan_to_num(widths * constant * shown, nan=1.0))


def _first_of(group: Ints, groups: int, values: Floats) -> Floats:
    """For every group the values of one of its members; they all have the same."""
    member = np.zeros(groups, dtype=np.int64)
    member[group] = np.arange(group.size)
    return np.ascontiguousarray(values[member])


def _outcomes(
    block: Ints,
    codes: Codes,
    released: Floats,
    weights: Floats,
    channels: Sequence[NumberChannel],
    blocks: int,
    normal: _NormalKernel,
    row: Ints,
    own: Ints,
) -> tuple[Outcomes, Cells, Ints]:
    """Distinct records sorted by block and cell; their cells; the outcome of each record."""
    key = block
    for column in codes.T.astype(np.int64):
        key = _joined(key, column)
    filled = np.where(np.isnan(released), np.inf, released)
    order, starts = _distinct([*filled.T, key])
    first = order[starts]
    count = np.diff(np.append(starts, order.size))
    outcome = np.empty(order.size, dtype=np.int64)
    outcome[order] = np.repeat(np.arange(starts.size), count)
    cells, cell = _cells(key[first], codes[first].astype(np.int64), block[first], blocks)
    place, mass, marginal, replaced = (np.zeros((first.size, len(channels))) for _ in range(4))
    for v, channel in enumerate(channels):
        y = released[:, v]
        shown = ~np.isnan(y)
        values, where, often = np.unique(filled[:, v], return_inverse=True, return_counts=True)
        share = (often / max(y.size, 1))[where]
        marginal[:, v] = share[first]
        of_missing = np.where(shown, share / max(shown.mean(), 1e-300) * (1 - channel.blank_of_missing), channel.blank_of_missing)
        replaced[:, v] = of_missing[first]
        if not channel.is_map and channel.pairs:
            place[:, v] = channel.transform.value(y[first])
            mass[:, v] = (released_widths(y) * np.where(shown, channel.transform.slope(y), 0.0))[first]
    owner_of = np.full(block.size, -1, dtype=np.int64)
    owner_of[own[own >= 0]] = row[own >= 0]
    outcomes = Outcomes(
        count.astype(np.float64), np.bincount(outcome, weights, starts.size), cell, block[first],
        np.ascontiguousarray(released[first]), place, mass, marginal, replaced,
        np.ascontiguousarray(normal.white_records[first]), normal.volume[first], np.append(starts, order.size), owner_of[order],
    )  # fmt: skip
    return outcomes, cells, outcome


def _keys(channels: list[Floats]) -> Keys:
    sizes = np.array([m.size for m in channels], dtype=np.int64)
    matrix = np.concatenate([m.ravel() for m in channels]) if channels else np.zeros(1)
    return Keys(matrix, np.cumsum(sizes) - sizes, np.array([m.shape[1] for m in channels], dtype=np.int64))


def _numbers(channels: Sequence[NumberChannel], known: Floats, normal: Bools) -> Numbers:
    most = max((c.stay.size for c in channels), default=1)
    inverse, moved, stay, blank = (np.zeros((len(channels), most)) for _ in range(4))
    precision, tables = np.zeros(len(channels)), [c.density.table for c in channels]
    for v, channel in enumerate(channels):
        k = channel.stay.size
        shown = 1.0 - channel.blank
        inverse[v, :k], blank[v, :k] = 1.0 / channel.spread, channel.blank
        stay[v, :k] = channel.stay * shown
        moved[v, :k] = 0.0 if channel.is_map else (1.0 - channel.stay) * shown / channel.spread
        x = known[~np.isnan(known[:, v]), v]
        variance = float(x.var()) if x.size else 0.0
        precision[v] = 1.0 / variance if variance > 0 else 1.0
    first = np.cumsum([0, *(t.size for t in tables)]).astype(np.int64)
    density = np.concatenate(tables) if tables else np.zeros(1)
    return Numbers(inverse, moved, stay, blank, density, first, REACH, TAIL, precision, normal)


def _sampling(rows: Rows, cells: Cells, binned: list[int], keys: int, numbers: Numbers) -> Sampling:
    """Three rows for every bin of every number, and rows by value for numbers that may stay."""
    first, members = [0], []
    block = np.searchsorted(cells.block, rows.cell, "right")
    for level, v in enumerate(binned):
        code = cells.codes[rows.cell, keys + level]
        order = np.lexsort((rows.value[:, v], code))
        count = np.bincount(code)
        start = np.cumsum(count) - count
        take = start[:, None] + (count[:, None] * np.array([1, 3, 5]) // 6).clip(max=np.maximum(count - 1, 0)[:, None])
        members.append(np.where(count[:, None] > 0, order[take.clip(max=order.size - 1)], 0))
        first.append(first[-1] + count.size)
    equal = [v for v in range(rows.light.shape[1]) if binned and rows.light[:, v].any()]
    orders = [np.lexsort((rows.value[:, v], block)) for v in equal]
    return Sampling(
        np.array(binned, dtype=np.int64), np.array(first, dtype=np.int64),
        np.concatenate(members) if members else np.zeros((0, 3), dtype=np.int64),
        np.array(equal, dtype=np.int64), np.array(orders, dtype=np.int64).reshape(len(equal), rows.count.size),
        ROWS_IN_TOTAL, REFERENCES, FEW_CELLS,
    )  # fmt: skip
