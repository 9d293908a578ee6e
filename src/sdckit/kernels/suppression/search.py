"""Choose which violating records lose which cells: greedy choice, then ruin-and-repair improvement.

Only violating records are touched, and a record is given a set of columns only when it violates, the set
makes it safe and no smaller set would. The match counts kept here are lower bounds (`find_neighbours`): a
state without needy records is valid.
"""

import heapq
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import jit
from sdckit.kernels.suppression.counts import Ints, Words, mix
from sdckit.kernels.suppression.neighbours import Neighbours
from sdckit.kernels.suppression.options import Demand, Floats, Options

MAX_RUIN = 20  # rows whose suppressions are taken back at once
NOISE = 0.3  # scores vary by up to this share while repairing, so that repeated repairs differ
FIXED_WORK = 4000  # what a round costs besides visiting neighbours, in visits
UNLIMITED = 1 << 60


class Problem(NamedTuple):
    """What does not change during the search; initial[r, s] = matches of row r on subset s at the start."""

    options: Options
    near: Neighbours
    demand: Demand
    initial: Ints
    worth: Floats  # price of making the row safe on its own, per missing match


class State(NamedTuple):
    """What changes; chosen[r] = option of row r or -1; the first size[0] entries of `needy` still violate."""

    chosen: Ints
    mask: Ints  # columns of the chosen option
    matches: Ints
    needy: Ints
    place: Ints  # position in needy, or -1
    size: Ints
    cost: Floats
    work: Ints  # neighbours visited so far, for each subset
    random: Words
    reach: Ints  # work space, one row per option
    gain: Floats
    fit: npt.NDArray[np.bool_]


def first_state(problem: Problem) -> State:
    """Nothing suppressed: all rows are needy."""
    n, n_subsets = problem.initial.shape
    widest = int(np.diff(problem.options.start).max())
    return State(
        chosen=np.full(n, -1, np.int64),
        mask=np.zeros(n, np.int64),
        matches=problem.initial.copy(),
        needy=np.arange(n, dtype=np.int64),
        place=np.arange(n, dtype=np.int64),
        size=np.full(1, n, np.int64),
        cost=np.zeros(1),
        work=np.zeros(1, np.int64),
        random=np.ones(1, np.uint64),
        reach=np.empty((widest, n_subsets), np.int64),
        gain=np.empty(widest),
        fit=np.empty(widest, np.bool_),
    )


@jit
def _uniform(state: State) -> float:
    state.random[0] = mix(state.random[0])
    return np.float64(state.random[0] >> np.uint64(11)) / 9007199254740992.0


@jit
def _note_need(problem: Problem, state: State, r: int) -> None:
    """Put row r on or take it off the list of needy rows."""
    needy = False
    for s in range(state.matches.shape[1]):
        needy |= state.matches[r, s] < problem.demand.k[s]
    if needy and state.place[r] < 0:
        state.place[r] = state.size[0]
        state.needy[state.size[0]] = r
        state.size[0] += 1
    elif not needy and state.place[r] >= 0:
        last = state.needy[state.size[0] - 1]
        state.needy[state.place[r]] = last
        state.place[last] = state.place[r]
        state.place[r] = -1
        state.size[0] -= 1


@jit
def _choose(problem: Problem, state: State, r: int, option: int) -> None:
    """Give row r the set of columns of `option` (-1: none) and bring all counts up to date."""
    near, subsets = problem.near, problem.demand.subsets
    old, n_subsets = state.mask[r], len(subsets)
    state.cost[0] -= problem.options.price[state.chosen[r]] if state.chosen[r] >= 0 else 0.0
    state.chosen[r] = option
    state.cost[0] += problem.options.price[option] if option >= 0 else 0.0
    new = problem.options.sets[option] if option >= 0 else 0
    state.mask[r] = new
    for s in range(n_subsets):
        state.matches[r, s] = problem.options.counts[option, s] if option >= 0 else problem.initial[r, s]
    state.work[0] += (near.start[r + 1] - near.start[r]) * n_subsets
    for p in range(near.start[r], near.start[r + 1]):
        u = near.other[p]
        theirs = state.mask[u]
        changed = False
        for s in range(n_subsets):
            apart = near.apart[p] & subsets[s]
            if apart == 0:
                continue
            before, after = apart & ~(old | theirs) == 0, apart & ~(new | theirs) == 0
            # the option's own count holds the records reached by `new` alone
            if after and apart & ~new:
                state.matches[r, s] += 1
            if before != after:
                state.matches[u, s] += 1 if after else -1
                changed = True
        if changed:
            _note_need(problem, state, u)
    _note_need(problem, state, r)


@jit
def _weigh_options(problem: Problem, state: State, r: int) -> None:
    """Fill reach (matches of row r) and gain (worth of the matches others get) for each option of row r."""
    near, demand, options = problem.near, problem.demand, problem.options
    first, n_options = options.start[r], options.start[r + 1] - options.start[r]
    for o in range(n_options):
        state.gain[o] = 0.0
        for s in range(len(demand.k)):
            state.reach[o, s] = options.counts[first + o, s]
    state.work[0] += (near.start[r + 1] - near.start[r]) * len(demand.k)
    for p in range(near.start[r], near.start[r + 1]):
        u = near.other[p]
        theirs, needy = state.mask[u], state.place[u] >= 0
        if theirs == 0 and not needy:
            continue
        for s in range(len(demand.k)):
            apart = near.apart[p] & demand.subsets[s]
            left = apart & ~theirs
            wanting = needy and left != 0 and state.matches[u, s] < demand.k[s]
            if apart == 0 or (theirs == 0 and not wanting):
                continue
            for o in range(n_options):
                new = options.sets[first + o]
                if left & ~new == 0:
                    if apart & ~new:
                        state.reach[o, s] += 1
                    if wanting:
                        state.gain[o] += problem.worth[u]


