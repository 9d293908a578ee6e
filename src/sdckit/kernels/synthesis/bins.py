"""Bins of one predictor in one node of a tree: how many records, and what the target does in each.

Records of a node stand next to each other, in the places low … high−1. An ordered predictor is cut into at
most 256 bins over the range of codes that the node holds, so that deep nodes see single codes; small nodes
are sorted. The bins of a predictor of categories are the levels that occur in the node.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Codes, Floats, Ints
from sdckit.kernels._jit import jit

Predictors = npt.NDArray[np.uint16]
Whole = Any  # a whole number, int64 in compiled code

SMALL = 40  # records of a node that is sorted; their place must fit into 6 bits
MOST = 8  # an ordered predictor has 2⁸ bins at most


@jit
def sort_small(x: Predictors, f: Whole, low: Whole, high: Whole, keys: Ints) -> None:
    """Codes of the predictor in ascending order with the place of each record, as code·64 + place."""
    for i in range(high - low):
        key = np.int64(x[f, low + i]) * 64 + i
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


@jit
def number_bins(
    x: Predictors,
    f: Whole,
    low: Whole,
    high: Whole,
    levels: Whole,
    y: Floats,
    keys: Ints,
    bins: Ints,
    sums: Floats,
) -> Whole:
    """How many bins there are. Rows of `bins`: records (0), code (1) of each. Row 0 of `sums`: the target.

    The code of a bin is its largest, by which an ordered predictor is cut, or its level.
    """
    found = np.int64(0)
    if high - low <= SMALL:
        sort_small(x, f, low, high, keys)
        for i in range(high - low):
            code = keys[i] >> 6
            if found == 0 or bins[1, found - 1] != code:
                bins[0, found] = 0
                bins[1, found] = code
                sums[0, found] = 0.0
                found += 1
            bins[0, found - 1] += 1
            sums[0, found - 1] += y[low + (keys[i] & 63)]
        return found
    least, shift, wide = code_range(x, f, low, high, levels)
    for b in range(wide):
        bins[0, b] = 0
        sums[0, b] = 0.0
    for i in range(low, high):
        b = (np.int64(x[f, i]) - least) >> shift
        bins[0, b] += 1
        sums[0, b] += y[i]
    for b in range(wide):
        if bins[0, b]:
            bins[0, found] = bins[0, b]
            bins[1, found] = least + ((b + 1) << shift) - 1
            sums[0, found] = sums[0, b]
            found += 1
    return found


@jit
def code_range(x: Predictors, f: Whole, low: Whole, high: Whole, levels: Whole) -> tuple[Whole, Whole, Whole]:
    """The smallest code of the node, by how many bits codes are shifted, and how many bins that makes."""
    least, most = np.int64(x[f, low]), np.int64(x[f, low])
    for i in range(low + 1, high):
        code = np.int64(x[f, i])
        if code < least:
            least = code
        if code > most:
            most = code
    shift = np.int64(0)
    if levels == 0:
        while ((most - least) >> shift) >> MOST:
            shift += 1
    return least, shift, ((most - least) >> shift) + 1


@jit
def class_bins(
    x: Predictors,
    f: Whole,
    low: Whole,
    high: Whole,
    levels: Whole,
    kinds: Whole,
    keys: Ints,
    bins: Ints,
    entries: Codes,
) -> Whole:
    """How many bins there are. Rows of `bins`: records (0), code (1), first entry (2) of each.

    Row 3 of `entries` has the classes of the records in their places, 0 … kinds−1. Rows 0 and 1: class and
    records of each entry, bin after bin; row 2 is room to work. Where the table of bins and classes is larger
    than the node, every record is an entry of its own: the work never grows with the number of classes.
    """
    found, used = np.int64(0), np.int64(0)
    if high - low <= SMALL:
        sort_small(x, f, low, high, keys)
        for i in range(high - low):
            code = keys[i] >> 6
            if found == 0 or bins[1, found - 1] != code:
                bins[0, found] = 0
                bins[1, found] = code
                bins[2, found] = i
                found += 1
            bins[0, found - 1] += 1
            entries[0, i] = entries[3, low + (keys[i] & 63)]
            entries[1, i] = 1
        bins[2, found] = high - low
        return found
    least, shift, wide = code_range(x, f, low, high, levels)
    for b in range(wide):
        bins[0, b] = 0
    dense = wide * kinds <= high - low
    if dense:
        for cell in range(wide * kinds):
            entries[2, cell] = 0
        for i in range(low, high):
            b = (np.int64(x[f, i]) - least) >> shift
            entries[2, b * kinds + entries[3, i]] += 1
            bins[0, b] += 1
    else:
        for i in range(low, high):
            bins[0, (np.int64(x[f, i]) - least) >> shift] += 1
    for b in range(wide):
        count = bins[0, b]
        if count == 0:
            bins[3, b] = -1
            continue
        bins[3, b] = used  # where the next record of the bin is put
        bins[0, found] = count
        bins[1, found] = least + ((b + 1) << shift) - 1
        bins[2, found] = used
        found += 1
        if dense:
            for c in range(kinds):
                if entries[2, b * kinds + c]:
                    entries[0, used] = c
                    entries[1, used] = entries[2, b * kinds + c]
                    used += 1
        else:
            used += count
    bins[2, found] = used
    if not dense:
        for i in range(low, high):
            b = (np.int64(x[f, i]) - least) >> shift
            entries[0, bins[3, b]] = entries[3, i]
            entries[1, bins[3, b]] = 1
            bins[3, b] += 1
    return found
