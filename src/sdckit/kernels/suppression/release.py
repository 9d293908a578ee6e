"""Decisions on cells carried to records, and back."""

from typing import NamedTuple

import numpy as np

from sdckit._support.arrays import Codes, Floats, Ints
from sdckit.kernels.suppression.counts import group_rows


class Release(NamedTuple):
    """What is released: `records` records of `cell` with the keys in `blank` (bits) suppressed."""

    cell: Ints
    blank: Ints
    records: Ints

    def codes(self, codes: Codes) -> Codes:
        """The released rows of cells with these codes."""
        bits = np.arange(codes.shape[1], dtype=np.int64)
        return np.where(self.blank[:, None] >> bits & 1, np.int32(-1), codes[self.cell])

    def suppressed(self, keys: int) -> Ints:
        """How many values of each of the first keys are suppressed."""
        blank = self.blank[:, None] >> np.arange(keys, dtype=np.int64) & 1
        return np.asarray((blank * self.records[:, None]).sum(axis=0))

    def shown(self, codes: Codes) -> Ints:
        """How many values of each key are shown, of cells with these codes."""
        return np.asarray(((self.codes(codes) >= 0) * self.records[:, None]).sum(axis=0))


def in_drawing_order(release: Release) -> Release:
    """The same release with one row for each cell and set of keys, and the cell's largest part last.

    Records of a cell are taken for the other parts first, so that few must be drawn: the rest get the last.
    """
    order = np.lexsort((release.blank, release.cell))
    cell, blank, records = release.cell[order], release.blank[order], release.records[order]
    first = np.flatnonzero(np.append(True, (np.diff(cell) != 0) | (np.diff(blank) != 0))[: len(cell)])
    cell, blank = cell[first], blank[first]
    records = np.add.reduceat(records, first) if len(first) else records
    order = np.lexsort((blank, records, cell))
    return Release(cell[order], blank[order], records[order].astype(np.int64))


def split_records(release: Release, cell_of_record: Ints) -> Ints:
    """The records of cells that are released in several ways: only these must be drawn."""
    parts = np.bincount(in_drawing_order(release).cell, minlength=cell_of_record.max(initial=-1) + 1)
    return np.flatnonzero((parts > 1)[cell_of_record])


def draw_records(release: Release, cell_of_record: Ints, split: Ints, uniform: Floats, number: Ints) -> Ints:
    """The keys to suppress (bits) in each record, drawn at random among the records of a cell.

    Were the first records of the file taken, its order would tell which of a pattern are rare ones. Records
    are taken in the order of the `uniform` numbers, and where these are equal of their own; both are those
    of the records in `split`, as `split_records` finds them.
    """
    cell, blank, records = in_drawing_order(release)
    parts = np.bincount(cell, minlength=cell_of_record.max(initial=-1) + 1)
    of_cell = np.zeros(len(parts), np.int64)
    of_cell[cell] = blank
    found = of_cell[cell_of_record]
    drawn = split[np.lexsort((number, uniform, cell_of_record[split]))]
    several = parts[cell] > 1
    found[drawn] = np.repeat(blank[several], records[several])
    return found


def count_release(cell_of_record: Ints, blank: Ints) -> Release:
    """The release that suppresses the keys in `blank` (bits) of each record."""
    touched = np.flatnonzero(blank)  # few as a rule, and sorting takes longest
    whole = np.bincount(cell_of_record)
    whole -= np.bincount(cell_of_record[touched], minlength=len(whole))
    shown = np.flatnonzero(whole)
    sets, which = np.unique(blank[touched], return_inverse=True)
    pairs, records = np.unique(cell_of_record[touched] * len(sets) + which, return_counts=True)
    return Release(
        np.concatenate([shown, pairs // max(len(sets), 1)]),
        np.concatenate([np.zeros(len(shown), np.int64), sets[pairs % max(len(sets), 1)]]),
        np.concatenate([whole[shown], records]).astype(np.int64),
    )


def distinct_rows(codes: Codes) -> tuple[Ints, Ints, Ints]:
    """First row, number of records and, for each record, the number of its distinct row of codes [n, q]."""
    group = group_rows(codes)
    first = np.zeros(group.max(initial=-1) + 1, np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    return first, np.bincount(group, minlength=len(first)).astype(np.int64), group
