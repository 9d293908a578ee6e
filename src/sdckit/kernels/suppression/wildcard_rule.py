"""Local suppression: make keys k-anonymous by setting as few cells as possible to missing."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from sdckit.errors import DataError
from sdckit.kernels.suppression.category import suppress_by_category
from sdckit.kernels.suppression.counts import (
    Codes,
    Ints,
    cell_words,
    count_matches,
    distinct_rows,
    missing_masks,
)
from sdckit.kernels.suppression.neighbours import find_neighbours
from sdckit.kernels.suppression.options import Demand, Floats, Keys, suppression_options
from sdckit.kernels.suppression.search import Problem, State, first_state, greedy, improve, trim
from sdckit.kernels.wildcard import wildcard_counts

Mask = npt.NDArray[np.bool_]

MAX_KEYS = 62  # sets of columns are bits of an int64
# Neighbour visits (about 8 ns each) spent on improving the greedy solution, and between two progress reports
WORK = 40_000_000
WORK_SLICE = 5_000_000


class UnreachableError(DataError):
    """Some records cannot get k matches whatever is suppressed; `records` holds their row numbers."""

    def __init__(self, records: Ints) -> None:
        self.records = records
        super().__init__(
            "Some records cannot become k-anonymous: too few others agree on the columns that must stay.",
            given=f"{len(records)} such records, first row {records[0]}",
            hint="Lower k, allow suppression in more keys, or merge small groups first.",
        )


def importance_costs(ranks: npt.ArrayLike) -> Floats:
    """Cost per suppressed cell from ranks of importance, 1 = most important = suppressed last.

    The least important key costs 1 and each step up in importance doubles the cost (equal ranks, equal cost):
    a cell is given up only where that saves more than two cells of the next less important key.
    """
    _, step = np.unique(-np.asarray(ranks, dtype=np.float64), return_inverse=True)
    return np.exp2(step.astype(np.float64))


def suppress_cells(
    codes: Codes,
    *,
    k: int | Sequence[int],
    cost: Floats,
    rule: Literal["wildcard", "category"] = "wildcard",
    subsets: Sequence[Sequence[int]] | None = None,
    effort: float = 1.0,
    progress: Callable[[int], None] | None = None,
) -> Mask:
    """Cells [n, q] to set missing so that every record has at least k matches, at small total cost.

    codes [n, q]: key values 0, 1, …, -1 = missing. cost [q]: price of one cell of each key, inf = never
    suppress (a stratum is a key with infinite cost). A record matches itself.

    rule "wildcard": a missing value matches any value, both ways. subsets: sets of columns that must each be
    k-anonymous (default: all columns together), with one k for all or one each. rule "category": missing is a
    value of its own, so that groups of equal rows must have size k; all columns together only.

    Only records below k are touched under "wildcard", and one loses cells only when it needs matches itself
    and no smaller set of cells would do. The bare minimum without that condition is no protection: k - 1
    records with every key missing match everybody. Greedy choice by help per cost, then ruin and repair for
    an amount of work set by `effort` (0 = greedy only) and not by the clock: equal input, equal result, and
    the order of rows does not matter. The result is counted again, exactly, before it is returned.

    progress is called now and then with the number of records still below k.
    UnreachableError names the records for which no suppression helps.
    """
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    q = codes.shape[1]
    if q > MAX_KEYS:
        raise DataError("Too many keys for local suppression.", given=q, allowed=f"up to {MAX_KEYS}")
    if rule == "category":
        if subsets is not None or not isinstance(k, int):
            raise DataError("Subsets of keys need the wildcard rule.", given=rule, allowed="wildcard")
        blocked = _too_few_alike(codes[:, np.isinf(cost)], k)
        if len(blocked):
            raise UnreachableError(blocked)
        return suppress_by_category(codes, k, cost, progress)
    demand = _demand(k, cost, [range(q)] if subsets is None else subsets)
    current = codes.copy()
    for salt in range(1, 4):
        current[_search(current, demand, effort, progress, salt)] = -1
        # a second round is needed only after a collision of 64-bit fingerprints
        if _is_anonymous(current, demand):
            return (current < 0) & (codes >= 0)
    raise RuntimeError("local suppression did not reach k-anonymity")


def _too_few_alike(codes: Codes, k: int) -> Ints:
    _, group = distinct_rows(codes)
    return np.flatnonzero(np.bincount(group)[group] < k)


def _demand(k: int | Sequence[int], cost: Floats, subsets: Sequence[Sequence[int]]) -> Demand:
    """Drop subsets implied by another: k matches on some columns are k matches on any part of them."""
    ks = np.broadcast_to(np.asarray(k, dtype=np.int64), (len(subsets),))
    masks = [sum(1 << int(j) for j in set(subset)) for subset in subsets]
    kept: list[tuple[int, int]] = []
    for mask, need in sorted(
        zip(masks, ks.tolist(), strict=True), key=lambda s: (-s[0].bit_count(), -s[1], s[0])
    ):
        if not any(mask & ~other == 0 and need <= most for other, most in kept):
            kept.append((mask, need))
    return Demand(
        np.array([mask for mask, _ in kept], np.int64),
        np.array([need for _, need in kept], np.int64),
        np.asarray(cost, dtype=np.float64),
    )


def _keys(codes: Codes, weights: Ints, salt: int) -> Keys:
    return Keys(codes, cell_words(codes, salt), missing_masks(codes), weights)


def _counts(rows: Keys, cells: Keys, demand: Demand, extra: int = 0) -> Ints:
    """Matches [rows, subsets] with the columns in `extra` taken as missing in the row."""
    columns = [
        count_matches(rows.words, rows.masks | extra, cells.words, cells.masks, cells.weights, int(s))
        for s in demand.subsets
    ]
    return np.stack(columns, axis=1)


def _search(
    codes: Codes, demand: Demand, effort: float, progress: Callable[[int], None] | None, salt: int
) -> Mask:
    mask = np.zeros(codes.shape, np.bool_)
    first, group = distinct_rows(codes)
    # rows with the same missing pattern next to each other, for count_matches
    order = np.argsort(missing_masks(codes[first]), kind="stable")
    first, group = first[order], np.argsort(order)[group]
    cells = _keys(codes[first], np.bincount(group, minlength=len(first)), salt)
    counts = _counts(cells, cells, demand)
    records = np.flatnonzero(np.any(counts < demand.k, axis=1)[group])
    if len(records) == 0:
        return mask
    # sorted by value: the outcome must not follow the order of rows
    records = records[np.lexsort((*codes[records].T, missing_masks(codes[records])))]
    rows = _keys(codes[records], np.ones(len(records), np.int64), salt)
    touchable = sum(1 << j for j in range(codes.shape[1]) if np.isfinite(demand.cost[j]))
    blocked = np.any(_counts(rows, cells, demand, touchable) < demand.k, axis=1)
    if blocked.any():
        raise UnreachableError(np.sort(records[blocked]))
    problem = _problem(rows, cells, demand, counts[group[records]])
    state = _solve(problem, effort, progress or (lambda _: None))
    bits = np.arange(codes.shape[1], dtype=np.int64)
    mask[records] = (state.mask[:, None] >> bits) & 1
    return mask


def _problem(rows: Keys, cells: Keys, demand: Demand, initial: Ints) -> Problem:
    options = suppression_options(rows, cells, demand)
    owner = np.repeat(np.arange(len(initial)), np.diff(options.start))
    safe = (options.counts >= demand.k).all(axis=1)
    price = np.full(len(initial), np.inf)
    np.minimum.at(price, owner[safe], options.price[safe])
    lacking = np.maximum(0, demand.k - initial).sum(axis=1)
    return Problem(options, find_neighbours(rows, demand), demand, initial, price / lacking)


def _solve(problem: Problem, effort: float, progress: Callable[[int], None]) -> State:
    state = first_state(problem)
    while state.size[0]:
        progress(int(state.size[0]))
        greedy(problem, state, 4 * WORK_SLICE)
    dearest_first = np.argsort(-problem.options.price[state.chosen], kind="stable")
    trim(problem, state, dearest_first)
    progress(0)
    end = state.work[0] + int(WORK * effort)
    while state.work[0] < end and state.cost[0] > 0:
        improve(problem, state, min(end, state.work[0] + WORK_SLICE))
        progress(0)
    return state


def _is_anonymous(codes: Codes, demand: Demand) -> bool:
    for subset, k in zip(demand.subsets, demand.k, strict=True):
        part = np.ascontiguousarray(codes[:, [j for j in range(codes.shape[1]) if subset >> j & 1]])
        first, group = distinct_rows(part)
        records = np.bincount(group, minlength=len(first)).astype(np.float64)
        if len(first) and wildcard_counts(part[first], records, records)[0].min() < k - 0.5:
            return False
    return True
