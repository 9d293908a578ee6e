"""Counts of matching records when a missing key matches any value."""

import numpy as np

from sdckit._support.arrays import Codes, Floats, Ints
from sdckit.kernels._jit import jit
from sdckit.kernels.hash_table import SPREAD, table_size
from sdckit.kernels.hashing import bit_layout, one_number, pack, pack_words

SORTED = 200_000  # cells times patterns of missing keys up to which sorting takes some 20 ms at most
PATTERNS = 32  # the same, for patterns


def wildcard_counts(
    codes: Codes, records: Floats, weights: Floats, alpha: float = 1.0
) -> tuple[Floats, Floats]:
    """Sample and population frequency, as seen by one record of each cell, with missing keys as wildcards.

    A cell is a key combination, codes [c, q] with -1 for missing, with its number of records (> 0) and the
    sum of their weights. Cells match when they agree on every key where neither is missing, so a cell missing
    in all keys matches everything. With a_j = alpha for incomplete cells and 1 for complete ones,

        sample[i] = Σ_j a_j · records[j] · [i matches j]  +  (1 - alpha) · records[i] · [i is incomplete]

    and the same for the population with weights: alpha lowers what incomplete records add to other key
    combinations, never what they add to their own. Cells must be distinct (only alpha = 1 allows repeats).

    Matches are counted once per pair of missing patterns, on the keys present in both: O(patterns · cells).

    Departure from sdcMicro: it leaves records missing in all keys out of the counts of complete ones.
    """
    incomplete = (codes < 0).any(axis=1)
    factor = np.where(incomplete, alpha, 1.0)
    sums = wildcard_sums(codes, np.column_stack([factor * records, factor * weights]))
    own = (1.0 - alpha) * incomplete
    return sums[:, 0] + own * records, sums[:, 1] + own * weights


def wildcard_sums(codes: Codes, values: Floats) -> Floats:
    """For every cell the column sums of values [c, v] over the cells it matches, itself included.

    Many columns for the price of one search: O(patterns · cells · v).
    """
    layout = bit_layout(codes)
    present = codes >= 0
    _, first, pattern = np.unique(pack(np.where(present, 0, -1)), return_index=True, return_inverse=True)
    order = np.argsort(pattern, kind="stable")
    sizes = np.bincount(pattern, minlength=len(first))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    packed = np.take(pack_words(codes, layout), order, axis=1)
    few = len(first) <= PATTERNS and len(first) * len(codes) <= SORTED
    work = _totals_by_sorting if few else _totals_by_hashing
    sums = np.empty_like(values)
    sums[order] = work(packed, layout.mask(present[first]), starts, values[order])
    return sums


def _totals_by_sorting(packed: Ints, masks: Ints, starts: Ints, values: Floats) -> Floats:
    """As `_add_totals`, to the last digit, without compiling anything."""
    totals = np.zeros_like(values)
    for p in range(len(masks)):
        for q in range(p, len(masks)):
            small, large = (p, q) if starts[p + 1] - starts[p] <= starts[q + 1] - starts[q] else (q, p)
            sides = [slice(starts[side], starts[side + 1]) for side in dict.fromkeys((small, large))]
            masked = np.hstack([packed[:, side] for side in sides]) & (masks[p] & masks[q])[:, None]
            numbers, of_cell = np.unique(one_number(masked), return_inverse=True)
            groups = np.split(of_cell.ravel(), [sides[0].stop - sides[0].start])
            sums = [
                np.column_stack([np.bincount(group, column, len(numbers)) for column in values[side].T])
                for group, side in zip(groups, sides, strict=False)
            ]
            for group, side, others in zip(groups, sides, sums[::-1], strict=False):
                totals[side] += others[group]
    return totals


def _totals_by_hashing(packed: Ints, masks: Ints, starts: Ints, values: Floats) -> Floats:
    totals, here, there = np.zeros_like(values), np.empty_like(values), np.empty_like(values)
    # sparse, because a second probe costs more than a bigger table
    table = np.empty(2 * table_size(packed.shape[1]), dtype=np.int32)
    group, mask = np.empty(packed.shape[1], dtype=np.int64), np.empty_like(masks[0])
    _add_totals(packed, masks, starts, values, totals, here, there, table, group, mask)
    return totals


@jit
def _add_totals(
    packed: Ints,
    masks: Ints,
    starts: Ints,
    values: Floats,
    totals: Floats,
    here: Floats,
    there: Floats,
    table: Codes,
    group: Ints,
    mask: Ints,
) -> None:
    """Add to the totals of every cell the values [c, v] of the cells it matches; what follows is scratch.

    packed [words, c] is sorted by missing pattern: pattern p holds columns starts[p]:starts[p + 1], and masks
    [patterns, words] has the bits of the keys present in it. Each unordered pair of patterns is visited once:
    the smaller side goes into a hash table, which then mostly fits the cache, and the larger streams by.
    """
    patterns, columns = masks.shape[0], values.shape[1]
    for p in range(patterns):
        for q in range(p, patterns):
            small, large = p, q
            if starts[p + 1] - starts[p] > starts[q + 1] - starts[q]:
                small, large = q, p
            size = starts[small + 1] - starts[small]
            rows = size if p == q else size + starts[large + 1] - starts[large]
            for w in range(mask.shape[0]):
                mask[w] = masks[p, w] & masks[q, w]
            last = np.uint64(3)
            while last < 4 * size - 1:
                last = last * np.uint64(2) + np.uint64(1)
            for free in range(last + np.uint64(1)):
                table[free] = -1
            for row in range(rows):
                i = starts[small] + row if row < size else starts[large] + row - size
                # as `find_slot`, which would not be inlined: half the time
                mixed = np.uint64(0)
                for w in range(mask.shape[0]):
                    mixed = (mixed ^ np.uint64(packed[w, i] & mask[w])) * SPREAD
                    mixed ^= mixed >> np.uint64(32)
                slot = ((mixed * SPREAD) >> np.uint64(32)) & last
                while table[slot] >= 0:
                    same = True
                    for w in range(mask.shape[0]):
                        same &= (packed[w, table[slot]] ^ packed[w, i]) & mask[w] == 0
                    if same:
                        break
                    slot = (slot + np.uint64(1)) & last
                found = table[slot]
                if row < size:
                    if found < 0:
                        table[slot] = found = i
                        for v in range(columns):
                            here[i, v] = there[i, v] = 0.0
                    group[i] = found
                    for v in range(columns):
                        here[found, v] += values[i, v]
                elif found >= 0:
                    for v in range(columns):
                        there[found, v] += values[i, v]
                        totals[i, v] += here[found, v]
            for i in range(starts[small], starts[small + 1]):
                for v in range(columns):
                    totals[i, v] += here[group[i], v] if p == q else there[group[i], v]
