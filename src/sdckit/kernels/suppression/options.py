"""For every violating record: the sets of columns worth suppressing, with their match counts at the start."""

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import jit
from sdckit.kernels.suppression.counts import Codes, Ints, Words, count_matches

Floats = npt.NDArray[np.float64]

# All sets of one size are tried before the next size; beyond this many sets a cheaper heuristic takes over.
MAX_SETS = 4096


class Keys(NamedTuple):
    """Distinct rows with what is needed to compare them."""

    codes: Codes
    words: Words
    masks: Ints
    weights: Ints


class Demand(NamedTuple):
    """What is asked: subset s (bit mask of columns) needs k[s] matches; cost inf = do not touch."""

    subsets: Ints
    k: Ints
    cost: Floats


class Options(NamedTuple):
    """Sets of row r: sets[start[r]:start[r + 1]], cheapest first; counts[:, s] = matches on subset s."""

    start: Ints
    sets: Ints
    price: Floats
    counts: Ints


def suppression_options(rows: Keys, cells: Keys, demand: Demand) -> Options:
    """List, per row, every set of columns no dearer than the cheapest one that makes the row safe at once.

    rows are the violating records, cells the distinct records of the whole file.
    """
    best = np.full(len(rows.masks), np.inf)
    chunks: list[tuple[Ints, int, float, Ints]] = []
    for columns, price in sets_by_size(demand.cost):
        mask = sum(1 << j for j in columns)
        at = np.flatnonzero((price <= best) & (rows.masks & mask == 0))
        if len(at) == 0:
            continue
        counts = _counts_with(rows, at, mask, cells, demand)
        safe = at[(counts >= demand.k).all(axis=1)]
        best[safe] = np.minimum(best[safe], price)
        chunks.append((at, mask, price, counts))
    hard = np.flatnonzero(np.isinf(best))
    for r in hard:
        mask = int(_nearest_set(rows.codes[r], cells.codes, cells.weights, demand))
        price = _price(mask, demand.cost)
        at = np.array([r])
        best[r] = price
        chunks.append((at, mask, price, _counts_with(rows, at, mask, cells, demand)))
    return _by_row(chunks, best, len(demand.k))


def _price(mask: int, cost: Floats) -> float:
    return float(sum(cost[j] for j in range(len(cost)) if mask >> j & 1))


def sets_by_size(cost: Floats) -> list[tuple[tuple[int, ...], float]]:
    """Non-empty sets of touchable columns, by size, as many whole sizes as MAX_SETS allows."""
    touchable = [j for j in range(len(cost)) if np.isfinite(cost[j])]
    found: list[tuple[tuple[int, ...], float]] = []
    for size in range(1, len(touchable) + 1):
        if len(found) + comb(len(touchable), size) > MAX_SETS and found:
            break
        sized = [(c, float(sum(cost[j] for j in c))) for c in combinations(touchable, size)]
        found += sorted(sized, key=lambda pair: pair[1])
    return found


def _counts_with(rows: Keys, at: Ints, mask: int, cells: Keys, demand: Demand) -> Ints:
    counts = np.empty((len(at), len(demand.k)), np.int64)
    for s, subset in enumerate(demand.subsets):
        counts[:, s] = count_matches(
            rows.words[at], rows.masks[at] | mask, cells.words, cells.masks, cells.weights, subset
        )
    return counts


def _by_row(chunks: list[tuple[Ints, int, float, Ints]], best: Floats, n_subsets: int) -> Options:
    row = np.concatenate([at for at, *_ in chunks])
    sizes = [len(at) for at, *_ in chunks]
    sets = np.repeat(np.array([mask for _, mask, _, _ in chunks], np.int64), sizes)
    price = np.repeat(np.array([price for _, _, price, _ in chunks]), sizes)
    counts = np.concatenate([counts for *_, counts in chunks]).reshape(-1, n_subsets)
    wanted = np.flatnonzero(price <= best[row])
    order = wanted[np.lexsort((sets[wanted], price[wanted], row[wanted]))]
    start = np.searchsorted(row[order], np.arange(len(best) + 1))
    return Options(start.astype(np.int64), sets[order], price[order], counts[order])


@jit
def _nearest_set(row: Codes, codes: Codes, weights: Ints, demand: Demand) -> int:
    """Union of the columns that keep the row apart from the k records cheapest to reach, per subset."""
    chosen = 0
    n, q = codes.shape
    for s in range(len(demand.k)):
        taken = np.zeros(n, np.bool_)
        found = 0
        while found < demand.k[s]:
            best = np.inf
            best_cell = -1
            best_set = 0
            for c in range(n):
                if taken[c]:
                    continue
                extra = 0.0
                differs = 0
                for j in range(q):
                    apart = row[j] >= 0 and codes[c, j] >= 0 and row[j] != codes[c, j]
                    if apart and (demand.subsets[s] >> j) & 1 and not (chosen >> j) & 1:
                        extra += demand.cost[j]
                        differs |= 1 << j
                if extra < best:
                    best, best_cell, best_set = extra, c, differs
            taken[best_cell] = True
            found += weights[best_cell]
            chosen |= best_set
    return chosen
