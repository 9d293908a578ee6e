"""Pairs of violating records that few columns keep apart: what suppressing in one can do for the other."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from sdckit.kernels._jit import jit
from sdckit.kernels.suppression.counts import Codes, Ints, Words, fingerprints
from sdckit.kernels.suppression.options import Demand, Keys

MAX_COLUMNS_APART = 2
MAX_PAIRS = 4_000_000
COMMON_PATTERNS = 4
NO_LIMIT = 1 << 62


class Neighbours(NamedTuple):
    """Neighbours of row r: other[start[r]:start[r + 1]], with the columns on which the two differ."""

    start: Ints
    other: Ints
    apart: Ints


def find_neighbours(rows: Keys, demand: Demand) -> Neighbours:
    """Pairs differing in one or two touchable columns of some subset.

    Pairs left out only make later counts too low, never too high. In a large class of records alike but for
    those columns, all are paired with some of them, the hubs: suppressing in the hubs serves the class. Pairs
    two columns apart are dropped when there would be more than MAX_PAIRS.
    """
    touchable = [j for j in range(len(demand.cost)) if np.isfinite(demand.cost[j])]
    found: list[tuple[Ints, Ints]] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for size in range(1, MAX_COLUMNS_APART + 1):
        sets = [sum(1 << j for j in columns) for columns in combinations(touchable, size)]
        for hubs in (1024, 256, 64, 16, int(2 * demand.k.max())):
            sized = _pairs_up_to(rows, demand.subsets, sets, hubs, MAX_PAIRS)
            if sized is not None:
                break
        if sized is None and size == 1:
            sized = _pairs_up_to(rows, demand.subsets, sets, hubs, NO_LIMIT)
        found += sized or []
    left = np.concatenate([left for left, _ in found])
    right = np.concatenate([right for _, right in found])
    return Neighbours(*_both_ways(rows.codes, left, right))


def _pairs_up_to(
    rows: Keys, subsets: Ints, sets: list[int], hubs: int, most: int
) -> list[tuple[Ints, Ints]] | None:
    """Pairs differing in exactly one of `sets`, or None when there are more than `most`."""
    found: list[tuple[Ints, Ints]] = []
    total = 0
    for apart in sets:
        pairs = _pairs_apart_in(rows, subsets, apart, hubs)
        total += sum(len(left) for left, _ in pairs)
        if total > most:
            return None
        found += pairs
    return found


def _pairs_apart_in(rows: Keys, subsets: Ints, apart: int, hubs: int) -> list[tuple[Ints, Ints]]:
    """Pairs that differ in exactly the columns `apart` of some subset, each pair once."""
    found = []
    masks, sizes = np.unique(rows.masks, return_counts=True)
    patterns = [int(p) for p in masks[np.argsort(-sizes, kind="stable")] if p & apart == 0]
    for s, subset in enumerate(subsets.tolist()):
        if apart & ~subset:
            continue
        # many missing patterns: pair each with itself and with the commonest ones
        pairs = [(a, b) for b in patterns for a in dict.fromkeys((*patterns[:COMMON_PATTERNS], b))]
        for a, b in {(min(pair), max(pair)): None for pair in pairs}:
            both = np.flatnonzero((rows.masks == a) | (rows.masks == b))
            prints = fingerprints(rows.words[both], subset & ~(a | b | apart))
            order = np.argsort(prints, kind="stable")
            ends = np.flatnonzero(np.diff(prints[order])) + 1
            runs = np.diff(np.concatenate(([0], ends, [len(both)])))
            most = int((runs * np.minimum(runs, hubs)).sum())
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
                    hubs,
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
    hubs: int,
    most: int,
) -> tuple[Ints, Ints]:
    """Pairs within runs of equal fingerprints, one record of each missing pattern; at most `most` of them."""
    left = np.empty(most, np.int64)
    right = np.empty(most, np.int64)
    found = 0
    start = 0
    for i in range(len(rows)):
        if prints[i] != prints[start]:
            start = i
        if i - start >= hubs:
            continue
        for j in range(i + 1, len(rows)):
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
