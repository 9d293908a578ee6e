"""Sound local suppression of key cells: every released pattern, a blank being a value of its own, k times."""

from collections.abc import Callable

import numpy as np

from sdckit.kernels.suppression import tables as at
from sdckit.kernels.suppression.counts import group_rows, group_sizes
from sdckit.kernels.suppression.patterns import (
    Bools,
    Codes,
    Floats,
    Ints,
    Network,
    Table,
    make_network,
    missing_bits,
)
from sdckit.kernels.suppression.release import Release
from sdckit.kernels.suppression.search import search

Progress = Callable[[int, int], None]

MAX_KEYS = 62  # sets of keys are bits of an int64
WORK = 30_000_000  # visits of ruin and rebuild at effort 1, about 20 ns each
MOST_WORK, LEAST_WORK = 100_000, 2_500  # for each rare cell: small files need less, large ones more
WORK_SLICE = 2_000_000  # visits between two reports of progress
MAX_STEPS = 12  # how finely "cheap patterns first" is followed where sets have many different prices
NO_LIMIT = 1 << 31
SALTS = 3


class UnreachableError(ValueError):
    """`cells` cannot be released: fewer than k records agree with them on the keys that must stay."""

    def __init__(self, cells: Ints) -> None:
        self.cells = cells
        super().__init__("Fewer than k records agree on the keys that must not be suppressed.")


def suppress_cells(
    codes: Codes,
    counts: Ints,
    *,
    k: int,
    cost: Floats,
    effort: float = 1.0,
    progress: Progress | None = None,
) -> Release:
    """How to release every cell so that each pattern occurs at least k times, at small total cost.

    codes [c, q]: distinct rows of keys 0, 1, …, missing −1. counts [c]: their records. cost [q]: the price of
    suppressing one value of each key, infinite where it must stay (a stratum is such a key). A key missing
    from the start and a suppressed one look alike and count as the same value.

    A greedy choice of patterns, sweeps that open and close single ones, then ruin and rebuild for an amount
    of work set by `effort` (0: none) and not by the clock. Equal cells give an equal result, in any order.
    Patterns are told apart by 64-bit words in the search and counted again on the codes at the end.

    progress(done, total) is called now and then; what it raises stops the search.
    """
    if codes.shape[1] > MAX_KEYS:
        raise ValueError(f"{codes.shape[1]} keys, more than {MAX_KEYS}")
    stuck = np.flatnonzero(group_sizes(codes[:, np.isinf(cost)], counts) < k)
    if len(stuck):
        raise UnreachableError(stuck)
    order = np.lexsort(codes.T[::-1])  # the outcome must not follow the order of cells
    codes, counts = np.ascontiguousarray(codes[order]), counts[order]
    for salt in range(1, SALTS + 1):
        release = _search(codes, counts, k, cost, effort, progress or _ignore, salt)
        release = give_back(codes, release)
        # another word for each value is needed only where two patterns shared one
        if _is_sound(codes, counts, release, k):
            return Release(order[release.cell], release.blank, release.records)
    raise RuntimeError("local suppression did not reach k records in every pattern")


def _is_sound(codes: Codes, counts: Ints, release: Release, k: int) -> bool:
    """Whether every record is released, and no pattern occurs less than k times."""
    released = np.zeros(len(counts), np.int64)
    np.add.at(released, release.cell, release.records)
    smallest = group_sizes(release.codes(codes), release.records).min(initial=k)
    return bool((released == counts).all() and smallest >= k)


def _ignore(done: int, total: int) -> None:
    pass


def _search(
    codes: Codes, counts: Ints, k: int, cost: Floats, effort: float, progress: Progress, salt: int
) -> Release:
    if not (counts < k).any():
        return Release(np.arange(len(counts)), np.zeros(len(counts), np.int64), counts)
    network = make_network(codes, counts, k, cost, salt)
    slots = _solve(network, counts, k, effort, progress)
    used = np.flatnonzero(slots[at.RECORDS])
    cell = slots[at.CELL, used].astype(np.int64)
    touchable = sum(1 << j for j in range(codes.shape[1]) if np.isfinite(cost[j]))
    blank = network.blank[slots[at.PATTERN, used]] & ~missing_bits(codes, touchable)[cell]
    return Release(cell, blank, slots[at.RECORDS, used].astype(np.int64))


def _solve(network: Network, counts: Ints, k: int, effort: float, progress: Progress) -> Table:
    """The table of slots with the records released from each."""
    tables = at.first_tables(network, counts, k)
    state = tables.state
    rare = int(state[at.RARES])
    rounds = int(effort * min(max(WORK, LEAST_WORK * rare), MOST_WORK * rare))
    state[at.ROUND_WORK] = rounds
    limits = _limits(network.price)
    steps = 2 * len(limits) * len(network.price)
    first = rounds // 4 + 1  # what greedy choice and sweeps count for in the progress
    random = np.ones(1, np.uint64)
    progress(0, first + rounds)
    while state[at.PHASE] != at.DONE:
        search(tables, random, limits, int(state[at.WORK]) + WORK_SLICE)
        done = first + rounds
        if state[at.PHASE] == at.GREEDY:
            done = first * int(state[at.POSITION]) // steps
        elif state[at.PHASE] == at.SWEEPS:
            done = first // 2
        elif state[at.PHASE] == at.ROUNDS:
            done -= min(int(state[at.END] - state[at.WORK]), rounds)
        progress(done, first + rounds)
    return tables.slots


def _limits(prices: Table) -> Ints:
    """Prices per record placed up to which patterns are opened, one after the other."""
    steps = np.unique(prices)
    if len(steps) > MAX_STEPS:
        steps = np.unique(np.quantile(steps, np.linspace(0, 1, MAX_STEPS), method="higher"))
    limits = np.unique(np.concatenate([steps, (steps[1:] + steps[:-1]) // 2, [NO_LIMIT]])).astype(np.int64)
    return limits[limits > 0]


def give_back(codes: Codes, release: Release) -> Release:
    """Show a key again in every pattern whose records agree in it, until there is none."""
    while True:
        alike = hides_one_value(codes, release)
        if not alike.any():
            return release
        bits = np.int64(1) << np.arange(codes.shape[1], dtype=np.int64)
        release = release._replace(blank=release.blank & ~(alike @ bits))


def hides_one_value(codes: Codes, release: Release) -> Bools:
    """The suppressed keys [rows, q] in which all records of a pattern have the same value, none missing."""
    released = release.codes(codes)
    group = group_rows(released)
    found = np.zeros(released.shape, np.bool_)
    for j in range(codes.shape[1]):
        values = codes[release.cell, j]
        low = np.full(group.max(initial=-1) + 1, np.iinfo(np.int32).max)
        high = np.full(len(low), -1)
        np.minimum.at(low, group, values)
        np.maximum.at(high, group, values)
        found[:, j] = ((low == high) & (low >= 0))[group] & (released[:, j] < 0)
    return found
