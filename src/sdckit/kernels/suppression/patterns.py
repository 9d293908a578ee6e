"""Cells, the blank sets open to them, and the patterns in which they meet.

A cell is a distinct row of keys. Blanking a set of its keys makes it a pattern, in which it meets other
cells. A slot is one (cell, pattern) pair: records of the cell released as this pattern.
"""

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Table = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

ALL_SETS_KEYS = 8  # every blank set is tried up to this many keys
MAX_SETS = 400  # beyond them: sets that blank few keys or keep few
MAX_SLOTS = 20_000_000  # about 40 bytes each
MAX_OWN_SETS = 1024
UNIT = 1024  # prices are whole numbers: the cheapest key costs this much
DEAREST = 1 << 24  # and no key more than this, so that sums fit in 32 bits


class Network(NamedTuple):
    """Cells and patterns as the two sides of a graph.

    start [c + 1]: slots of cell c are start[c] to start[c + 1], cheapest first. pattern [s]: where a slot
    leads. pattern_start [p + 1], members [s]: the slots that lead to a pattern. price [p]: of blanking all
    its keys in a complete cell; own_price [c]: what a cell need not pay, as these keys are missing in it
    already. blank [p]: the blank keys as bits.
    """

    start: Table
    pattern: Table
    pattern_start: Table
    members: Table
    price: Table
    own_price: Table
    blank: Ints


def whole_prices(cost: Floats) -> Ints:
    """Prices of keys as whole numbers; keys that must stay (infinite cost) have 0."""
    finite = np.isfinite(cost)
    cheapest = cost[finite].min(initial=np.inf)
    scaled = np.where(finite, cost, 0.0) / (cheapest if np.isfinite(cheapest) else 1.0) * UNIT
    return np.minimum(np.rint(scaled), DEAREST).astype(np.int64)


def missing_bits(codes: Codes, touchable: int) -> Ints:
    """The touchable keys missing in each cell, as bits."""
    bits = np.int64(1) << np.arange(codes.shape[1], dtype=np.int64)
    return np.asarray(((codes < 0) @ bits) & touchable)


def value_words(largest: Ints, salt: int) -> list[Words]:
    """A random word for each value of each key; the first is the word of a blank.

    Sums of words stand for patterns. Two different patterns share one with a chance of about patterns² / 2⁶⁵;
    the result is counted again on the values.
    """
    draw = np.random.Generator(np.random.PCG64(salt))
    return [draw.integers(0, 1 << 64, int(top) + 2, dtype=np.uint64) for top in largest]


def make_network(codes: Codes, counts: Ints, k: int, cost: Floats, salt: int) -> Network:
    """The network of distinct cells codes [c, q], missing −1, with counts [c] of records.

    Only patterns are kept that hold at least k records if all that fit go there, and that some rare cell can
    reach; and the pattern every large cell has anyway. Where all sets are tried, a pattern is left out if all
    cells that fit agree in a blanked key: the one that shows it has the same cells and costs less.
    """
    n, q = codes.shape
    touchable = sum(1 << j for j in range(q) if np.isfinite(cost[j]))
    prices = whole_prices(cost)
    missing = missing_bits(codes, touchable)
    masks, group = np.unique(missing, return_inverse=True)
    words = value_words(codes.max(axis=0, initial=-1).astype(np.int64), salt)
    shown = np.stack([words[j][codes[:, j] + 1] for j in range(q)])
    rare = counts < k
    few = _few(touchable, n)
    found: list[tuple[Table, Ints, int]] = []
    for blank in _blank_sets(masks, touchable, prices, few):
        fits = (masks & ~blank == 0) & (
            (_bit_count(blank & ~masks) <= few) | (int(touchable & ~blank).bit_count() <= few)
        )
        cells = np.flatnonzero(fits[group])
        if len(cells) == 0:
            continue
        keep = [j for j in range(q) if not blank >> j & 1]
        gone = [j for j in range(q) if blank >> j & 1]
        prints = shown[keep][:, cells].sum(axis=0, dtype=np.uint64)
        order = np.argsort(prints, kind="stable")
        cells, prints = cells[order], prints[order]
        first = np.concatenate(([0], np.flatnonzero(prints[1:] != prints[:-1]) + 1))
        useful = np.add.reduceat(counts[cells], first) >= k
        useful &= np.logical_or.reduceat(rare[cells], first)
        for j in gone if few == touchable.bit_count() else ():
            values = codes[cells, j]
            low = np.minimum.reduceat(values, first)
            useful &= (low < 0) | (low != np.maximum.reduceat(values, first))
        useful |= np.logical_or.reduceat((missing[cells] == blank) & ~rare[cells], first)
        size = np.diff(np.append(first, len(cells)))
        found.append((cells[np.repeat(useful, size)].astype(np.int32), size[useful], blank))
    return _laid_out(found, n, prices, missing)


