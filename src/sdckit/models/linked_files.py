"""Persons and records as the kernels of an attack want them: distinct, sorted by block and cell."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Bools, Codes, Floats, Ints
from sdckit.kernels.hashing import distinct_rows
from sdckit.kernels.linked.tables import Files
from sdckit.models.linked_numbers import JOINT, NumberTables, exact_numbers, joint_tables, number_tables
from sdckit.models.number_channel import REACH, TAIL, NumberChannel, some_of
from sdckit.models.number_column import NumberColumn

GOLDEN = 0.6180339887498949
LARGEST_KEY = 2**40  # leaves room for a hash
HASH_FACTOR = 0x9E3779B97F4A7C15
ROWS_IN_TOTAL = 400  # persons who stand for all of their block, where it has more than twice as many
REFERENCES = 300  # persons in a rough total
FEW_CELLS = 3_000  # up to so many a rough total is the sum over cells
WORK = (
    40_000_000  # likelihoods spent on a target, where all totals of its block would take more than the next
)
WORK_BLOCK = 300_000_000
BINS = {0: 0, 1: 64, 2: 32, 3: 12, 4: 8}  # of each number, by how many numbers are binned


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """Categorical keys of an intruder, as codes into their channels m[x, y]; the last y is a blank.

    A row of codes may stand for all persons or records that are alike: then `person` and `record` say which
    row is whose.
    """

    true: Codes  # (persons, keys)
    released: Codes  # (records, keys)
    channels: tuple[Floats, ...]
    person: Ints | None = None  # (persons,) None: each has a row
    record: Ints | None = None  # (records,)

    def true_at(self, persons: Ints | slice) -> Codes:
        """The codes of some persons."""
        return np.asarray(self.true[persons if self.person is None else self.person[persons]])

    def released_at(self, records: Ints | slice) -> Codes:
        """The codes of some records."""
        return np.asarray(self.released[records if self.record is None else self.record[records]])


@dataclass(frozen=True, slots=True)
class LinkedFiles:
    """What the kernel works on, and where persons are in it."""

    files: Files
    jointly: Files | None  # the same with the normal kernel in place of the channels of numbers
    row: Ints  # (persons,)
    outcome: Ints  # (persons,) of the own record; −1 none
    pairs: float  # of a row and an outcome in the blocks of the targets


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Distinct persons or records in the order of the kernel."""

    member: Ints  # one of each
    draw: Floats  # permanent random number
    count: Floats
    cell: Ints
    cells: Ints  # (cells + 1, 2)
    codes: npt.NDArray[np.uint16]  # (cells, levels)
    first_cell: Ints  # (blocks + 1,)
    place: Ints  # of every person or record among the distinct ones
    order: Ints  # persons or records, those that are alike together; records by their place


def link_files(
    known: Sequence[NumberColumn],
    released: Sequence[NumberColumn],
    own: Ints,
    channels: Sequence[NumberChannel],
    keys: KnownKeys,
    weights: Floats,
    targets: Ints,
    most_pairs: float,
) -> LinkedFiles:
    """Sort persons (known) and records (released) and take what the kernels need from the channels.

    Only the blocks of the targets are laid out. Where these have at most so many pairs of a person and a
    record, totals are summed over all persons, however large the block.
    """
    images = [_image(matrix, keys.true[:, v]) for v, matrix in enumerate(keys.channels)]
    changed = _changed_keys(keys, images)
    at = _blocks_of(targets, own, *_key_blocks(keys, images, own.size, weights.size))
    exact = exact_numbers(known, released, channels)
    sizes = (at.block.size, at.record_block.size)
    tables = number_tables(known, released, channels, at.persons, at.records, sizes)
    value, y = tables.known[:, :, 0], tables.shown[:, :, 0]
    block, record_block = _with_exact_numbers(at, value, y, exact)
    blocks = int(max(block.max(initial=-1), record_block.max(initial=-1))) + 1
    levels, values = list(keys.true_at(at.persons)[:, changed].T), list(value.T)
    values += [tables.profile[:, v] for v, channel in enumerate(channels) if channel.is_map]
    wanted = block[at.place_of(targets)]
    many = _are_many(block, record_block, wanted, most_pairs)
    shown = list(keys.released_at(at.records)[:, changed].T)
    records = _sorted(record_block, shown, list(y.T), blocks, by_value=many)
    persons = _sorted(block, levels, values, blocks)
    pairs = _pairs(persons, records, wanted)
    binned = _binned(channels, known, exact) if many and pairs > most_pairs else []
    if binned:
        bins = [_bins(value[:, v], tables.heavy[:, v], BINS[len(binned)]) for v in binned]
        persons = _sorted(block, [*levels, *bins], values, blocks, by_value=True, by_draw=True)
    matrices = [keys.channels[v] for v in changed]
    files = _files(tables, persons, records, matrices, at.own, weights[at.records], binned)
    # samples of totals follow the channels of single numbers
    joint = None if binned else joint_tables(tables, known, released, own, channels, at.persons, at.records)
    jointly = None if joint is None else _jointly(joint, files, persons, records)
    outcome = np.where(at.own < 0, -1, records.place[at.own])
    return LinkedFiles(files, jointly, at.spread(persons.place), at.spread(outcome), pairs)


