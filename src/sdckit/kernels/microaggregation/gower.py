"""MDAV microaggregation of mixed data: numbers and categories, by Gower's distance."""

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import jit
from sdckit.kernels.microaggregation.mdav import blocks

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

BLOCK = 20_000  # records; larger files are cut at medians, since time grows with n²/k


def gower_groups(x: Floats, nominal: Flags, k: int) -> Ints:
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
        groups = group_block(x, nominal, codes, records, k, groups, labels)
    return labels


@jit
def group_block(
    x: Floats, nominal: Flags, codes: int, records: Ints, k: int, label: int, labels: Ints
) -> int:
    """MDAV among `records` (ascending); writes labels from `label` on and returns the next free label."""
    left = records.copy()
    count = left.shape[0]
    while count >= 2 * k:
        start = farthest(x, nominal, left[:count], centre_of(x, nominal, codes, left[:count]))
        count = take(x, nominal, left, count, start, k, label, labels)
        label += 1
        if count >= 2 * k:
            start = farthest(x, nominal, left[:count], x[start])
            count = take(x, nominal, left, count, start, k, label, labels)
            label += 1
    labels[left[:count]] = label
    return label + 1


@jit
def centre_of(x: Floats, nominal: Flags, codes: int, records: Ints) -> Floats:
    """Means of numbers and the most frequent categories."""
    centre = np.zeros(x.shape[1])
    for j in range(x.shape[1]):
        if nominal[j]:
            counts = np.zeros(codes)
            for record in records:
                counts[int(x[record, j])] += 1
            centre[j] = np.argmax(counts)
        else:
            for record in records:
                centre[j] += x[record, j]
            centre[j] /= records.shape[0]
    return centre


@jit
def distance(a: Floats, b: Floats, nominal: Flags) -> float:
    """The sum over variables."""
    total = 0.0
    for j in range(a.shape[0]):
        if nominal[j]:
            total += a[j] != b[j]
        else:
            total += abs(a[j] - b[j])
    return total


@jit
def farthest(x: Floats, nominal: Flags, records: Ints, point: Floats) -> int:
    """The record farthest from a point."""
    best, found = -1.0, 0
    for record in records:
        d = distance(x[record], point, nominal)
        if d > best:
            best, found = d, record
    return found


@jit
def take(
    x: Floats, nominal: Flags, left: Ints, count: int, start: int, k: int, label: int, labels: Ints
) -> int:
    """Label `start` and its k−1 nearest records, take them out of `left` and return how many remain."""
    near = np.full(k, np.inf)
    found = np.full(k, -1, dtype=np.int64)
    near[0], found[0] = -1.0, start
    for i in range(count):
        if left[i] == start:
            continue
        d = distance(x[left[i]], x[start], nominal)
        if d >= near[k - 1]:
            continue
        place = k - 1
        while near[place - 1] > d:
            near[place], found[place] = near[place - 1], found[place - 1]
            place -= 1
        near[place], found[place] = d, left[i]
    labels[found] = label
    taken = np.sort(found)
    kept, next_taken = 0, 0
    for i in range(count):  # both ascend
        if next_taken < k and left[i] == taken[next_taken]:
            next_taken += 1
        else:
            left[kept] = left[i]
            kept += 1
    return kept
