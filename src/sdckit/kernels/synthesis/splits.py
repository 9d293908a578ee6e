"""The best cut of one predictor in one node: the order of its bins, and the gain at every place."""

import numpy as np

from sdckit._support.arrays import Codes, Floats, Ints
from sdckit.kernels._jit import jit
from sdckit.kernels.synthesis.bins import Whole

ROUNDS = 4  # of the power iteration


@jit
def number_scan(
    found: Whole, bins: Ints, sums: Floats, records: Whole, mean: float, leaf: Whole
) -> tuple[float, Whole]:
    """The largest fall of the sum of squares, and after how many bins the node is cut; −1: none.

    Row 4 of `bins` has the order in which bins are gone through.
    """
    best, where = 0.0, -1
    left, total = 0, 0.0
    for place in range(found - 1):
        b = bins[4, place]
        left += bins[0, b]
        total += sums[0, b]
        right = records - left
        if left < leaf:
            continue
        if right < leaf:
            break
        away = total - left * mean
        gain = away * away * records / (np.float64(left) * right)
        if gain > best * (1 + 1e-12):
            best, where = gain, place
    return best, where


@jit
def class_scan(
    found: Whole,
    bins: Ints,
    entries: Codes,
    counts: Ints,
    kinds: Whole,
    records: Whole,
    leaf: Whole,
) -> tuple[float, Whole]:
    """The same for the Gini index of classes. Row 0 of `counts` has the classes of the node; 1 is room."""
    squares = 0.0  # of the counts of classes on the right, then of those on the left
    for c in range(kinds):
        squares += np.float64(counts[0, c]) * counts[0, c]
        counts[1, c] = 0
    whole = squares / records
    best, where, left, squares_left = 0.0, -1, 0, 0.0
    for place in range(found - 1):
        b = bins[4, place]
        for e in range(bins[2, b], bins[2, b + 1]):
            c, w = entries[0, e], np.int64(entries[1, e])
            here = counts[1, c]
            squares_left += w * (2 * here + w)
            squares += w * (w - 2 * (counts[0, c] - here))
            counts[1, c] = here + w
        left += bins[0, b]
        right = records - left
        if left < leaf:
            continue
        if right < leaf:
            break
        gain = squares_left / left + squares / right - whole
        if gain > best * (1 + 1e-12):
            best, where = gain, place
    return best, where


@jit
def class_scores(
    found: Whole,
    bins: Ints,
    entries: Codes,
    counts: Ints,
    kinds: Whole,
    records: Whole,
    v: Floats,
    sums: Floats,
) -> None:
    """The place of each bin along the first principal direction of the shares of classes in the bins.

    It is written to row 1 of `sums`. v: room for one number a class. With two classes any direction will do.
    """
    for c in range(kinds):
        v[0, c] = (c + 1) * 0.6180339887498949 % 1.0 - 0.5
    for turn in range(ROUNDS + 1):
        middle = 0.0
        for c in range(kinds):
            middle += counts[0, c] * v[0, c] / records
            v[1, c] = 0.0
        for b in range(found):
            total = 0.0
            for e in range(bins[2, b], bins[2, b + 1]):
                total += entries[1, e] * v[0, entries[0, e]]
            sums[1, b] = total / bins[0, b] - middle
        if turn == ROUNDS or kinds == 2:
            return
        for b in range(found):
            for e in range(bins[2, b], bins[2, b + 1]):
                v[1, entries[0, e]] += entries[1, e] * sums[1, b]
        largest = 0.0
        for c in range(kinds):
            if abs(v[1, c]) > largest:
                largest = abs(v[1, c])
        if largest == 0.0:
            return
        for c in range(kinds):
            v[0, c] = v[1, c] / largest


@jit
def sort_bins(found: Whole, sums: Floats, bins: Ints) -> None:
    """Row 4 of `bins`: the bins in ascending order of row 1 of `sums`, equal ones in the order they have."""
    for b in range(found):
        j = b
        while j > 0 and sums[1, bins[4, j - 1]] > sums[1, b]:
            bins[4, j] = bins[4, j - 1]
            j -= 1
        bins[4, j] = b