@dataclass(frozen=True, slots=True)
class _Blocks:
    """The persons and records of some blocks; rows in the files, or all."""

    persons: Ints | slice
    records: Ints | slice
    block: Ints  # of these persons
    record_block: Ints
    own: Ints  # the place of their record among these records; −1 none
    number: int  # of all persons

    def place_of(self, persons: Ints) -> Ints:
        """Where some of the persons are among these."""
        return persons if isinstance(self.persons, slice) else np.searchsorted(self.persons, persons)

    def spread(self, values: Ints) -> Ints:
        """Values of these persons among all persons; −1 for others."""
        if isinstance(self.persons, slice):
            return values
        of_all = np.full(self.number, -1, dtype=np.int64)
        of_all[self.persons] = values
        return of_all


def _blocks_of(targets: Ints, own: Ints, block: Ints, record_block: Ints) -> _Blocks:
    """The blocks of the targets, where these are a small part of the file: no other can matter to them."""
    n = block.size
    everything = _Blocks(slice(None), slice(None), block, record_block, own, n)
    if 2 * targets.size > n:
        return everything
    wanted = np.zeros(int(max(block.max(initial=0), record_block.max(initial=0))) + 1, dtype=np.bool_)
    wanted[block[targets]] = True
    persons, records = np.flatnonzero(wanted[block]), np.flatnonzero(wanted[record_block])
    if 2 * persons.size > n:
        return everything
    place = np.full(record_block.size, -2, dtype=np.int64)
    place[records] = np.arange(records.size)
    mine = own[persons]
    owned = np.where(mine < 0, -1, place[mine])
    if (owned == -2).any():  # a record outside the block of its person
        return everything
    return _Blocks(persons, records, block[persons], record_block[records], owned, n)


def _are_many(block: Ints, record_block: Ints, wanted: Ints, most_pairs: float) -> bool:
    """Whether a block has so many persons that some can stand for all, and all pairs may be too many."""
    persons = np.bincount(block, minlength=int(record_block.max(initial=0)) + 1).astype(np.float64)
    pairs = persons * np.bincount(record_block, minlength=len(persons))
    return bool(persons.max(initial=0) > 2 * ROWS_IN_TOTAL and pairs[np.unique(wanted)].sum() > most_pairs)


def _pairs(persons: _Sorted, records: _Sorted, blocks: Ints) -> float:
    """Pairs of a row and an outcome in some blocks."""
    rows = np.diff(persons.cells[persons.first_cell, 0])
    outcomes = np.diff(records.cells[records.first_cell, 0])
    return float((rows * outcomes)[np.unique(blocks)].sum())


def _image(matrix: Floats, codes: Codes) -> Ints | None:
    """Where every true value goes to one released value: which one."""
    if ((matrix[np.unique(codes)] > 0).sum(axis=1) != 1).any():
        return None
    return np.asarray(matrix.argmax(axis=1), dtype=np.int64)


def _changed_keys(keys: KnownKeys, images: list[Ints | None]) -> list[int]:
    """Keys that were not released exactly; those that rule most out first, so that products stop early."""
    changed = [v for v, image in enumerate(images) if image is None]
    return sorted(
        changed, key=lambda v: (round(float((keys.channels[v] > 0).mean()), 6), keys.channels[v].shape[0])
    )


