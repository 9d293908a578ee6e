"""The state of the search in a few tables, one row a quantity: cheap to compile, half the memory."""

from typing import NamedTuple

import numpy as np

from sdckit.kernels.suppression.patterns import Ints, Network, Table

# rows of the table of cells; a column for each cell
START, OWN_PRICE, UNPLACED, DEAREST, SLOT_HERE, STAMP, RARE, RUINED = range(8)
# rows of the table of patterns
MEMBERS, PRICE, LEAST, TOTAL, FIRST = range(5)
# rows of the table of slots: MEMBER lists those of each pattern, FOLLOWING and PRECEDING link the occupied
CELL, PATTERN, MEMBER, RECORDS, FOLLOWING, PRECEDING = range(6)
# the state
K, COST, LEFT, WORK, LENGTH, PHASE, POSITION, ROUND_WORK = range(8)
BEST, RARES, RUIN_COUNT, BOUND, SAVED, END, STATE_SIZE = range(8, 15)
# its phases
GREEDY, SWEEPS, ROUNDS, DONE = range(4)

UNPLACED_PRICE = 1 << 38  # of a record that is nowhere yet


class Tables(NamedTuple):
    """The tables with the rows named above, and the moves made since the best state: from, to, records."""

    cells: Table
    patterns: Table
    slots: Table
    journal: Table
    state: Ints


def first_tables(network: Network, counts: Ints, k: int) -> Tables:
    """Large cells released as they are, records of rare cells nowhere yet."""
    n, n_patterns = len(counts), len(network.price)
    cells = np.zeros((8, n + 1), np.int32)
    cells[START], cells[OWN_PRICE, :n] = network.start, network.own_price
    rare = np.flatnonzero(counts < k)
    cells[UNPLACED, rare] = counts[rare]
    cells[RARE, : len(rare)] = rare
    cells[STAMP], cells[DEAREST] = -1, -1
    patterns = np.zeros((5, n_patterns + 1), np.int32)
    patterns[MEMBERS], patterns[PRICE, :-1], patterns[FIRST] = network.pattern_start, network.price, -1
    slots = np.zeros((6, len(network.pattern)), np.int32)
    slots[CELL] = np.repeat(np.arange(n, dtype=np.int32), np.diff(network.start))
    slots[PATTERN], slots[MEMBER] = network.pattern, network.members
    own = cells[OWN_PRICE, slots[CELL, network.members]]
    patterns[LEAST, :-1] = network.price - np.maximum.reduceat(own, network.pattern_start[:-1])
    slots[FOLLOWING], slots[PRECEDING] = -1, -1
    large = np.flatnonzero(counts >= k)
    own = network.start[large]
    slots[RECORDS, own] = counts[large]
    patterns[TOTAL, network.pattern[own]] = counts[large]
    patterns[FIRST, network.pattern[own]] = own
    cells[DEAREST, large] = own
    state = np.zeros(STATE_SIZE, np.int64)
    state[K], state[RARES], state[LEFT] = k, len(rare), counts[rare].sum()
    state[COST] = state[LEFT] * UNPLACED_PRICE
    least = network.price[network.pattern[network.start[rare]]] - network.own_price[rare]
    state[BOUND] = (counts[rare] * least).sum()  # every rare record pays for its cheapest slot at least
    journal = np.zeros((3, max(1 << 18, 8 * n) + 8 * k), np.int32)
    return Tables(cells, patterns, slots, journal, state)
