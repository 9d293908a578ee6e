"""Which records are released as which pattern: greedy choice, sweeps, then ruin and rebuild.

Every pattern holds no record or at least k, before and after each step.
"""

from math import log

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import inner, jit
from sdckit.kernels.hash_table import mix
from sdckit.kernels.suppression.patterns import UNIT, Ints
from sdckit.kernels.suppression.tables import (
    BEST,
    BOUND,
    CELL,
    COST,
    DEAREST,
    DONE,
    END,
    FIRST,
    FOLLOWING,
    GREEDY,
    LEAST,
    LEFT,
    LENGTH,
    MEMBER,
    MEMBERS,
    OWN_PRICE,
    PATTERN,
    PHASE,
    POSITION,
    PRECEDING,
    PRICE,
    RARE,
    RARES,
    RECORDS,
    ROUND_WORK,
    ROUNDS,
    RUIN_COUNT,
    RUINED,
    SAVED,
    SLOT_HERE,
    STAMP,
    START,
    SWEEPS,
    TOTAL,
    UNPLACED,
    UNPLACED_PRICE,
    WORK,
    K,
    Tables,
)

NOWHERE = -1  # no pattern
MAX_RUIN = 6  # patterns taken apart at once
TEMPERATURE = 0.3  # times the price of the cheapest key, falling to 0
SKIPPED = 0.1  # of the choices when rebuilding, so that rounds differ


Random = npt.NDArray[np.uint64]
Whole = int | np.int64


@inner
def _uniform(random: Random) -> float:
    random[0] = mix(random[0])
    return np.float64(random[0] >> np.uint64(11)) / 9007199254740992.0


@inner
def _move(tables: Tables, a: Whole, b: Whole, n: Whole) -> None:
    """Move n records of a cell from slot a to slot b and note it; −1 − cell stands for "not placed"."""
    cells, patterns, slots, journal, state = tables
    if a < 0:
        cells[UNPLACED, -1 - a] -= n
        state[LEFT] -= n
        state[COST] -= n * UNPLACED_PRICE
    else:
        c, p = np.int64(slots[CELL, a]), np.int64(slots[PATTERN, a])
        slots[RECORDS, a] -= n
        patterns[TOTAL, p] -= n
        state[COST] -= n * np.int64(patterns[PRICE, p] - cells[OWN_PRICE, c])
        if slots[RECORDS, a] == 0:
            before, after = slots[PRECEDING, a], slots[FOLLOWING, a]
            if before < 0:
                patterns[FIRST, p] = after
            else:
                slots[FOLLOWING, before] = after
            if after >= 0:
                slots[PRECEDING, after] = before
            if cells[DEAREST, c] == a:
                s = a - 1
                while s >= cells[START, c] and slots[RECORDS, s] == 0:
                    s -= 1
                cells[DEAREST, c] = s if s >= cells[START, c] else -1
    if b < 0:
        cells[UNPLACED, -1 - b] += n
        state[LEFT] += n
        state[COST] += n * UNPLACED_PRICE
    else:
        c, p = np.int64(slots[CELL, b]), np.int64(slots[PATTERN, b])
        if slots[RECORDS, b] == 0:
            after = patterns[FIRST, p]
            slots[FOLLOWING, b], slots[PRECEDING, b] = after, -1
            if after >= 0:
                slots[PRECEDING, after] = b
            patterns[FIRST, p] = b
            if cells[DEAREST, c] < b:
                cells[DEAREST, c] = b
        slots[RECORDS, b] += n
        patterns[TOTAL, p] += n
        state[COST] += n * np.int64(patterns[PRICE, p] - cells[OWN_PRICE, c])
    at = state[LENGTH]
    journal[0, at], journal[1, at], journal[2, at] = a, b, n
    state[LENGTH] = at + 1


@inner
def _undo(tables: Tables, length: Whole) -> None:
    """Take moves back until only `length` of them are noted."""
    journal, state = tables.journal, tables.state
    while state[LENGTH] > length:
        at = state[LENGTH] - 1
        a, b, n = np.int64(journal[0, at]), np.int64(journal[1, at]), np.int64(journal[2, at])
        _move(tables, b, a, n)
        state[LENGTH] = at


