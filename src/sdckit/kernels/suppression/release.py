"""Decisions on cells carried to records, and back."""

from typing import NamedTuple

import numpy as np

from sdckit._support.arrays import Codes, Ints
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


def draw_records(release: Release, cell_of_record: Ints, rng: np.random.Generator) -> Ints:
    """The keys to suppress (bits) in each record, drawn at random among the records of a cell.

    Were the first records of the file taken, its order would tell which of a pattern are rare ones.
    """
    order = np.argsort(release.cell, kind="stable")
    cell, blank, records = release.cell[order], release.blank[order], release.records[order]
    parts = np.bincount(cell, minlength=cell_of_record.max(initial=-1) + 1)
    of_cell = np.zeros(len(parts), np.int64)
    of_cell[cell] = blank
    found = of_cell[cell_of_record]
    split = np.flatnonzero(parts[cell_of_record] > 1)
    drawn = split[np.lexsort((rng.random(len(split)), cell_of_record[split]))]
    several = parts[cell] > 1
    found[drawn] = np.repeat(blank[several], records[several])
    return found


def count_release(cell_of_record: Ints, blank: Ints) -> Release:
    """The release that suppresses the keys in `blank` (bits) of each record."""
    whole = np.bincount(cell_of_record[blank == 0])
    shown = np.flatnonzero(whole)
    touched = blank != 0  # few as a rule, and sorting takes longest
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
