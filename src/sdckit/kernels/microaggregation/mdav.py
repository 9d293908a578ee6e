"""MDAV microaggregation: groups of k similar records, built from the outside inwards."""

from collections.abc import Callable

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit.kernels._jit import inner, jit
from sdckit.kernels.kd_tree import Scratch, Tree, build, halve, remove, scratch, search

BLOCK = 200_000  # larger files are halved until no block has more records
SCANNED = 1_000  # records up to which full scans are fast enough


def mdav(x: Floats, k: int) -> Ints:
    """Group label (0 … G−1) of each row of x; every group has k to 2k−1 records (one group when n < 2k).

    While 3k or more records remain: take the record r farthest from their mean with its k−1 nearest records,
    then the record farthest from r with its k−1 nearest. Of 2k … 3k−1 remaining records one more such group
    is taken; what is left is the last group. Distances are Euclidean, so the caller scales x first. Equal
    distances go to the lowest row number. Memory grows with n, time about as n^1.4 to n^1.6 for four columns
    and closer to n² for many.

    Departure: above `BLOCK` records MDAV runs in blocks (`blocks_from_outside`), and no group straddles two.

    Reference: Domingo-Ferrer & Mateo-Sanz (2002), IEEE Transactions on Knowledge and Data Engineering 14(1).
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    if k < 1 or not np.isfinite(x).all():
        raise ValueError(
            f"mdav needs k >= 1 and finite values; got k = {k} and {(~np.isfinite(x)).sum()} non-finite"
        )
    labels = np.zeros(len(x), dtype=np.int64)
    if len(x) < 2 * k:
        return labels
    groups = 0
    for records in blocks_from_outside(x, max(BLOCK, 4 * k)):
        total = np.cumsum(x[records], axis=0)[-1]  # one after the other, unlike `sum`
        if len(records) <= SCANNED:
            labels[records] = groups + groups_by_scan(
                x[records], k, squared_distances, _Centre(x[records], total)
            )
            groups = labels[records].max() + 1
        else:
            groups = _group_block(x, records, total, k, groups, labels)
    return labels


def blocks_from_outside(x: Floats, limit: int) -> list[Ints]:
    """Ascending row numbers of blocks: the `limit` records farthest from the mean, the others cut at medians.

    Most of the loss is in the few records that lie far out and far apart. Cuts through them would keep apart
    what MDAV groups first; cuts through the dense middle cost little.
    """
    n = len(x)
    if n <= limit:
        return [np.arange(n)]
    away = squared_distances(x, np.cumsum(x, axis=0)[-1] / n)
    order = np.argsort(-away, kind="stable")
    outer = min(limit, n // 2)  # so that enough are left for groups
    inside = np.sort(order[outer:])
    return [np.sort(order[:outer]), *(inside[rows] for rows in blocks(x[inside], limit))]


def blocks(x: Floats, limit: int) -> list[Ints]:
    """Ascending row numbers of blocks of at most `limit` records, cut at medians of the widest column."""
    pending, done = [np.arange(x.shape[0])], []
    while pending:
        block = pending.pop()
        if len(block) <= limit:
            done.append(np.sort(block))
            continue
        middle = halve(x[block], block, 0, len(block), np.zeros(x.shape[1]))
        pending += [block[middle:], block[:middle]]
    return done


def groups_by_scan(
    x: Floats, k: int, distances: Callable[[Floats, Floats], Floats], centre: Callable[[Ints, Ints], Floats]
) -> Ints:
    """Labels of MDAV's groups for few records: every step looks at all that are left.

    `distances` of rows from a point; `centre` of the rows left, from their numbers and those taken last.
    """
    labels = np.empty(len(x), dtype=np.int64)
    left, taken = np.arange(len(x)), np.empty(0, dtype=np.int64)
    label, start, first = 0, 0, True
    while len(left) >= 2 * k:
        middle = centre(left, taken)
        start = int(distances(x[left], middle if first else x[start]).argmax())
        places = nearest_places(distances(x[left], x[left[start]]), start, k)
        taken, start, first = left[places], int(left[start]), not first
        labels[taken] = label
        left, label = np.delete(left, places), label + 1
    labels[left] = label
    return labels


def nearest_places(distances: Floats, own: int, k: int) -> Ints:
    """The places of the k smallest distances, its own first, the lowest place on ties."""
    distances[own] = -1.0
    return np.argsort(distances, kind="stable")[:k]


def squared_distances(rows: Floats, point: Floats) -> Floats:
    """Squared distances of rows from a point, as the tree sums them."""
    total = np.zeros(len(rows))
    for column, value in zip(rows.T, point, strict=True):
        total += (column - value) * (column - value)
    return total


class _Centre:
    """The mean of the rows left, from a running total as in `_take_groups`."""

    def __init__(self, x: Floats, total: Floats) -> None:
        self.x, self.total = x, total

    def __call__(self, left: Ints, taken: Ints) -> Floats:
        for row in taken:
            self.total -= self.x[row]
        return np.asarray(self.total / len(left))


def _group_block(x: Floats, records: Ints, total: Floats, k: int, label: int, labels: Ints) -> int:
    """MDAV among `records` (ascending); writes labels from `label` on and returns the next free label."""
    labels[records] = -1
    left, work, centre = records, scratch(k), np.empty(x.shape[1])
    while len(left) >= 2 * k:
        label = _take_groups(build(x, left.copy()), x, total, k, label, labels, centre, work)
        left = records[labels[records] == -1]
    labels[left] = label
    return label + 1


@jit
def _take_groups(
    tree: Tree, x: Floats, total: Floats, k: int, label: int, labels: Ints, centre: Floats, work: Scratch
) -> int:
    """Take pairs of groups out of the tree until it is half empty; returns the next free label."""
    built = left = tree.record.shape[0]
    start = 0
    while left >= 2 * k and 2 * left >= built:
        for turn in range(2):
            if left >= 2 * k:
                for c in range(x.shape[1]):
                    centre[c] = total[c] / left if turn == 0 else x[start, c]
                start = search(tree, centre, True, 1, work)
                take(tree, x, start, k, label, labels, total, work)
                left -= k
                label += 1
    return label


@inner
def take(
    tree: Tree, x: Floats, start: int, k: int, label: int, labels: Ints, total: Floats, work: Scratch
) -> None:
    """Label `start` and its k−1 nearest records and take them out of the tree and of the running total."""
    record = start
    for i in range(k):
        remove(tree, record)
        labels[record] = label
        for c in range(x.shape[1]):
            total[c] -= x[record, c]
        if i == 0 and k > 1:
            search(tree, x[start], False, k - 1, work)
        if i < k - 1:
            record = work.found[i]