def _laid_out(found: list[tuple[Table, Ints, int]], n: int, prices: Ints, missing: Ints) -> Network:
    """Slots in the order of cells, and for every pattern the list of its slots."""
    start = np.zeros(n + 1, np.int64)
    for cells, _, _ in found:
        start[cells + 1] += 1
    start = np.cumsum(start)
    sizes = np.concatenate([size for _, size, _ in found]) if found else np.zeros(0, np.int64)
    pattern_start = np.concatenate(([0], np.cumsum(sizes)))
    pattern = np.empty(start[-1], np.int32)
    members = np.empty(start[-1], np.int32)
    at, done, patterns = start[:-1].copy(), 0, 0
    for cells, size, _ in found:  # sets come cheapest first, so slots of a cell do, too
        here = at[cells]
        pattern[here] = np.repeat(np.arange(patterns, patterns + len(size), dtype=np.int32), size)
        members[done : done + len(cells)] = here
        at[cells] += 1
        done += len(cells)
        patterns += len(size)
    blank = np.repeat(np.array([b for _, _, b in found], np.int64), [len(size) for _, size, _ in found])
    return Network(
        start.astype(np.int32),
        pattern,
        pattern_start.astype(np.int32),
        members,
        _price(blank, prices).astype(np.int32),
        _price(missing, prices).astype(np.int32),
        blank,
    )


def _price(sets: Ints, prices: Ints) -> Ints:
    total = np.zeros(len(sets), np.int64)
    for j, price in enumerate(prices):
        total += (sets >> j & 1) * price
    return total


def _few(touchable: int, cells: int) -> int:
    """How many keys may at most be blanked, or at most be kept; all keys where there is room for all sets."""
    keys = touchable.bit_count()
    if keys <= ALL_SETS_KEYS and cells << keys <= MAX_SLOTS:
        return keys
    few = 1
    while 2 * few + 1 < keys:
        sets = 2 * _sets_up_to(keys, few + 1)
        if sets > MAX_SETS or sets * cells > MAX_SLOTS:
            break
        few += 1
    return few


def _sets_up_to(keys: int, size: int) -> int:
    return sum(comb(keys, s) for s in range(size + 1))


def _bit_count(sets: Ints) -> Ints:
    count = np.zeros(len(sets), np.int64)
    for j in range(63):
        count += sets >> j & 1
    return count


def _blank_sets(masks: Ints, touchable: int, prices: Ints, few: int) -> list[int]:
    """The sets of keys that a pattern may have blank, cheapest first."""
    bits = [1 << j for j in range(len(prices)) if touchable >> j & 1]
    small = [sum(s) for size in range(min(few, len(bits)) + 1) for s in combinations(bits, size)]
    found = {touchable & ~s for s in small} | set(masks.tolist())
    for mask in masks.tolist():
        if len(found) > MAX_OWN_SETS and few < len(bits):
            break
        found |= {mask | s for s in small}
    whole = [int(p) for p in prices]
    return sorted(found, key=lambda b: (sum(whole[j] for j in range(len(whole)) if b >> j & 1), b))
