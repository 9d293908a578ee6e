"""Where persons and records lie among the combinations of keys, once channels are known."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.kernels.equal_key_subsets import Cells
from sdckit.kernels.mode_products import Axis
from sdckit.models.category_channel import CategoryChannel
from sdckit.models.key_pairs import KeyPairs

_LOOK_UP = 4_000_000  # entries of a table that is quicker than sorting
_WORD = 2**62


class KeyCells(NamedTuple):
    """Distinct cells of persons and records: places along the axes of keys that were changed, and blocks.

    A block is a combination of the keys whose channel is exact; persons produce records of their block only.
    """

    axes: list[Axis]
    keys: list[int]  # the key of each axis
    persons: Cells
    records: Cells
    person: Ints  # [p] cell of each pair's person
    record: Ints  # [p] cell of each pair's record; 0 where there is none
    blocks: int

    @property
    def tensor_cells(self) -> int:
        """Cells of the larger of the two tensors."""
        persons = records = self.blocks
        for axis in self.axes:
            persons, records = persons * len(axis.same), records * axis.released
        return max(persons, records)

    def per_person_cell(self, values: Floats) -> Floats:
        """Sums of values [p] by person cell."""
        return np.bincount(self.person, values, len(self.persons.block)).astype(np.float64)

    def per_record_cell(self, values: Floats, in_file: Bools) -> Floats:
        """Sums of values [p] by record cell."""
        totals = np.bincount(self.record[in_file], values[in_file], len(self.records.block))
        return totals.astype(np.float64)


def key_cells(pairs: KeyPairs, channels: Sequence[CategoryChannel]) -> KeyCells:
    """Lay out the pairs."""
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
    true_block, shown_block, blocks = _blocks(pairs, channels, exact, in_file)
    person, persons = _distinct(true, true_block, [len(axis.same) for axis in axes], blocks)
    kept, records = _distinct(shown[in_file], shown_block[in_file], [axis.released for axis in axes], blocks)
    return KeyCells(axes, changed, persons, records, person, _filled(kept, in_file), blocks)


def _axis(channel: CategoryChannel, images: Ints, released: Ints) -> tuple[Axis, Ints, Ints]:
    """The channel between values that occur, and their places along the axis."""
    here = np.flatnonzero(np.bincount(images, minlength=channel.size + 1))
    there = np.flatnonzero(np.bincount(released, minlength=channel.size + 1))
    blank = bool(len(there)) and bool(there[-1] == channel.size)
    values = there[:-1] if blank else there
    from_true, from_shown = np.full(channel.size + 1, -1), np.full(channel.size + 1, -1)
    from_true[here], from_shown[there] = np.arange(len(here)), np.arange(len(there))
    same = np.where(here < channel.size, from_shown[here], -1)
    chances = (channel.stay[here], channel.suppressed[here], channel.spread[here], channel.pull[values])
    return Axis(same, *chances, blank), from_true, from_shown


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
        dense, blocks = _dense_codes(both, blocks * size)
        true = dense[: len(true)]
        shown = np.where(in_file, true, 0) if alike else _filled(dense[len(true) :], in_file)
    return true, shown, blocks


def _filled(values: Ints, where: Bools) -> Ints:
    out = np.zeros(len(where), np.int64)
    out[where] = values
    return out


def _dense_codes(codes: Ints, size: int) -> tuple[Ints, int]:
    """Codes below `size` as 0, 1, … in the same order, without gaps."""
    if size > _LOOK_UP:
        values, place = np.unique(codes, return_inverse=True)
        return place.astype(np.int64), len(values)
    occurs = np.zeros(size, bool)
    occurs[codes] = True
    return (np.cumsum(occurs) - 1)[codes], int(occurs.sum())


def _distinct(places: Ints, block: Ints, shape: list[int], blocks: int) -> tuple[Ints, Cells]:
    """The number of each row's cell, and the cells."""
    codes, size = block, blocks
    for column, length in zip(places.T, shape, strict=True):
        if size * length >= _WORD:
            codes, size = _dense_codes(codes, size)
        codes, size = codes * length + column, size * length
    codes, size = _dense_codes(codes, size)
    first = np.empty(size, np.int64)
    first[codes] = np.arange(len(codes))
    return codes, Cells(places[first], block[first])
