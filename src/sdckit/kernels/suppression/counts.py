"""Wildcard match counts on projected keys, by 64-bit fingerprints of the compared columns.

Fingerprints of different keys coincide with a chance of about rows² / 2⁶⁴ (below 1e-7 for a million rows);
the caller counts its final result again, exactly.
"""

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import jit

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_A = np.uint64(0x9E3779B97F4A7C15)
_B = np.uint64(0xBF58476D1CE4E5B9)
_C = np.uint64(0x94D049BB133111EB)


@jit
def mix(x: np.uint64) -> np.uint64:
    """Scramble 64 bits (splitmix64)."""
    x = x + _A
    x = (x ^ (x >> np.uint64(30))) * _B
    x = (x ^ (x >> np.uint64(27))) * _C
    return np.uint64(x ^ (x >> np.uint64(31)))


@jit
def cell_words(codes: Codes, salt: int) -> Words:
    """One random-looking word per cell; the sum over some columns is the fingerprint of those columns."""
    n, q = codes.shape
    words = np.zeros((n, q), np.uint64)
    for j in range(q):
        start = mix(np.uint64(salt * 1000 + j))
        for r in range(n):
            if codes[r, j] >= 0:
                words[r, j] = mix(start + np.uint64(codes[r, j]))
    return words


@jit
def missing_masks(codes: Codes) -> Ints:
    """Bit j of a row's mask is set where column j is missing."""
    n, q = codes.shape
    masks = np.zeros(n, np.int64)
    for r in range(n):
        for j in range(q):
            if codes[r, j] < 0:
                masks[r] |= 1 << j
    return masks


@jit
def fingerprint(words: Words, keep: int) -> np.uint64:
    """Fingerprint of one row of cell words over the columns whose bits are set in `keep`."""
    total = np.uint64(0)
    for j in range(words.shape[0]):
        if (keep >> j) & 1:
            total += words[j]
    return total


@jit
def fingerprints(words: Words, keep: int) -> Words:
    """Fingerprint of every row."""
    prints = np.empty(len(words), np.uint64)
    for r in range(len(words)):
        prints[r] = fingerprint(words[r], keep)
    return prints


@jit
def distinct_rows(codes: Codes) -> tuple[Ints, Ints]:
    """First row and group number: (first[g], group[r]); rows are compared exactly."""
    n, q = codes.shape
    size = 1
    while size < 2 * n:
        size *= 2
    table = np.full(size, -1, np.int64)
    group = np.empty(n, np.int64)
    first = np.empty(n, np.int64)
    groups = 0
    for r in range(n):
        h = np.uint64(q)
        for j in range(q):
            h = mix(h + np.uint64(codes[r, j] + 1))
        slot = np.int64(h & np.uint64(size - 1))
        while True:
            g = table[slot]
            if g < 0:
                table[slot] = groups
                first[groups] = r
                group[r] = groups
                groups += 1
                break
            same = True
            for j in range(q):
                if codes[first[g], j] != codes[r, j]:
                    same = False
                    break
            if same:
                group[r] = g
                break
            slot = (slot + 1) & (size - 1)
    return first[:groups].copy(), group


def count_matches(
    query_words: Words, query_masks: Ints, words: Words, masks: Ints, weights: Ints, columns: int
) -> Ints:
    """Weight of the rows that match each query row on `columns`; a missing cell on either side matches.

    query_masks (and masks) hold the missing columns, and may name more columns than are missing in the words:
    those count as missing too. Keep equal masks together: each pair of runs costs one hash look-up per row.
    """
    found = np.zeros(len(query_masks), np.int64)
    if len(query_masks) and len(masks):
        _count(
            query_words, query_masks, _runs(query_masks), words, masks, _runs(masks), weights, columns, found
        )
    return found


def _runs(masks: Ints) -> Ints:
    inner = np.flatnonzero(np.diff(masks)) + 1
    return np.concatenate(([0], inner, [len(masks)]))


@jit
def _count(
    query_words: Words,
    query_masks: Ints,
    query_runs: Ints,
    words: Words,
    masks: Ints,
    runs: Ints,
    weights: Ints,
    columns: int,
    found: Ints,
) -> None:
    size = 1
    while size < 2 * len(query_masks):
        size *= 2
    keys = np.zeros(size, np.uint64)
    stamp = np.zeros(size, np.int64)
    sums = np.zeros(size, np.int64)
    slot_of = np.zeros(len(query_masks), np.int64)
    turn = 0
    for a in range(len(query_runs) - 1):
        for b in range(len(runs) - 1):
            keep = columns & ~(query_masks[query_runs[a]] | masks[runs[b]])
            turn += 1
            for r in range(query_runs[a], query_runs[a + 1]):
                slot_of[r] = _place(keys, stamp, sums, turn, fingerprint(query_words[r], keep))
            for r in range(runs[b], runs[b + 1]):
                slot = _find(keys, stamp, turn, fingerprint(words[r], keep))
                if slot >= 0:
                    sums[slot] += weights[r]
            for r in range(query_runs[a], query_runs[a + 1]):
                found[r] += sums[slot_of[r]]


@jit
def _place(keys: Words, stamp: Ints, sums: Ints, turn: int, key: np.uint64) -> np.int64:
    slot = np.int64(key & np.uint64(len(keys) - 1))
    while stamp[slot] == turn:
        if keys[slot] == key:
            return slot
        slot = (slot + 1) & (len(keys) - 1)
    stamp[slot] = turn
    keys[slot] = key
    sums[slot] = 0
    return slot


@jit
def _find(keys: Words, stamp: Ints, turn: int, key: np.uint64) -> np.int64:
    slot = np.int64(key & np.uint64(len(keys) - 1))
    while stamp[slot] == turn:
        if keys[slot] == key:
            return slot
        slot = (slot + 1) & (len(keys) - 1)
    return np.int64(-1)