def _key_blocks(keys: KnownKeys, images: list[Ints | None], persons: int, records: int) -> tuple[Ints, Ints]:
    """The block of every person and record by the keys that were released exactly, in one number."""
    columns = [
        np.append(image[keys.true[:, v]], keys.released[:, v].astype(np.int64))
        for v, image in enumerate(images)
        if image is not None
    ]
    if not columns:
        return np.zeros(persons, dtype=np.int64), np.zeros(records, dtype=np.int64)
    key = distinct_rows(columns)[1]
    of_persons, of_records = key[: keys.true.shape[0]], key[keys.true.shape[0] :]
    return (
        of_persons if keys.person is None else of_persons[keys.person],
        of_records if keys.record is None else of_records[keys.record],
    )


def _with_exact_numbers(at: _Blocks, value: Floats, released: Floats, exact: list[int]) -> tuple[Ints, Ints]:
    """The blocks divided by the numbers that were released exactly."""
    columns = [np.append(at.block, at.record_block)]
    for v in exact:
        both = np.append(value[:, v], released[:, v])
        columns.append(np.unique(both, return_inverse=True)[1].astype(np.int64))
    key = distinct_rows(columns)[1]
    return key[: at.block.size], key[at.block.size :]


def _joined(key: Ints, codes: Ints) -> Ints:
    """Numbers of pairs, in lexicographic order."""
    size = int(codes.max(initial=0)) + 1
    if key.size and (int(key.max()) + 1) * size > LARGEST_KEY:
        key = np.unique(key, return_inverse=True)[1]
    return np.asarray(key * size + codes)


def _binned(channels: Sequence[NumberChannel], known: Sequence[NumberColumn], exact: list[int]) -> list[int]:
    """The numbers whose bins decide who is sampled: up to four, those that tell most."""

    def width(v: int) -> float:
        channel = channels[v]
        if channel.is_map:
            return 0.0
        spread = float(channel.transform.value(some_of(known[v].ordered)).std())
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


def _sorted(
    block: Ints,
    levels: list[Ints],
    values: list[Floats],
    blocks: int,
    *,
    by_value: bool = False,
    by_draw: bool = False,
) -> _Sorted:
    """Distinct combinations by block and levels; in a cell by value, or then by a permanent random number.

    Permanent numbers fill [0, 1) evenly, neighbours far apart: in the order of the values, samples are spread
    over these. Where nothing is sampled, any order will do that brings equal values together, and a hash is
    sorted much faster.
    """
    key = block
    for column in levels:
        key = _joined(key, column.astype(np.int64))
    columns = [np.where(np.isnan(v), np.inf, v) if v.dtype.kind == "f" else v for v in values]
    order = np.lexsort([*columns, key]) if by_value else np.argsort(_hashed(key, columns))
    new = np.zeros(order.size, dtype=np.bool_)
    new[:1] = True
    for values_or_key in (*columns, key):
        in_order = values_or_key[order]
        new[1:] |= in_order[1:] != in_order[:-1]
    starts = np.flatnonzero(new)
    size = np.diff(np.append(starts, order.size))
    member, rank = order[starts], np.arange(starts.size)
    draw = np.asarray(np.arange(1, starts.size + 1) * GOLDEN % 1.0, dtype=np.float64)
    if by_draw:
        rank = np.lexsort((draw, key[member]))
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.repeat(np.argsort(rank) if by_draw else rank, size)
    member = member[rank]
    starts = np.flatnonzero(np.append(True, key[member[1:]] != key[member[:-1]])[: member.size])
    cell = np.repeat(np.arange(starts.size), np.diff(np.append(starts, member.size)))
    codes = np.empty((starts.size, len(levels)), dtype=np.uint16)
    for level, column in enumerate(levels):
        codes[:, level] = column[member[starts]]
    of_cells = block[member[starts]]
    cells = np.column_stack(
        [np.append(starts, member.size), np.append(_first_difference(codes, of_cells), 0)]
    )
    first_cell = np.searchsorted(of_cells, np.arange(blocks + 1))
    count = size[rank].astype(np.float64)
    return _Sorted(member, draw[rank], count, cell, cells, codes, first_cell, place, order)