@inner
def _cheapest(tables: Tables, c: Whole, but: Whole) -> Whole:
    """The cheapest slot of cell c in a pattern with k records, other than `but`; −1 − c if there is none."""
    cells, patterns, slots, _, state = tables
    for s in range(np.int64(cells[START, c]), np.int64(cells[START, c + 1])):
        p = slots[PATTERN, s]
        if patterns[TOTAL, p] >= state[K] and p != but:
            state[WORK] += s - cells[START, c]
            return s
    state[WORK] += cells[START, c + 1] - cells[START, c]
    return -1 - c


@inner
def _close(tables: Tables, old: Whole, new: Whole, most: Whole) -> tuple[Whole, Whole]:
    """What closing a pattern costs, and how many records go to `new`; done if it costs less than `most`.

    Every record goes to `new`, where its cell fits and that is no dearer, or to its cheapest other pattern.
    """
    cells, patterns, slots, _, state = tables
    for turn in range(2):
        loss, gained = np.int64(0), np.int64(0)
        s = np.int64(patterns[FIRST, old])
        while s >= 0:
            following = np.int64(slots[FOLLOWING, s])
            c, n = np.int64(slots[CELL, s]), np.int64(slots[RECORDS, s])
            to = _cheapest(tables, c, old)
            fits = new >= 0 and cells[STAMP, c] == new
            if fits and (to < 0 or patterns[PRICE, slots[PATTERN, to]] >= patterns[PRICE, new]):
                to = np.int64(cells[SLOT_HERE, c])
                gained += n
            if to < 0:
                return np.int64(UNPLACED_PRICE), np.int64(0)
            loss += n * np.int64(patterns[PRICE, slots[PATTERN, to]] - patterns[PRICE, old])
            if turn == 1:
                _move(tables, s, to, n)
            s = following
            state[WORK] += 1
        if loss >= most:
            break
    return loss, gained


@inner
def _borrow(tables: Tables, p: Whole, most: Whole) -> None:
    """Fill pattern p up to k with records of patterns that have more, the least extra price first.

    Stops where the total would exceed `most`.
    """
    cells, patterns, slots, _, state = tables
    k = state[K]
    while patterns[TOTAL, p] < k and state[COST] <= most:
        least = np.int64(UNPLACED_PRICE)
        for take in range(2):
            for i in range(patterns[MEMBERS, p], patterns[MEMBERS, p + 1]):
                s = np.int64(slots[MEMBER, i])
                c = np.int64(slots[CELL, s])
                t = np.int64(cells[DEAREST, c])
                state[WORK] += 1
                while t >= cells[START, c]:
                    q = np.int64(slots[PATTERN, t])
                    if slots[RECORDS, t] > 0 and q != p and patterns[TOTAL, q] > k:
                        extra = np.int64(patterns[PRICE, p] - patterns[PRICE, q])
                        if take == 0:
                            if extra < least:
                                least = extra
                        elif extra == least and patterns[TOTAL, p] < k:
                            n = min(
                                k - patterns[TOTAL, p], np.int64(slots[RECORDS, t]), patterns[TOTAL, q] - k
                            )
                            _move(tables, t, s, n)
                    t -= 1
            if least == UNPLACED_PRICE:
                return


@inner
def _annex(tables: Tables, p: Whole, most: Whole) -> None:
    """Fill pattern p up to k by closing other patterns, the least loss for a record gained first."""
    cells, patterns, slots, journal, state = tables
    k = state[K]
    while patterns[TOTAL, p] < k and state[COST] <= most and state[LENGTH] + 4 * k < journal.shape[1]:
        best, chosen = np.inf, np.int64(NOWHERE)
        for i in range(patterns[MEMBERS, p], patterns[MEMBERS, p + 1]):
            c = np.int64(slots[CELL, slots[MEMBER, i]])
            t = np.int64(cells[DEAREST, c])
            state[WORK] += 1
            while t >= cells[START, c]:
                q = np.int64(slots[PATTERN, t])
                if slots[RECORDS, t] > 0 and q != p and q != chosen:
                    loss, gained = _close(tables, q, p, np.int64(-UNPLACED_PRICE))
                    if gained > 0 and loss < best * gained:
                        best, chosen = loss / gained, q
                t -= 1
        if chosen < 0:
            return
        _close(tables, chosen, p, np.int64(UNPLACED_PRICE))


