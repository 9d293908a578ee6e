"""Pairs of violating records that few columns keep apart: what suppressing in one can do for the other."""

from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

import numpy as np

from sdckit.kernels._jit import jit
from sdckit.kernels.suppression_counts import Codes, Ints, Words, fingerprints
from sdckit.kernels.suppression_options import Demand, Keys

MAX_COLUMNS_APART = 2
MAX_PAIRS = 4_000_000


class Neighbours(NamedTuple):
    """Neighbours of row r: other[start[r]:start[r + 1]], with the columns on which the two differ."""

    start: Ints
    other: Ints
    apart: Ints


def find_neighbours(rows: Keys, demand: Demand) -> Neighbours:
    """Pairs differing in one or two touchable columns of some subset.

    Pairs left out (differing in more columns, or far apart in a huge class) only make later counts too low,
    never too high. Pairs two columns apart are dropped when there would be more than MAX_PAIRS.
    """
    n = len(rows.masks)
    touchable = [j for j in range(len(demand.cost)) if np.isfinite(demand.cost[j])]
    window = int(np.clip(MAX_PAIRS // max(1, n * len(touchable)), 2 * demand.k.max(), 1024))
    found: list[tuple[Ints, Ints]] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for size in range(1, MAX_COLUMNS_APART + 1):
        sized: list[tuple[Ints, Ints]] = []
        for columns in combinations(touchable, size):
            sized += _pairs_apart_in(rows, demand.subsets, sum(1 << j for j in columns), window)
            if size > 1 and sum(len(left) for left, _ in found + sized) > MAX_PAIRS:
                sized = []
                break
        found += sized
    left = np.concatenate([left for left, _ in found])
    right = np.concatenate([right for _, right in found])
    return Neighbours(*_both_ways(rows.codes, left, right))


def _pairs_apart_in(rows: Keys, subsets: Ints, apart: int, window: int) -> list[tuple[Ints, Ints]]:
    """Pairs that differ in exactly the columns `apart` of some subset, each pair once."""
    found = []
    patterns = [int(p) for p in np.unique(rows.masks) if p & apart == 0]
    for s, subset in enumerate(subsets.tolist()):
        if apart & ~subset:
            continue
        for a, b in combinations_with_replacement(patterns, 2):
            both = np.flatnonzero((rows.masks == a) | (rows.masks == b))
            prints = fingerprints(rows.words[both], subset & ~(a | b | apart))
            order = np.argsort(prints, kind="stable")
            ends = np.flatnonzero(np.diff(prints[order])) + 1
            sizes = np.diff(np.concatenate(([0], ends, [len(both)])))
            most = int((sizes * np.minimum(sizes, window)).sum())
            found.append(
                _pairs(
                    rows.codes,
                    rows.masks,
                    both[order],
                    prints[order],
                    (a, b),
                    subsets,
                    s,
                    apart,
                    window,
                    most,
                )
            )
    return found


@jit
def apart_mask(codes: Codes, a: int, b: int) -> int:
    """Columns in which both records have a value and the values differ."""
    mask = 0
    for j in range(codes.shape[1]):
        if codes[a, j] != codes[b, j] and codes[a, j] >= 0 and codes[b, j] >= 0:
            mask |= 1 << j
    return mask


@jit
def _pairs(
    codes: Codes,
    masks: Ints,
    rows: Ints,
    prints: Words,
    patterns: tuple[int, int],
    subsets: Ints,
    s: int,
    apart: int,
    window: int,
    most: int,
) -> tuple[Ints, Ints]:
    """Pairs within runs of equal fingerprints, one record of each missing pattern; at most `most` of them."""
    left = np.empty(most, np.int64)
    right = np.empty(most, np.int64)
    found = 0
    for i in range(len(rows)):
        for j in range(i + 1, min(i + 1 + window, len(rows))):
            if prints[i] != prints[j]:
                break
            u, v = rows[i], rows[j]
            if patterns[0] != patterns[1] and masks[u] == masks[v]:
                continue
            mask = apart_mask(codes, u, v)
            if mask & subsets[s] == apart and not _seen_before(mask, subsets, s, apart):
                left[found], right[found] = u, v
                found += 1
    return left[:found].copy(), right[:found].copy()


@jit
def _bits(mask: int) -> int:
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@jit
def _seen_before(apart: int, subsets: Ints, s: int, chosen: int) -> bool:
    """The pair was already found through an earlier subset, or (for larger sets) with fewer columns."""
    size = _bits(chosen)
    for t in range(len(subsets)):
        other = _bits(apart & subsets[t])
        if 0 < other < size or (t < s and other == size):
            return True
    return False


@jit
def _both_ways(codes: Codes, left: Ints, right: Ints) -> tuple[Ints, Ints, Ints]:
    n = len(codes)
    start = np.zeros(n + 1, np.int64)
    for p in range(len(left)):
        start[left[p] + 1] += 1
        start[right[p] + 1] += 1
    for r in range(n):
        start[r + 1] += start[r]
    at = start.copy()
    other = np.empty(2 * len(left), np.int64)
    apart = np.empty(2 * len(left), np.int64)
    for p in range(len(left)):
        mask = apart_mask(codes, left[p], right[p])
        for u, v in ((left[p], right[p]), (right[p], left[p])):
            other[at[u]] = v
            apart[at[u]] = mask
            at[u] += 1
    return start, other, apart
