"""Suppression under the rule that a blank matches any value, as sdcMicro counts: for comparison only.

The rule is no bound on re-identification: records stay alone on fully shown keys, kept "safe" by the blanks
of others. `sound` has the rule that is one.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from sdckit._support.arrays import Codes, Ints
from sdckit.kernels._jit import jit
from sdckit.kernels.suppression.patterns import Floats, missing_bits
from sdckit.kernels.suppression.release import Release, distinct_rows
from sdckit.kernels.suppression.sound import MAX_KEYS, Progress, UnreachableError
from sdckit.kernels.wildcard import wildcard_counts

MAX_SETS = 4096
ROWS_AT_ONCE = 256  # between two reports of progress


def suppress_by_wildcard(
    codes: Codes,
    counts: Ints,
    *,
    k: int | Sequence[int],
    cost: Floats,
    subsets: Sequence[Sequence[int]] | None = None,
    progress: Progress | None = None,
) -> Release:
    """How to release every cell so that each record matches at least k on every subset of keys.

    codes [c, q], counts [c] and cost [q] as in `suppress_cells`; k: one for all subsets or one each. Records
    below k are gone through one after the other, rarest first; each loses the cheapest set of keys with which
    it matches k records as they are then. Blanks only add matches, so one pass is enough; the result is
    counted again.
    """
    if codes.shape[1] > MAX_KEYS:
        raise ValueError(f"{codes.shape[1]} keys, more than {MAX_KEYS}")
    q = codes.shape[1]
    wanted = [tuple(range(q))] if subsets is None else [tuple(dict.fromkeys(s)) for s in subsets]
    need = np.broadcast_to(np.asarray(k, dtype=np.int64), (len(wanted),)).copy()
    matches = np.stack([_matches(codes, counts, s) for s in wanted], axis=1)
    below = (matches < need).any(axis=1)
    rare = np.flatnonzero(below)
    rare = rare[np.lexsort((*codes[rare].T, matches[rare].min(axis=1)))]
    cell = np.concatenate([np.repeat(rare, counts[rare]), np.flatnonzero(~below)])
    records = np.where(np.arange(len(cell)) < counts[rare].sum(), 1, counts[cell])
    rows = codes[cell]
    columns = np.array([sum(1 << j for j in s) for s in wanted], np.int64)
    chosen = np.zeros(len(cell), np.int64)
    sets, total = _sets(cost), int(counts[rare].sum())
    for start in range(0, total, ROWS_AT_ONCE):
        if progress is not None:
            progress(start, total)
        end = min(start + ROWS_AT_ONCE, total)
        stuck = _blank_rows(rows, missing_bits(rows, -1), records, columns, need, sets, chosen, start, end)
        if stuck >= 0:
            raise UnreachableError(_out_of_reach(codes, counts, wanted, need, cost))
    if progress is not None:
        progress(total, total)
    for subset, least in zip(wanted, need, strict=True):
        if len(rows) and _matches(rows, records, subset).min() < least:
            raise RuntimeError("local suppression did not reach k matches")
    return Release(cell, chosen, records.astype(np.int64))


def _matches(codes: Codes, counts: Ints, subset: Sequence[int]) -> Ints:
    """The records that match each row on some keys."""
    part = np.ascontiguousarray(codes[:, list(subset)])
    first, _, group = distinct_rows(part)
    records = np.bincount(group, counts, minlength=len(first)).astype(np.float64)
    return np.rint(wildcard_counts(part[first], records, records)[0]).astype(np.int64)[group]


def _out_of_reach(
    codes: Codes, counts: Ints, wanted: Sequence[Sequence[int]], need: Ints, cost: Floats
) -> Ints:
    """Cells below k even with every key suppressed that may be."""
    kept = [[j for j in s if np.isinf(cost[j])] for s in wanted]
    sizes = [_matches(codes, counts, s) if s else np.full(len(codes), counts.sum()) for s in kept]
    return np.flatnonzero((np.stack(sizes, axis=1) < need).any(axis=1))


def _sets(cost: Floats) -> Ints:
    """The sets of keys that may be suppressed, cheapest first: whole sizes, and all keys together."""
    touchable = [j for j in range(len(cost)) if np.isfinite(cost[j])]
    sets = [tuple(touchable)]
    for size in range(len(touchable)):
        if len(sets) + comb(len(touchable), size) > MAX_SETS:
            break
        sets += combinations(touchable, size)
    sets.sort(key=lambda s: (sum(cost[j] for j in s), s))
    return np.array([sum(1 << j for j in s) for s in sets], np.int64)


@jit
def _blank_rows(
    rows: Codes,
    missing: Ints,
    records: Ints,
    columns: Ints,
    need: Ints,
    sets: Ints,
    chosen: Ints,
    start: int,
    end: int,
) -> int:
    """Give rows from start to end the first set that makes them match; the row for which none does, or −1."""
    n, q = rows.shape
    for r in range(start, end):
        found = False
        for i in range(len(sets)):
            if sets[i] & missing[r]:
                continue
            found = True
            for s in range(len(columns)):
                keep = columns[s] & ~(sets[i] | missing[r])
                total = records[r]
                for other in range(n):
                    if total >= need[s]:
                        break
                    look = keep & ~missing[other]
                    alike = other != r
                    for j in range(q):
                        if alike and (look >> j) & 1 and rows[r, j] != rows[other, j]:
                            alike = False
                    if alike:
                        total += records[other]
                if total < need[s]:
                    found = False
                    break
            if found:
                chosen[r] = sets[i]
                for j in range(q):
                    if (sets[i] >> j) & 1:
                        rows[r, j] = -1
                missing[r] |= sets[i]
                break
        if not found:
            return r
    return -1