@jit
def _best_option(problem: Problem, state: State, r: int) -> tuple[float, int]:
    """Worth of the matches provided, per price: the best of the smallest sets that make row r safe."""
    options, k = problem.options, problem.demand.k
    _weigh_options(problem, state, r)
    own = 0.0
    for s in range(len(k)):
        own += problem.worth[r] * max(0, k[s] - state.matches[r, s])
    best, best_option, first = -1.0, -1, options.start[r]
    for o in range(options.start[r + 1] - first):
        fit = True
        for s in range(len(k)):
            fit &= state.reach[o, s] >= k[s]
        state.fit[o] = fit
        for earlier in range(o):
            if fit and state.fit[earlier] and options.sets[first + earlier] & ~options.sets[first + o] == 0:
                fit = False
        if fit:
            score = (own + state.gain[o]) / options.price[first + o]
            if score > best:
                best, best_option = score, first + o
    return best, best_option


@jit
def _release_needy(problem: Problem, state: State, log: list[tuple[int, int]]) -> None:
    """Needy rows that already lost cells start afresh, so that a repair only ever adds matches."""
    i = 0
    while i < state.size[0]:
        r = state.needy[i]
        if state.chosen[r] >= 0:
            log.append((r, state.chosen[r]))
            _choose(problem, state, r, -1)
            i = 0
        else:
            i += 1


@jit
def _repair(problem: Problem, state: State, noise: float, log: list[tuple[int, int]], most: int) -> None:
    """Make needy rows safe, most help per price first; the old option of each touched row goes to `log`.

    Stops early, with rows still needy, after `most` work.
    """
    _release_needy(problem, state, log)
    heap = [(0.0, 0)]
    heap.clear()
    for i in range(state.size[0]):
        r = state.needy[i]
        score, _ = _best_option(problem, state, r)
        heap.append((-score * (1.0 + noise * _uniform(state)), r))
    heapq.heapify(heap)
    end = state.work[0] + most
    while len(heap) > 0 and state.work[0] < end:
        _, r = heapq.heappop(heap)
        if state.place[r] < 0:
            continue
        score, option = _best_option(problem, state, r)
        score *= 1.0 + noise * _uniform(state)
        # scores mostly fall as others become safe: the stored one is stale unless it still leads
        if len(heap) > 0 and -score > heap[0][0] + 1e-12:
            heapq.heappush(heap, (-score, r))
            continue
        log.append((r, state.chosen[r]))
        _choose(problem, state, r, option)


@jit
def greedy(problem: Problem, state: State, most: int) -> None:
    """Make needy rows safe until none is left or `most` work is done."""
    log = [(0, -1)]
    log.clear()
    _repair(problem, state, 0.0, log, most)


@jit
def _trim(problem: Problem, state: State, r: int, log: list[tuple[int, int]]) -> None:
    """Give row r back whatever cells nobody needs any more, dearest set first."""
    options = problem.options
    mine = state.chosen[r]
    if mine < 0:
        return
    _choose(problem, state, r, -1)
    if state.size[0] == 0:
        log.append((r, mine))
        return
    for option in range(options.start[r], mine):
        if options.sets[option] & ~options.sets[mine] == 0:
            _choose(problem, state, r, option)
            if state.size[0] == 0:
                log.append((r, mine))
                return
    _choose(problem, state, r, mine)


@jit
def trim(problem: Problem, state: State, rows: Ints) -> None:
    """Give back unneeded cells, row by row in the order given."""
    log = [(0, -1)]
    for r in rows:
        _trim(problem, state, r, log)


@jit
def improve(problem: Problem, state: State, end: int) -> None:
    """Take back the suppressions of a few neighbouring rows and repair; undone where that costs more."""
    n, near = len(state.chosen), problem.near
    while state.work[0] < end and state.cost[0] > 0.0:
        r = int(_uniform(state) * n)
        while state.chosen[r] < 0:
            r = int(_uniform(state) * n)
        before = state.cost[0]
        log = [(r, int(state.chosen[r]))]
        _choose(problem, state, r, -1)
        degree = near.start[r + 1] - near.start[r]
        wanted = int(_uniform(state) * MAX_RUIN)
        for _ in range(3 * wanted if degree > 0 else 0):
            u = near.other[near.start[r] + int(_uniform(state) * degree)]
            if state.chosen[u] >= 0 and len(log) <= wanted:
                log.append((u, state.chosen[u]))
                _choose(problem, state, u, -1)
        _repair(problem, state, NOISE, log, end + UNLIMITED)
        for i in range(len(log)):
            _trim(problem, state, log[i][0], log)
        state.work[0] += FIXED_WORK
        if state.cost[0] > before + 1e-9:
            for i in range(len(log) - 1, -1, -1):
                _choose(problem, state, log[i][0], log[i][1])