def _hashed(key: Ints, columns: list[Floats]) -> Ints:
    """The key and below it a hash of the values: equal for rows that are alike, in the order of the keys.

    Of rows that are not alike and have the same hash no harm comes: at worst rows that are alike are counted
    as two.
    """
    mixed = np.zeros(key.size, dtype=np.uint64)
    for column in columns:
        mixed ^= (column + 0.0).astype(np.float64).view(np.uint64)  # −0 becomes 0
        mixed *= np.uint64(HASH_FACTOR)
        mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(HASH_FACTOR)
    free = 63 - int(key.max(initial=0)).bit_length()
    return np.asarray((key << free) | (mixed >> np.uint64(64 - free)).astype(np.int64))


def _first_difference(codes: npt.NDArray[np.uint16], block: Ints) -> Ints:
    """The first level on which each cell differs from the one before; 0 at the start of a block."""
    first = np.zeros(block.size, dtype=np.int64)
    if codes.shape[1] and block.size:
        first[1:] = np.where(block[1:] == block[:-1], (codes[1:] != codes[:-1]).argmax(axis=1), 0)
    return first


def _files(
    tables: NumberTables,
    persons: _Sorted,
    records: _Sorted,
    channels: list[Floats],
    own: Ints,
    weights: Floats,
    binned: list[int],
) -> Files:
    owner = np.full(weights.size, -1, dtype=np.int64)
    owner[own[own >= 0]] = persons.place[own >= 0]
    sizes = np.array([m.size for m in channels], dtype=np.int64)
    known = np.ascontiguousarray(tables.known[persons.member])
    bins, members = _members(persons, known, binned, len(channels))
    equal = [v for v in range(known.shape[1]) if binned and (known[:, v, 6] > 0).any()]
    block = np.searchsorted(persons.first_cell, persons.cell, "right")
    orders = np.array([np.lexsort((known[:, v, 0], block)) for v in equal], dtype=np.int64)
    return Files(
        known=known,
        row=np.column_stack([persons.count, persons.draw]),
        row_cell=persons.cell,
        shown=np.ascontiguousarray(tables.shown[records.member]),
        outcome=np.column_stack([records.count, np.bincount(records.place, weights, records.member.size)]),
        outcome_cell=records.cell,
        owner=np.append(0, np.cumsum(records.count)).astype(np.int64),
        owners=owner[records.order],
        block=np.column_stack([persons.first_cell, records.first_cell]),
        cell=persons.cells,
        codes=persons.codes,
        released=records.cells,
        released_codes=records.codes,
        channel=np.concatenate([m.ravel() for m in channels]) if channels else np.zeros(1),
        matrix=np.column_stack([np.cumsum(sizes) - sizes, [m.shape[1] for m in channels]]).astype(np.int64),
        density=tables.density,
        precision=tables.precision,
        bins=bins,
        members=members,
        equal=np.array(equal, dtype=np.int64),
        order=orders.reshape(len(equal), persons.member.size),
        scalars=np.array(
            [REACH, TAIL, ROWS_IN_TOTAL, REFERENCES, FEW_CELLS, WORK, WORK_BLOCK], dtype=np.float64
        ),
    )


def _members(persons: _Sorted, known: Floats, binned: list[int], keys: int) -> tuple[Ints, Ints]:
    """The bins of each binned number, and three rows for every bin: from its lower, middle and upper part."""
    bins, members = [[v, 0] for v in binned] + [[0, 0]], [np.zeros((0, 3), dtype=np.int64)]
    for level, v in enumerate(binned):
        code = persons.codes[persons.cell, keys + level].astype(np.int64)
        order, count = np.lexsort((known[:, v, 0], code)), np.bincount(code)
        start = np.cumsum(count) - count
        take = start[:, None] + count[:, None] * np.array([1, 3, 5]) // 6
        members.append(order[take.clip(max=order.size - 1)])
        bins[level + 1][1] = bins[level][1] + count.size
    return np.array(bins, dtype=np.int64), np.concatenate(members)


def _jointly(joint: JOINT, files: Files, persons: _Sorted, records: _Sorted) -> Files:
    """The files with the normal kernel in place of the channels of numbers."""
    known, shown, density = joint
    scalars = files.scalars.copy()
    scalars[1] = 0.0
    return files._replace(
        known=np.ascontiguousarray(known[persons.member]),
        shown=np.ascontiguousarray(shown[records.member]),
        density=density,
        scalars=scalars,
    )
