"""Where persons and records lie among the combinations of keys, once channels are known."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.kernels.mode_products import Axis, best_over_records, expected_records, sum_over_records
from sdckit.models.category_channel import CategoryChannel
from sdckit.models.key_pairs import KeyPairs

LEAST_OTHERS = 1e-12  # of U: the chance that somebody else produced a record is never quite 0
POWERS = 3  # of shares in the sums that stand for sums of odds, s/(1 − s) = s + s² + s³ + …
_LOOK_UP = 4_000_000  # entries of a table that is quicker than sorting


class KeyCells(NamedTuple):
    """Places of pairs along the axes of changed keys, and in blocks of keys that were not changed."""

    axes: list[Axis]
    keys: list[int]  # the key of each axis
    true: Ints  # [p, axes]
    shown: Ints  # [p, axes]; of a person without a record all 0
    true_block: Ints  # [p]
    shown_block: Ints  # [p]
    blocks: int

    @property
    def tensor_cells(self) -> int:
        """Cells of the larger of the two tensors."""
        persons = records = self.blocks
        for axis in self.axes:
            persons, records = persons * len(axis.same), records * axis.released
        return max(persons, records)


def key_cells(pairs: KeyPairs, channels: Sequence[CategoryChannel]) -> KeyCells:
    """Lay out the pairs; blocks are combinations of the keys whose channel is exact."""
    in_file = pairs.in_file
    exact = [v for v, channel in enumerate(channels) if channel.exact]
    changed = [v for v, channel in enumerate(channels) if not channel.exact]
    true = np.empty((len(pairs.count), len(changed)), np.int64)
    shown = np.zeros_like(true)
    axes = []
    for place, v in enumerate(changed):
        images = channels[v].images(pairs.x[:, v])
        released = np.where(pairs.y[:, v] < 0, channels[v].size, pairs.y[:, v]).astype(np.int64)
        axis, from_true, from_shown = _axis(channels[v], images, released[in_file])
        axes.append(axis)
        true[:, place], shown[:, place] = from_true[images], from_shown[released]
    shown[~in_file] = 0
    true_block, shown_block, blocks = _blocks(pairs, channels, exact, in_file)
    return KeyCells(axes, changed, true, shown, true_block, shown_block, blocks)


def _axis(channel: CategoryChannel, images: Ints, released: Ints) -> tuple[Axis, Ints, Ints]:
    """The channel between values that occur, and their places along the axis."""
    here = np.flatnonzero(np.bincount(images, minlength=channel.size + 1))
    there = np.flatnonzero(np.bincount(released, minlength=channel.size + 1))
    blank = bool(len(there)) and there[-1] == channel.size
    values = there[:-1] if blank else there
    from_true, from_shown = np.full(channel.size + 1, -1), np.full(channel.size + 1, -1)
    from_true[here], from_shown[there] = np.arange(len(here)), np.arange(len(there))
    same = np.where(here < channel.size, from_shown[here], -1)
    axis = Axis(
        same,
        channel.stay[here],
        channel.suppressed[here],
        channel.spread[here],
        channel.pull[values],
        bool(blank),
    )
    return axis, from_true, from_shown


def _blocks(
    pairs: KeyPairs, channels: Sequence[CategoryChannel], exact: list[int], in_file: Bools
) -> tuple[Ints, Ints, int]:
    """The block of every person and record, and how many blocks there are."""
    true, shown = np.zeros(len(pairs.count), np.int64), np.zeros(len(pairs.count), np.int64)
    blocks = 1
    for v in exact:
        images, size = channels[v].images(pairs.x[:, v]), channels[v].size + 1
        released = np.where(pairs.y[:, v] < 0, channels[v].size, pairs.y[:, v])
        true = true * size + images
        shown = np.where(in_file, shown * size + released, 0)
        alike = bool((true == shown)[in_file].all())
        both = true if alike else np.concatenate([true, shown[in_file]])
        dense, blocks = dense_codes(both, blocks * size)
        true = dense[: len(true)]
        shown = np.where(in_file, true, 0) if alike else _filled(dense[len(true) :], in_file)
    return true, shown, blocks


def _filled(values: Ints, where: Bools) -> Ints:
    out = np.zeros(len(where), np.int64)
    out[where] = values
    return out


def dense_codes(codes: Ints, size: int) -> tuple[Ints, int]:
    """Codes below `size` as 0, 1, … in the same order, without gaps."""
    if size > _LOOK_UP:
        values, place = np.unique(codes, return_inverse=True)
        return place.astype(np.int64), len(values)
    occurs = np.zeros(size, bool)
    occurs[codes] = True
    return (np.cumsum(occurs) - 1)[codes], int(occurs.sum())


def odds_beyond_series(share: Floats) -> Floats:
    """What s/(1 − s) has beyond its first powers; 1 − s is never quite 0, as somebody else may be meant."""
    return np.asarray(share ** (POWERS + 1) / np.maximum(1 - share, LEAST_OTHERS))


class Looks(NamedTuple):
    """What a person sees in the released file: arrays over the pairs."""

    expected: Floats  # [p] records like the own one that all persons together would produce, U
    records: Floats  # [p] records like the own one
    in_file_chance: Floats  # [p] Σ over records of their shares, where persons were left out
    sums: Floats  # [s, p] Σ over records of payload · (share + its next powers), nearly payload · odds
    best_share: Floats  # [p]
    share_payload: Floats  # [K, p] payload of the records with the best share
    best_likelihood: Floats  # [p]
    likelihood_payload: Floats  # [K, p]


def look_by_tensor(pairs: KeyPairs, cells: KeyCells, payload: Floats, summed: int) -> Looks:
    """Look at all records by mode products; payload [K, p], of which the first `summed` are summed up."""
    in_file, blocks = pairs.in_file, cells.blocks
    true_shape, shown_shape = [len(a.same) for a in cells.axes], [a.released for a in cells.axes]
    true, shown = _flat(cells.true, true_shape), _flat(cells.shown, shown_shape)
    persons = int(np.prod(true_shape, dtype=np.int64))
    records = int(np.prod(shown_shape, dtype=np.int64))
    start = np.bincount(true * blocks + cells.true_block, pairs.count, persons * blocks)
    expected = expected_records(start.astype(np.float64), cells.axes)
    own = cells.shown_block * records + shown
    there = shown * blocks + cells.shown_block
    number = np.bincount(there[in_file], pairs.count[in_file], records * blocks)
    carried = np.stack([np.bincount(there[in_file], row[in_file], records * blocks) for row in payload])
    flat = expected.reshape(blocks, records).T.reshape(-1)
    share = np.divide(1.0, flat, out=np.zeros_like(flat), where=(number > 0) & (flat > 0))
    at = cells.true_block * persons + true
    sums = np.zeros((summed, len(at)))
    for exponent in range(1, POWERS + 1):
        axes = [axis.power(exponent) for axis in cells.axes]
        for kind, row in enumerate(carried[:summed]):
            sums[kind] += sum_over_records(row * share**exponent, axes)[at]
    in_file_chance = np.ones(len(at))
    if not pairs.complete:
        in_file_chance = np.minimum(sum_over_records(number * share, cells.axes)[at], 1.0)
    best, with_best = best_over_records(share, carried, cells.axes)
    best, with_best = best[at], with_best[:, at]
    likely, with_likely = best_over_records((number > 0).astype(np.float64), carried, cells.axes)
    return Looks(
        expected[own], number[there], in_file_chance, sums, best, with_best, likely[at], with_likely[:, at]
    )


def _flat(places: Ints, shape: list[int]) -> Ints:
    """Position in a tensor of this shape."""
    position = np.zeros(len(places), np.int64)
    for axis, length in enumerate(shape):
        position = position * length + places[:, axis]
    return position