@inner
def _open(tables: Tables, p: Whole) -> bool:
    """Bring records to pattern p as long as the total falls; False, and nothing changed, if it does not."""
    cells, patterns, slots, journal, state = tables
    k, before, length = state[K], state[COST], state[LENGTH]
    for i in range(patterns[MEMBERS, p], patterns[MEMBERS, p + 1]):
        s = np.int64(slots[MEMBER, i])
        c = np.int64(slots[CELL, s])
        cells[SLOT_HERE, c], cells[STAMP, c] = s, p
        if cells[UNPLACED, c] > 0:
            _move(tables, -1 - c, s, np.int64(cells[UNPLACED, c]))
    state[WORK] += patterns[MEMBERS, p + 1] - patterns[MEMBERS, p]
    for i in range(patterns[MEMBERS, p], patterns[MEMBERS, p + 1]):
        s = np.int64(slots[MEMBER, i])
        c = np.int64(slots[CELL, s])
        t = np.int64(cells[DEAREST, c])
        while t > s and state[LENGTH] + 4 * k < journal.shape[1]:
            q = np.int64(slots[PATTERN, t])
            state[WORK] += 1
            if slots[RECORDS, t] > 0 and patterns[PRICE, q] > patterns[PRICE, p]:
                n = min(np.int64(slots[RECORDS, t]), patterns[TOTAL, q] - k)
                if n > 0:
                    _move(tables, t, s, n)
                if slots[RECORDS, t] > 0:
                    _close(tables, q, p, np.int64(0))
            t -= 1
    if state[COST] < before and patterns[TOTAL, p] < k:
        _borrow(tables, p, before)
        _annex(tables, p, before)
    if state[COST] >= before or 0 < patterns[TOTAL, p] < k:
        _undo(tables, length)
        return False
    return True


@inner
def _ruin(tables: Tables, random: Random) -> None:
    """Take a few neighbouring small patterns apart; lent records go home, the others are not placed."""
    cells, patterns, slots, _, state = tables
    k = state[K]
    c = np.int64(cells[RARE, int(_uniform(random) * state[RARES])])
    state[RUIN_COUNT] = 0
    wanted = 1 + int(_uniform(random) * MAX_RUIN)
    for _ in range(4 * wanted):
        s = np.int64(cells[DEAREST, c])
        state[WORK] += 1
        if s >= 0 and patterns[PRICE, slots[PATTERN, s]] > cells[OWN_PRICE, c]:
            p = np.int64(slots[PATTERN, s])
            if patterns[TOTAL, p] <= 4 * k:
                wanted -= 1
                s = np.int64(patterns[FIRST, p])
                while s >= 0:
                    following = np.int64(slots[FOLLOWING, s])
                    d = np.int64(slots[CELL, s])
                    home = np.int64(cells[START, d])
                    q = slots[PATTERN, home]
                    to = -1 - d
                    if home != s and patterns[PRICE, q] == cells[OWN_PRICE, d] and patterns[TOTAL, q] >= k:
                        to = home
                    elif cells[UNPLACED, d] == 0:
                        cells[RUINED, state[RUIN_COUNT]] = d
                        state[RUIN_COUNT] += 1
                    _move(tables, s, to, np.int64(slots[RECORDS, s]))
                    s = following
                    state[WORK] += 1
        if wanted <= 0:
            return
        if state[RUIN_COUNT] > 0:  # on from a cell already taken out, to one that it could meet
            c = np.int64(cells[RUINED, int(_uniform(random) * state[RUIN_COUNT])])
        u = _uniform(random)
        s = cells[START, c] + int(u * u * (cells[START, c + 1] - cells[START, c]))
        p = slots[PATTERN, s]
        i = patterns[MEMBERS, p] + int(_uniform(random) * (patterns[MEMBERS, p + 1] - patterns[MEMBERS, p]))
        c = np.int64(slots[CELL, slots[MEMBER, i]])


