"""Grow a tree: records are moved so that every node, and at last every leaf, is a range of places."""

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Codes, Floats, Ints
from sdckit.kernels._jit import jit
from sdckit.kernels.synthesis.bins import SMALL, Predictors, Whole, class_bins, number_bins
from sdckit.kernels.synthesis.splits import class_scan, class_scores, number_scan, sort_bins

# columns of the table of nodes
FEATURE, CUT, BITS, CHILD, START, STOP, PARENT = range(7)
BINS = 256
PER_CUT = 0.25  # by how much more a split must gain for each e-fold of the ways in which it could be cut


def grow_tree(
    x: Predictors, levels: Codes, target: npt.NDArray[np.generic], unit: Codes, leaf: int, gain: float
) -> tuple[Codes, Ints, Codes]:
    """Nodes, bits of the splits by category, and the records in the order of the leaves.

    x (p, n): codes of the predictors. levels (p,): 0 for an ordered predictor, else its number of levels (at
    most 1,024). target: classes 0, 1, … (int32), split by the Gini index, or numbers (float64), by squares.
    A node is split where that gains enough and leaves `leaf` records on both sides; and as many different
    units, where units (int32, one a record) are given. Enough is g = gain·(1 + ln(ways)/4) times the mean
    impurity of the node's records, for a predictor that can be cut in so many ways (2^(L−1) − 1 for L
    categories in any order), as the best of many gains more by chance; of classes in ν dimensions, where
    chance varies less, 1 + (g − 1)/√ν.

    Columns of nodes: predictor or −1 in a leaf, largest code that goes left, first word of the levels that go
    right or −1, left child (the right one follows), first place, last place + 1, parent.
    """
    n = x.shape[1]
    rows = np.arange(n, dtype=np.int32)
    most = 2 * max(n // leaf, 1) + 1
    nodes = np.full((most, 7), -1, dtype=np.int32)
    if target.dtype == np.int32:
        classes, y = np.asarray(target, dtype=np.int32).copy(), np.empty(0)
        kinds = int(classes.max(initial=0)) + 1
    else:
        classes, y = np.empty(0, dtype=np.int32), np.asarray(target, dtype=np.float64).copy()
        kinds = 0
    wide = max(int(levels.max(initial=0)), BINS) + 2
    words = (int(levels.max(initial=0)) + 63) // 64  # of one split; pages never written to take no memory
    bits = np.empty((most // 2 + 1) * words, dtype=np.int64)
    room = n if kinds else 0
    used, spent = _grow(
        np.array(x, dtype=np.uint16, order="C"),
        levels,
        classes,
        y,
        unit.copy(),
        rows,
        nodes,
        bits,
        np.empty((5, wide), dtype=np.int64),
        np.empty((2, wide)),
        np.empty((4, room), dtype=np.int32),
        np.zeros((4, kinds), dtype=np.int64),
        np.empty((2, kinds)),
        np.full(int(unit.max(initial=0)) + 1, -1, dtype=np.int32),
        np.empty((2, n), dtype=np.int32),
        np.empty(64, dtype=np.int64),
        leaf,
        max(gain, 1e-9),
    )
    return nodes[:used].copy(), bits[:spent].copy(), rows


@jit
def _grow(
    x: Predictors,
    levels: Codes,
    classes: Codes,
    y: Floats,
    unit: Codes,
    rows: Codes,
    nodes: Codes,
    bits: Ints,
    bins: Ints,
    sums: Floats,
    entries: Codes,
    counts: Ints,
    direction: Floats,
    seen: Codes,
    swaps: Codes,
    keys: Ints,
    leaf: Whole,
    least_gain: float,
) -> tuple[Whole, Whole]:
    """Node after node, the children behind those that wait: how many nodes and words of bits there are.

    All counters are made int64 at once: numba compiles a function again for a number written as such.
    """
    nodes[0, START], nodes[0, STOP] = 0, rows.shape[0]
    used, node, words = np.int64(1), np.int64(0), np.int64(0)
    while node < used:
        low, high = np.int64(nodes[node, START]), np.int64(nodes[node, STOP])
        kinds, mean, impurity = np.int64(0), 0.0, 0.0
        if high - low >= 2 * leaf:
            if classes.shape[0]:
                kinds, impurity = local_classes(classes, low, high, node, entries, counts)
            else:
                mean, impurity = mean_and_spread(y, low, high)
        feature, cut = np.int64(-1), np.int64(0)
        if impurity > 0:
            unit_gain = impurity / (high - low)
            dimensions = class_dimensions(counts, kinds, high - low) if kinds > 2 else 1.0
            feature, cut = best_split(
                x, levels, y, low, high, kinds, mean, unit_gain, dimensions, least_gain, leaf, keys, bins,
                sums, entries, counts, direction, bits, words,
            )  # fmt: skip
        if feature >= 0:
            first = words if levels[feature] > 0 else np.int64(-1)
            middle = partition(x, classes, y, unit, rows, low, high, feature, cut, bits, first, swaps)
            if enough_units(unit, low, middle, 2 * node, seen, leaf) and enough_units(
                unit, middle, high, 2 * node + 1, seen, leaf
            ):
                nodes[node, FEATURE], nodes[node, CUT], nodes[node, CHILD] = feature, cut, used
                nodes[node, BITS] = first
                if first >= 0:
                    words += (levels[feature] + 63) // 64
                nodes[used, START], nodes[used, STOP], nodes[used, PARENT] = low, middle, node
                nodes[used + 1, START], nodes[used + 1, STOP], nodes[used + 1, PARENT] = middle, high, node
                used += 2
        node += 1
    return used, words


@jit
def best_split(
    x: Predictors,
    levels: Codes,
    y: Floats,
    low: Whole,
    high: Whole,
    kinds: Whole,
    mean: float,
    unit_gain: float,
    dimensions: float,
    least_gain: float,
    leaf: Whole,
    keys: Ints,
    bins: Ints,
    sums: Floats,
    entries: Codes,
    counts: Ints,
    direction: Floats,
    bits: Ints,
    words: Whole,
) -> tuple[Whole, Whole]:
    """The predictor that gains most of those that gain enough, and where it is cut; −1 where none does.

    unit_gain: the mean impurity of the node, which a cut of unrelated records gains on average.
    """
    records = high - low
    best = 0.0
    feature: Whole = np.int64(-1)
    cut: Whole = np.int64(0)
    for f in range(x.shape[0]):
        if kinds:
            found = class_bins(x, f, low, high, levels[f], kinds, keys, bins, entries)
        else:
            found = number_bins(x, f, low, high, levels[f], y, keys, bins, sums)
        if found < 2:
            continue
        if levels[f] == 0:
            for b in range(found):
                bins[4, b] = b
        else:
            if kinds:
                class_scores(found, bins, entries, counts, kinds, records, direction, sums)
            else:
                for b in range(found):
                    sums[1, b] = sums[0, b] / bins[0, b]
            sort_bins(found, sums, bins)
        if kinds:
            gain, where = class_scan(found, bins, entries, counts, kinds, records, leaf)
        else:
            gain, where = number_scan(found, bins, sums, records, mean, leaf)
        if where < 0 or gain <= best * (1 + 1e-12):
            continue
        if gain <= (1 + 1e-12) * unit_gain * enough_gain(
            least_gain, ways_to_cut(found, levels[f]), dimensions
        ):
            continue
        best, feature = gain, f
        if levels[f] > 0:
            mark_right(bits, words, levels[f], found, bins, where, records)
        elif records <= SMALL:  # between the codes on both sides
            cut = (bins[1, where] + bins[1, where + 1]) >> 1
        else:
            cut = bins[1, where]
    return feature, cut


@jit
def ways_to_cut(found: Whole, levels: Whole) -> float:
    """In how many ways so many bins can be cut in two: categories have no order, the best of all is taken."""
    return float(found - 1.0 if levels == 0 else 2.0 ** min(found - 1.0, 60.0) - 1.0)


@jit
def enough_gain(least_gain: float, cuts: float, dimensions: float) -> float:
    """What the best of so many cuts must gain, in gains of unrelated records (mean 1, variance 2/ν)."""
    enough = least_gain * (1.0 + PER_CUT * np.log(cuts))
    return float(enough if enough <= 1.0 else 1.0 + (enough - 1.0) / np.sqrt(dimensions))


@jit
def class_dimensions(counts: Ints, kinds: Whole, records: Whole) -> float:
    """The dimensions ν in which the shares p of classes vary: (tr Σ)²/tr Σ² of Σ = diag(p) − pp′.

    1 for two classes, K − 1 for K classes of equal size, fewer where some are rare.
    """
    squares, cubes = 0.0, 0.0
    for c in range(kinds):
        share = counts[0, c] / np.float64(records)
        squares += share * share
        cubes += share * share * share
    return float((1.0 - squares) ** 2 / (squares - 2.0 * cubes + squares * squares))


@jit
def local_classes(
    classes: Codes, low: Whole, high: Whole, node: Whole, entries: Codes, counts: Ints
) -> tuple[Whole, float]:
    """How many classes the node has, and its impurity: records · Gini index.

    Row 3 of entries: the class of each record, numbered from 0 in this node. Row 0 of counts: records by
    class. Rows 2 and 3: the number of each class, and the node it is valid for.
    """
    kinds = np.int64(0)
    for i in range(low, high):
        c = classes[i]
        if counts[3, c] != node + 1:
            counts[3, c] = node + 1
            counts[2, c] = kinds
            counts[0, kinds] = 0
            kinds += 1
        number = counts[2, c]
        entries[3, i] = number
        counts[0, number] += 1
    squares = 0.0
    for c in range(kinds):
        squares += np.float64(counts[0, c]) * counts[0, c]
    return kinds, 0.0 if kinds == 1 else (high - low) - squares / (high - low)


@jit
def mean_and_spread(y: Floats, low: Whole, high: Whole) -> tuple[float, float]:
    """The mean of the target and the sum of squares about it, 0 where all are equal."""
    mean, spread, varies = 0.0, 0.0, False
    for i in range(low, high):
        mean += y[i]
        varies = varies or y[i] != y[low]
    mean /= high - low
    for i in range(low, high):
        spread += (y[i] - mean) * (y[i] - mean)
    return mean, spread if varies else 0.0


@jit
def mark_right(
    bits: Ints, words: Whole, levels: Whole, found: Whole, bins: Ints, where: Whole, records: Whole
) -> None:
    """One bit for each level: whether it goes right. A level the node has not goes to the larger side."""
    left = 0
    for place in range(where + 1):
        left += bins[0, bins[4, place]]
    for w in range((levels + 63) // 64):
        bits[words + w] = -1 if 2 * left < records else 0
    for place in range(found):
        level = bins[1, bins[4, place]]
        bit = np.int64(1) << (level & 63)
        if place > where:
            bits[words + (level >> 6)] |= bit
        else:
            bits[words + (level >> 6)] &= ~bit


@jit
def partition(
    x: Predictors,
    classes: Codes,
    y: Floats,
    unit: Codes,
    rows: Codes,
    low: Whole,
    high: Whole,
    feature: Whole,
    cut: Whole,
    bits: Ints,
    first: Whole,
    swaps: Codes,
) -> Whole:
    """Put the records that go left before those that go right; the place of the first on the right."""
    i, j, count = low, high - 1, 0
    while True:
        while i <= j and not goes_right(x[feature, i], cut, bits, first):
            i += 1
        while i <= j and goes_right(x[feature, j], cut, bits, first):
            j -= 1
        if i >= j:
            break
        swaps[0, count], swaps[1, count] = i, j
        count += 1
        i += 1
        j -= 1
    for s in range(count):
        a, b = swaps[0, s], swaps[1, s]
        rows[a], rows[b] = rows[b], rows[a]
        if classes.shape[0]:
            classes[a], classes[b] = classes[b], classes[a]
        if y.shape[0]:
            y[a], y[b] = y[b], y[a]
        if unit.shape[0]:
            unit[a], unit[b] = unit[b], unit[a]
    for f in range(x.shape[0]):
        for s in range(count):
            a, b = swaps[0, s], swaps[1, s]
            x[f, a], x[f, b] = x[f, b], x[f, a]
    return i


@jit
def goes_right(code: Whole, cut: Whole, bits: Ints, first: Whole) -> Whole:
    """Whether a code goes to the right child."""
    if first < 0:
        return code > cut
    return bool((bits[first + (code >> 6)] >> (code & 63)) & 1)


@jit
def enough_units(unit: Codes, low: Whole, high: Whole, stamp: Whole, seen: Codes, leaf: Whole) -> bool:
    """Whether the records come from at least so many units; they do where there are none."""
    if unit.shape[0] == 0:
        return True
    count = 0
    for i in range(low, high):
        if seen[unit[i]] != stamp:
            seen[unit[i]] = stamp
            count += 1
            if count >= leaf:
                return True
    return False
