"""Counts of matching records when a missing key matches any value."""

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import jit
from sdckit.kernels.hashing import bit_layout, pack, pack_words

# Odd, near 2⁶⁴/φ: multiplying by it spreads neighbouring codes over the table (Knuth, TAOCP 3, 6.4)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def wildcard_counts(
    codes: npt.NDArray[np.int32],
    records: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    alpha: float = 1.0,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
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


def wildcard_sums(codes: npt.NDArray[np.int32], values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """For every cell the column sums of values [c, v] over the cells it matches, itself included.

    Many columns for the price of one search: O(patterns · cells · v).
    """
    layout = bit_layout(codes)
    present = codes >= 0
    _, first, pattern = np.unique(pack(np.where(present, 0, -1)), return_index=True, return_inverse=True)
    order = np.argsort(pattern, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(pattern, minlength=len(first)))]).astype(np.int64)
    packed = np.take(pack_words(codes, layout), order, axis=1)
    sums = np.empty_like(values)
    sums[order] = _totals(packed, layout.mask(present[first]), starts, values[order])
    return sums


@jit
def _totals(
    packed: npt.NDArray[np.int64],
    masks: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """For every cell the sums of values [c, v] over the cells it matches.

    packed [words, c] is sorted by missing pattern: pattern p holds columns starts[p]:starts[p + 1], and masks
    [patterns, words] has the bits of the keys present in it. Each unordered pair of patterns is visited once:
    the smaller side goes into a hash table, which then mostly fits the cache, and the larger streams by.
    """
    totals = np.zeros_like(values)
    for p in range(len(starts) - 1):
        for q in range(p, len(starts) - 1):
            small, large = p, q
            if starts[p + 1] - starts[p] > starts[q + 1] - starts[q]:
                small, large = q, p
            s0, s1, l0, l1 = starts[small], starts[small + 1], starts[large], starts[large + 1]
            if p == q:  # all is said once the cells are grouped among themselves
                l1 = l0
            in_small, in_large = _same_group(packed[:, s0:s1], packed[:, l0:l1], masks[p] & masks[q])
            here = np.zeros((s1 - s0, values.shape[1]))
            _gather(in_small, values[s0:s1], here)
            if p == q:
                _spread(in_small, here, totals[s0:s1])
            else:
                there = np.zeros((s1 - s0, values.shape[1]))
                _gather(in_large, values[l0:l1], there)
                _spread(in_large, here, totals[l0:l1])
                _spread(in_small, there, totals[s0:s1])
    return totals


@jit
def _gather(
    group: npt.NDArray[np.int64], values: npt.NDArray[np.float64], sums: npt.NDArray[np.float64]
) -> None:
    """Add each row of values to the sums of its group (-1 = none)."""
    for i in range(len(group)):
        if group[i] >= 0:
            for v in range(values.shape[1]):
                sums[group[i], v] += values[i, v]


@jit
def _spread(
    group: npt.NDArray[np.int64], sums: npt.NDArray[np.float64], totals: npt.NDArray[np.float64]
) -> None:
    """Add the sums of its group to each row of totals (-1 = none)."""
    for i in range(len(group)):
        if group[i] >= 0:
            for v in range(sums.shape[1]):
                totals[i, v] += sums[group[i], v]


@jit
def _same_group(
    small: npt.NDArray[np.int64], large: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Group the columns of small [words, s] by their masked value and find those of large in it.

    Returns a group number below s for every column of small and of large, -1 where small has no such value.
    Further words refine the groups of the first: pairs of group numbers fit in one integer again.
    """
    in_small, in_large = _first_position(small[0] & mask[0], large[0] & mask[0])
    for w in range(1, len(mask)):
        next_small, next_large = _first_position(small[w] & mask[w], large[w] & mask[w])
        both_small = in_small * len(in_small) + next_small
        both_large = np.where((in_large < 0) | (next_large < 0), -1, in_large * len(in_small) + next_large)
        in_small, in_large = _first_position(both_small, both_large)
    return in_small, in_large


@jit
def _first_position(
    small: npt.NDArray[np.int64], large: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where each value of small (≥ 0) and of large first occurs in small; -1 if it does not."""
    bits = 2
    while 1 << bits < 4 * len(small):  # sparse, because a second probe costs more than a bigger table
        bits += 1
    table = np.full(1 << bits, -1, np.int32)
    shift = np.uint64(64 - bits)
    in_small = np.empty(len(small), np.int64)
    for i in range(len(small)):
        slot = _slot(table, shift, small, small[i])
        if table[slot] < 0:
            table[slot] = i
        in_small[i] = table[slot]
    in_large = np.empty(len(large), np.int64)
    for i in range(len(large)):
        in_large[i] = table[_slot(table, shift, small, large[i])]
    return in_small, in_large


@jit
def _slot(
    table: npt.NDArray[np.int32], shift: np.uint64, stored: npt.NDArray[np.int64], value: np.int64
) -> np.uint64:
    """The slot of the table that points at value in stored, or the free one where it would go."""
    # two rounds, because masked values often differ in a few bits only; the top bits depend on all others
    mixed = np.uint64(value) * _SPREAD
    slot = ((mixed ^ (mixed >> np.uint64(32))) * _SPREAD) >> shift
    last = np.uint64(len(table) - 1)
    while table[slot] >= 0 and stored[table[slot]] != value:
        slot = (slot + np.uint64(1)) & last
    return slot