@inner
def _rebuild(tables: Tables, random: Random) -> None:
    """Place what was taken out, cell by cell in random order, each where its records cost least."""
    cells, patterns, slots, _, state = tables
    for i in range(state[RUIN_COUNT]):
        j = i + int(_uniform(random) * (state[RUIN_COUNT] - i))
        c = np.int64(cells[RUINED, j])
        cells[RUINED, j], cells[RUINED, i] = cells[RUINED, i], c
        if cells[UNPLACED, c] == 0:
            continue
        there = _cheapest(tables, c, np.int64(NOWHERE))
        best = np.inf if there < 0 else float(patterns[PRICE, slots[PATTERN, there]])
        chosen = np.int64(NOWHERE)
        end = np.int64(cells[START, c + 1]) if there < 0 else there
        for s in range(np.int64(cells[START, c]), end):
            p = np.int64(slots[PATTERN, s])
            if patterns[PRICE, p] >= best:
                break
            if _uniform(random) < SKIPPED:
                continue
            before, left, length = state[COST], state[LEFT], state[LENGTH]
            if _open(tables, p):
                placed = left - state[LEFT]
                each = (state[COST] - before) / placed + UNPLACED_PRICE + cells[OWN_PRICE, c]
                if each < best:
                    best, chosen = each, p
                _undo(tables, length)
        if chosen >= 0:
            _open(tables, chosen)
        elif there >= 0:
            _move(tables, -1 - c, there, np.int64(cells[UNPLACED, c]))
    for i in range(state[RUIN_COUNT]):
        c = np.int64(cells[RUINED, i])
        cheaper = np.int64(cells[START, c])
        while cheaper < cells[DEAREST, c]:
            _open(tables, np.int64(slots[PATTERN, cheaper]))
            cheaper += 1


@jit
def search(tables: Tables, random: Random, limits: Ints, until: int) -> None:
    """Go on until WORK reaches `until` or PHASE is DONE; to be called again and again."""
    _, patterns, _, journal, state = tables
    n = patterns.shape[1] - 1
    while state[PHASE] == GREEDY and state[WORK] < until:
        p = state[POSITION] % n
        limit = limits[state[POSITION] // n]
        before, left, length = state[COST], state[LEFT], state[LENGTH]
        if patterns[LEAST, p] <= limit and _open(tables, p):
            placed = left - state[LEFT]
            if state[COST] - before + placed * UNPLACED_PRICE > limit * placed:
                _undo(tables, length)
        state[LENGTH] = 0
        state[POSITION] += 1
        state[WORK] += 1
        if state[POSITION] == n * len(limits):
            state[PHASE], state[POSITION], state[SAVED] = SWEEPS, 0, state[COST]
    while state[PHASE] == SWEEPS and state[WORK] < until:
        p = state[POSITION] % n
        if state[POSITION] < n:
            _open(tables, p)
        elif patterns[TOTAL, p] > 0:
            _close(tables, p, np.int64(NOWHERE), np.int64(0))
        state[LENGTH] = 0
        state[POSITION] += 1
        state[WORK] += 1
        if state[POSITION] == 2 * n:
            state[POSITION] = 0
            if state[SAVED] - state[COST] <= UNIT:
                state[PHASE] = ROUNDS
                state[BEST] = state[COST]
                state[END] = state[WORK] + state[ROUND_WORK]
            state[SAVED] = state[COST]
    while state[PHASE] == ROUNDS and state[WORK] < until:
        if state[WORK] >= state[END] or state[COST] == state[BOUND]:
            _undo(tables, np.int64(0))
            state[PHASE] = DONE
            return
        if 2 * state[LENGTH] > journal.shape[1]:
            _undo(tables, np.int64(0))
        before, length = state[COST], state[LENGTH]
        _ruin(tables, random)
        _rebuild(tables, random)
        left = (state[END] - state[WORK]) / state[ROUND_WORK]
        heat = TEMPERATURE * UNIT * max(left, 0.0)
        if state[COST] - before > -heat * log(max(_uniform(random), 1e-300)):
            _undo(tables, length)
        elif state[COST] < state[BEST]:
            state[BEST], state[LENGTH] = state[COST], 0
        state[WORK] += 20
