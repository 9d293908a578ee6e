"""Dominance sums: for every point, the sum over all points that are at or below it in every coordinate.

Divide and conquer. Points are put in lexicographic order, so that a point can only be dominated by later
ones; sources and queries are then split at a value of one of the remaining coordinates. Low sources meet
low queries, high meet high, and low sources meet high queries with that coordinate settled. Sources above
every query and queries below every source drop out at each split, and small blocks are compared pair by
pair in loops the compiler turns into vector instructions.
M points in p coordinates: O(M log^(p-1) M) time, O(M p) memory. Sums are integers, so neither the order of
the records nor the number of threads changes them.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Floats, Ints
from sdckit.kernels._jit import inner, jit
from sdckit.kernels._threads import threads

Ranks = npt.NDArray[np.int32]

SMALL = 2_000  # distinct points up to which all pairs are compared
PAIRWISE = 160  # compare pair by pair where s·q ≤ PAIRWISE·(s+q); flat optimum between 100 and 300
SAMPLE = 15  # records looked at on each side to choose the split
THREADED = 30_000  # queries from which on threads are worth starting


def dominance_sums(points: Floats, values: Ints) -> Ints:
    """Sums of `values` (k, M) over the points at or below each of the `points` (M, p), as (k, M).

    A point is at or below itself. Coordinates must not be nan.

    >>> dominance_sums(np.array([[1.0, 2.0], [2.0, 1.0], [2.0, 2.0]]), np.array([[1, 10, 100]]))
    array([[  1,  10, 111]])
    """
    ranks = np.stack([np.unique(column, return_inverse=True)[1].ravel() for column in points.T])
    # the coordinate with the most distinct values comes first: the order settles it
    ranks = ranks[np.argsort(-ranks.max(axis=1), kind="stable")].astype(np.int32)
    order = np.lexsort(ranks[::-1])
    ranks = ranks[:, order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (ranks[:, 1:] != ranks[:, :-1]).any(axis=0)
    starts = np.flatnonzero(new)
    merged = np.ascontiguousarray(np.add.reduceat(values[:, order], starts, axis=1))
    found = _sums_of_distinct(np.ascontiguousarray(ranks[:, starts]), merged)
    sums = np.empty_like(values)
    sums[:, order] = found[:, np.cumsum(new) - 1]
    return sums


def _sums_of_distinct(ranks: Ranks, values: Ints) -> Ints:
    """The same for distinct points in lexicographic order, in threads where there are many."""
    size = ranks.shape[1]
    if len(ranks) == 1:
        return np.cumsum(values, axis=1)
    # points whose values cancel add nothing anywhere: records that were left unchanged, for example
    sources = np.flatnonzero(values.any(axis=0)).astype(np.int32)
    if size <= SMALL:
        below = np.ones((len(sources), size), dtype=np.bool_)
        for coordinate in ranks:
            below &= coordinate[sources, None] <= coordinate
        return np.array([row[sources] @ below for row in values])
    number = threads() if size >= THREADED else 1
    tasks = _halved(sources, np.arange(size, dtype=np.int32), 1 if number == 1 else 8)[::-1]
    coordinates = np.arange(1, ranks.shape[0])

    def work(_: int) -> Ints:
        own = np.zeros_like(values)
        while True:
            try:
                s, q = tasks.pop()
            except IndexError:  # another thread took the last one
                break
            add_dominated(ranks, values, own, s, q, coordinates)
        return own

    if number == 1:
        return work(0)
    with ThreadPoolExecutor(number) as pool:
        return np.asarray(sum(pool.map(work, range(number))))


def _halved(s: Ranks, q: Ranks, parts: int) -> list[tuple[Ranks, Ranks]]:
    """Tasks that make up the whole: in the order, early sources with late queries, then each half alone."""
    if parts == 1:
        return [(s, q)]
    half = len(q) // 2
    cut = np.searchsorted(s, q[half])
    early, late = (s[:cut], q[:half]), (s[cut:], q[half:])
    return [(early[0], late[1]), *_halved(*early, parts // 2), *_halved(*late, parts // 2)]


@jit
def add_dominated(ranks: Ranks, values: Ints, sums: Ints, s: Ranks, q: Ranks, coordinates: Ints) -> None:
    """Add to the sums of the queries q the values of the sources s at or below them in `coordinates`.

    s and q are ascending positions; a source after a query in that order is never below it.
    """
    if s.shape[0] == 0 or q.shape[0] == 0 or s[0] > q[q.shape[0] - 1]:
        return
    active = np.empty(coordinates.shape[0], dtype=np.int64)
    box = np.empty((3, coordinates.shape[0]), dtype=np.int32)  # floor, ceiling and highest rank of both
    p = 0
    for j in range(coordinates.shape[0]):
        column = ranks[coordinates[j]]
        s_low, s_high = extent(column, s)
        q_low, q_high = extent(column, q)
        if s_low > q_high:
            return
        if s_high > q_low:  # elsewhere every source is at or below every query
            active[p] = coordinates[j]
            box[0, p], box[1, p], box[2, p] = s_low, q_high, max(s_high, q_high)
            p += 1
    active = active[:p]
    if p == 0:
        add_in_order(values, sums, s, q)
        return
    if s.shape[0] * q.shape[0] <= PAIRWISE * (s.shape[0] + q.shape[0]):
        add_pairwise(ranks, values, sums, s, q, active)
        return
    coordinate, cut = choose_split(ranks, s, q, active, box[2])
    low_s, high_s = split(ranks, s, active, box, coordinate, cut)
    low_q, high_q = split(ranks, q, active, box, coordinate, cut)
    add_dominated(ranks, values, sums, low_s, low_q, active)
    add_dominated(ranks, values, sums, high_s, high_q, active)
    settled = 0
    for j in range(p):
        if active[j] != coordinate:
            active[settled] = active[j]
            settled += 1
    add_dominated(ranks, values, sums, low_s, high_q, active[:settled])


@inner
def extent(column: Ranks, records: Ranks) -> tuple[int, int]:
    """Lowest and highest rank among the records."""
    least = most = column[records[0]]
    for i in range(records.shape[0]):
        least = min(least, column[records[i]])
        most = max(most, column[records[i]])
    return least, most


@jit
def choose_split(ranks: Ranks, s: Ranks, q: Ranks, coordinates: Ints, top: Ranks) -> tuple[int, int]:
    """The coordinate in which the fewest sources seem to be below queries, and about its median.

    The median comes from a sample spread over both lists. It is kept below `top`, the highest rank of both,
    so that each half has a record and a value shared by most records is on its own after two splits.
    """
    best, cut, fewest = 0, 0, SAMPLE * SAMPLE + 1
    sample = np.empty(2 * SAMPLE, dtype=np.int32)
    for j in range(coordinates.shape[0]):
        column = ranks[coordinates[j]]
        for i in range(SAMPLE):
            sample[i] = column[s[(2 * i + 1) * s.shape[0] // (2 * SAMPLE)]]
            sample[SAMPLE + i] = column[q[(2 * i + 1) * q.shape[0] // (2 * SAMPLE)]]
        below = 0
        for low in range(SAMPLE):
            for high in range(SAMPLE, 2 * SAMPLE):
                below += sample[low] <= sample[high]
        if below < fewest:
            for i in range(1, 2 * SAMPLE):  # sorted by insertion
                rank, place = sample[i], i
                while place > 0 and sample[place - 1] > rank:
                    sample[place] = sample[place - 1]
                    place -= 1
                sample[place] = rank
            best, cut, fewest = coordinates[j], min(sample[SAMPLE], top[j] - 1), below
    return best, cut


@jit
def split(
    ranks: Ranks, records: Ranks, coordinates: Ints, box: Ranks, coordinate: int, cut: int
) -> tuple[Ranks, Ranks]:
    """The records inside the box with a rank up to the cut, and those above it."""
    low = np.empty(records.shape[0], dtype=np.int32)
    high = np.empty(records.shape[0], dtype=np.int32)
    lows = highs = 0
    for i in range(records.shape[0]):
        record, inside = records[i], True
        for j in range(coordinates.shape[0]):
            rank = ranks[coordinates[j], record]
            inside &= box[0, j] <= rank
            inside &= rank <= box[1, j]
        is_low = ranks[coordinate, record] <= cut
        low[lows] = record  # written always, counted where it belongs: no branch to mispredict
        high[highs] = record
        lows += inside & is_low
        highs += inside & (not is_low)
    return low[:lows], high[:highs]


@inner
def add_in_order(values: Ints, sums: Ints, s: Ranks, q: Ranks) -> None:
    """Only the order is left to decide: running totals."""
    for c in range(values.shape[0]):
        total, a = 0, 0
        for i in range(q.shape[0]):
            while a < s.shape[0] and s[a] <= q[i]:
                total += values[c, s[a]]
                a += 1
            sums[c, q[i]] += total


@jit
def add_pairwise(ranks: Ranks, values: Ints, sums: Ints, s: Ranks, q: Ranks, coordinates: Ints) -> None:
    """Every source against every query after it."""
    size, p, k = q.shape[0], coordinates.shape[0], values.shape[0]
    near = np.empty((p, size), dtype=np.int32)
    added = np.empty((k, size), dtype=np.int64)
    below = np.empty(size, dtype=np.int32)
    for i in range(size):
        for j in range(p):
            near[j, i] = ranks[coordinates[j], q[i]]
        for c in range(k):
            added[c, i] = 0
    first = 0
    for a in range(s.shape[0]):
        while first < size and q[first] < s[a]:
            first += 1
        if first == size:
            break
        after = below[first:]
        for i in range(after.shape[0]):
            after[i] = 1
        for j in range(p):
            and_at_least(after, near[j, first:], ranks[coordinates[j], s[a]])
        for c in range(k):
            add_where(added[c, first:], after, values[c, s[a]])
    for c in range(k):
        for i in range(size):
            sums[c, q[i]] += added[c, i]


@inner
def and_at_least(keep: Ranks, column: Ranks, bound: int) -> None:
    """keep &= column ≥ bound. A function of its own, with plain indices, so that it becomes vector code."""
    for i in range(column.shape[0]):
        keep[i] &= bound <= column[i]


@inner
def add_where(totals: Ints, keep: Ranks, value: int) -> None:
    """totals += value where keep; vector code as above."""
    for i in range(keep.shape[0]):
        totals[i] += value if keep[i] else 0
