"""MDAV microaggregation of mixed data: numbers and categories, by Gower's distance."""

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.kernels._jit import inner, jit
from sdckit.kernels.microaggregation.mdav import SCANNED, blocks, groups_by_scan

BLOCK = 20_000  # records; larger files are cut at medians, since time grows with n²/k


def gower_groups(x: Floats, nominal: Bools, k: int) -> Ints:
    """Group label (0 … G−1) of each row of x; every group has k to 2k−1 records (one group when n < 2k).

    Columns are numbers divided by their range, or category codes 0, 1, … where `nominal`; none is missing.
    The distance is the sum of |x−y| over numbers and of 0 or 1 over categories. As MDAV, with the means of
    numbers and the most frequent categories of the records left as their centre. Equal distances go to the
    lowest row number, equal frequencies to the lowest code.
    """
    labels = np.zeros(len(x), dtype=np.int64)
    groups = 0
    x = np.ascontiguousarray(x)
    codes = int(x[:, nominal].max()) + 1 if nominal.any() and len(x) else 1
    for records in blocks(x, max(BLOCK, 4 * k)):
        if len(records) <= SCANNED:
            labels[records] = groups + _few(x[records], nominal, k)
            groups = labels[records].max(initial=-1) + 1
        else:
            work = np.empty(k), np.empty(k, dtype=np.int64), np.empty(x.shape[1]), np.empty(codes)
            groups = _group_block(x, nominal, records.copy(), k, groups, labels, *work)
    return labels


def _few(x: Floats, nominal: Bools, k: int) -> Ints:
    """As `_group_block`, without compiling anything."""

    def distances(rows: Floats, point: Floats) -> Floats:
        total = np.zeros(len(rows))
        for column, value, category in zip(rows.T, point, nominal, strict=True):
            total += column != value if category else np.abs(column - value)
        return total

    def centre(left: Ints, _: Ints) -> Floats:
        return np.array(
            [
                np.bincount(x[left, j].astype(np.int64)).argmax()
                if nominal[j]
                else np.cumsum(x[left, j])[-1] / len(left)
                for j in range(x.shape[1])
            ]
        )

    return groups_by_scan(x, k, distances, centre)


@jit
def _group_block(
    x: Floats,
    nominal: Bools,
    left: Ints,
    k: int,
    label: int,
    labels: Ints,
    near: Floats,
    found: Ints,
    point: Floats,
    counts: Floats,
) -> int:
    """MDAV among the records left (ascending); writes labels from `label` on and returns the next free one.

    `left` is used up; what follows the labels is scratch.
    """
    count, first, start = left.shape[0], True, left[0]
    while count >= 2 * k:
        for j in range(x.shape[1]):
            point[j] = x[start, j]
        if first:
            _centre(x, nominal, left, count, point, counts)
        first = not first
        best = -1.0
        for i in range(count):
            d = _distance(x, left[i], point, nominal)
            if d > best:
                best, start = d, left[i]
        for j in range(x.shape[1]):
            point[j] = x[start, j]
        for place in range(k):
            near[place] = np.inf
        near[0], found[0] = -1.0, start
        for i in range(count):
            d = _distance(x, left[i], point, nominal)
            if left[i] == start or d >= near[k - 1]:
                continue
            place = k - 1
            while near[place - 1] > d:
                near[place], found[place] = near[place - 1], found[place - 1]
                place -= 1
            near[place], found[place] = d, left[i]
        for place in range(k):
            labels[found[place]] = ~label  # taken just now
        kept = 0
        for i in range(count):
            if labels[left[i]] == ~label:
                labels[left[i]] = label
            else:
                left[kept] = left[i]
                kept += 1
        count, label = kept, label + 1
    for i in range(count):
        labels[left[i]] = label
    return label + 1


@inner
def _centre(x: Floats, nominal: Bools, left: Ints, count: int, point: Floats, counts: Floats) -> None:
    """Means of numbers and the most frequent categories of the first `count` records left."""
    for j in range(x.shape[1]):
        for code in range(counts.shape[0]):
            counts[code] = 0.0
        total, best = 0.0, 0
        for i in range(count):
            total += x[left[i], j]
            if nominal[j]:
                counts[int(x[left[i], j])] += 1.0
        for code in range(counts.shape[0]):
            if counts[code] > counts[best]:
                best = code
        point[j] = best if nominal[j] else total / count


@inner
def _distance(x: Floats, record: int, point: Floats, nominal: Bools) -> float:
    """The sum over variables."""
    total = 0.0
    for j in range(x.shape[1]):
        if nominal[j]:
            total += x[record, j] != point[j]
        else:
            total += abs(x[record, j] - point[j])
    return total
