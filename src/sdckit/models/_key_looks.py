"""What an intruder sees when he holds a person's keys against all released records at once."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit.kernels.equal_key_subsets import Cells, Subsets
from sdckit.kernels.mode_products import best_over_records, expected_records, sum_over_records
from sdckit.models._key_cells import KeyCells

# Limits are for one kind of payload each; an attack carries two, records and their weights
FEW_TENSOR_CELLS = 400_000  # a tensor that is never slow
MOST_TENSOR_CELLS = 10_000_000
MOST_VISITED = 1_000_000_000  # cells, over all subsets of equal keys: about ten seconds
VISITS_PER_TENSOR_CELL = 20  # cells of a subset that take as long as one of the tensor
LEAST_OTHERS = 1e-12  # of U: the chance that somebody else produced a record is never quite 0
POWERS = 3  # of shares in the sums that stand for sums of odds, s/(1 − s) = s + s² + s³ + …


def odds(share: Floats) -> Floats:
    """s/(1 − s)."""
    return np.asarray(share / np.maximum(1 - share, LEAST_OTHERS))


def series(share: Floats) -> Floats:
    """The first powers of s/(1 − s)."""
    return np.asarray(sum(share**exponent for exponent in range(1, POWERS + 1)))


def odds_beyond_series(share: Floats) -> Floats:
    """What s/(1 − s) has beyond its first powers."""
    return np.asarray(share ** (POWERS + 1) / np.maximum(1 - share, LEAST_OTHERS))


class Carried(NamedTuple):
    """Numbers by cell: what an attack adds up."""

    persons: Floats  # [X] by person cell
    records: Floats  # [Y] by record cell
    payload: Floats  # [K, Y] to be added up over the best records
    summed: int  # so many kinds of payload are also summed over all records
    complete: bool  # every person has a record


class Looks(NamedTuple):
    """What persons see in the released file; arrays over person cells [X] unless said otherwise."""

    expected: Floats  # [Y] records that all persons together would produce, U
    in_file: Floats  # the chance to be in the file: Σ over records of their shares, at most 1
    sums: Floats  # [summed, X] Σ over records of payload · (s + its next powers), nearly payload · odds
    best_share: Floats
    share_payload: Floats  # [K, X] payload of the records with the best share
    best_likelihood: Floats
    likelihood_payload: Floats  # [K, X]


@dataclass(frozen=True, slots=True)
class TooManyCells:
    """Why an attack on all persons was not tried; sampled targets are the way out."""

    tensor_cells: int
    jobs: int  # subsets of equal keys, over all patterns of blanks


def expected(cells: KeyCells, persons: Floats) -> Floats | TooManyCells:
    """U alone: records like each record cell that all persons together would produce."""
    if not cells.axes or cells.tensor_cells <= FEW_TENSOR_CELLS:
        return _expected_by_tensor(cells, persons)
    subsets = Subsets(cells.axes, cells.persons, cells.records)
    if subsets.possible and subsets.jobs * (len(persons) + len(cells.records.block)) <= MOST_VISITED:
        return subsets.expected_records(persons)
    if cells.tensor_cells <= MOST_TENSOR_CELLS:
        return _expected_by_tensor(cells, persons)
    return TooManyCells(cells.tensor_cells, subsets.jobs)


def _expected_by_tensor(cells: KeyCells, persons: Floats) -> Floats:
    axes, blocks = cells.axes, cells.blocks
    start = _scatter(persons[None], cells.persons, [len(a.same) for a in axes], blocks)[0]
    at = _positions(cells.records, [a.released for a in axes], blocks, blocks_first=True)
    return expected_records(start, axes)[at]


def look(cells: KeyCells, carried: Carried) -> Looks | TooManyCells:
    """Look at all records in the way that suits the number of cells."""
    kinds = len(carried.payload)
    tensor = cells.tensor_cells * kinds
    if not cells.axes or tensor <= FEW_TENSOR_CELLS:
        return look_by_tensor(cells, carried)
    subsets = Subsets(cells.axes, cells.persons, cells.records)
    visited = subsets.jobs * (len(carried.persons) + len(carried.records)) * kinds
    if subsets.possible and visited <= min(MOST_VISITED, VISITS_PER_TENSOR_CELL * tensor):
        return look_by_subsets(subsets, carried)
    if tensor <= MOST_TENSOR_CELLS:
        return look_by_tensor(cells, carried)
    return TooManyCells(cells.tensor_cells, subsets.jobs)


def look_by_tensor(cells: KeyCells, carried: Carried) -> Looks:
    """By mode products over the tensor of all combinations."""
    axes, blocks = cells.axes, cells.blocks
    at = _positions(cells.persons, [len(a.same) for a in axes], blocks, blocks_first=True)
    released = [a.released for a in axes]
    total = _expected_by_tensor(cells, carried.persons)
    share = _inverse(total)

    def spread(values: Floats) -> Floats:
        return _scatter(values, cells.records, released, blocks)

    sums = np.zeros((carried.summed, len(at)))
    for exponent in range(1, POWERS + 1):
        powers = [axis.power(exponent) for axis in axes]
        for kind in range(carried.summed):
            values = spread(carried.payload[None, kind] * share**exponent)[0]
            sums[kind] += sum_over_records(values, powers)[at]
    in_file = np.ones(len(at))
    if not carried.complete:
        in_file = np.minimum(sum_over_records(spread((carried.records * share)[None])[0], axes)[at], 1.0)
    payload = spread(carried.payload)
    best, with_best = best_over_records(spread(share[None])[0], payload, axes)
    best, with_best = best[at], with_best[:, at]
    likely, with_likely = best_over_records(spread(np.ones((1, len(share))))[0], payload, axes)
    return Looks(total, in_file, sums, best, with_best, likely[at], with_likely[:, at])


def look_by_subsets(subsets: Subsets, carried: Carried) -> Looks:
    """By subsets of equal keys."""
    total = subsets.expected_records(carried.persons)
    share = _inverse(total)
    sums, best, held = subsets.look(share, carried.payload, carried.summed, POWERS)
    in_file = np.ones(len(carried.persons))
    if not carried.complete:
        in_file = np.minimum(subsets.sum_over_records(carried.records * share), 1.0)
    return Looks(total, in_file, sums, best[0], held[0], best[1], held[1])


def _inverse(total: Floats) -> Floats:
    """1/U; 0 for a record that nobody could have produced."""
    return np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)


def _scatter(values: Floats, cells: Cells, shape: list[int], blocks: int) -> Floats:
    """Values [K, cells] in a flat tensor with blocks as the last axis."""
    out = np.zeros((len(values), int(np.prod(shape, dtype=np.int64)) * blocks))
    out[:, _positions(cells, shape, blocks, blocks_first=False)] = values
    return out


def _positions(cells: Cells, shape: list[int], blocks: int, *, blocks_first: bool) -> Ints:
    """Where cells lie in a flat tensor."""
    position = np.zeros(len(cells.block), np.int64)
    for axis, length in enumerate(shape):
        position = position * length + cells.places[:, axis]
    size = int(np.prod(shape, dtype=np.int64))
    return cells.block * size + position if blocks_first else position * blocks + cells.block
