"""Which released records an intruder takes for a person's: by shares, by likelihood, by distance.

With L_ij the likelihood that person i's values become record j's and U_j its sum over all persons, the share is
L_ij/U_j, and the odds L_ij/(U_j − L_ij). U_j is dear, so it is computed only for contenders: a share is never
above L_ij/(L_ij + L_jj), where L_jj is what the persons behind the record contribute to U_j. Records whose bound
is below the best share so far are passed over, and what was found is still exact.
"""

import math

import numpy as np

from sdckit.kernels._jit import jit
from sdckit.kernels.linked.likelihood import distance, numbers_likelihood, pair_likelihood
from sdckit.kernels.linked.tables import Files, Floats, Ints, State
from sdckit.kernels.linked.totals import total_of, weight_in_total

TIE = 1e-8  # relative; records as good as the best
FLOOR = 1e-12  # of the others, relative to the total: odds stay finite
GOLDEN = 0.6180339887498949
REST = 5  # records that stand for all that were not looked at
LEAST = 30  # contenders that are looked at in any case
# columns of the result
FOUND, RECORDS, WEIGHT, BELIEVED, POSTERIOR, OPEN, LOOKED = 0, 1, 2, 3, 4, 5, 6
LIKELIHOOD, NEAREST = 7, 10  # the first of three columns each: found, records, weight
COLUMNS = 13


@jit
def _block_of(files: Files, cell: int) -> int:
    low, high = 0, files.cells.block.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if files.cells.block[middle] <= cell:
            low = middle
        else:
            high = middle
    return low


@jit
def _released_likelihoods(files: Files, block: int, cell: int, products: Floats, by_keys: Floats) -> None:
    """Of every cell of records in the block: how likely the keys of a cell of persons become its keys."""
    released, keys = files.released, files.keys
    q, first = keys.offset.shape[0], released.block[block]
    products[0], stopped = 1.0, q
    for c in range(first, released.block[block + 1]):
        by_keys[c - first] = 0.0
        if released.differs[c] > stopped:
            continue
        stopped = q
        for level in range(released.differs[c], q):
            at = keys.offset[level] + files.cells.codes[cell, level] * keys.width[level]
            products[level + 1] = products[level] * keys.matrix[at + released.codes[c, level]]
            if products[level + 1] <= 0.0:
                stopped = level
                break
        if stopped == q:
            by_keys[c - first] = products[q]


@jit
def _likelihoods(files: Files, state: State, row: int, first: int, last: int, first_cell: int) -> float:
    """L of every outcome from first to last, and its largest; in `order` the distances."""
    best = 0.0
    for o in range(first, last):
        key = state.by_keys[files.outcomes.cell[o] - first_cell]
        state.likelihood[o], state.bound[o], state.share[o] = 0.0, 0.0, -1.0
        if key > 0.0:
            state.likelihood[o] = key * numbers_likelihood(files, row, o, True)
            state.order[o] = distance(files, row, o)
            best = max(best, state.likelihood[o])
    return best


@jit
def _simple_attacks(
    files: Files, state: State, first: int, last: int, first_cell: int, mine: int, best: float, line: Floats
) -> None:
    """The records of largest likelihood, and the nearest of those whose keys are the likeliest."""
    cell, best_key, nearest = files.outcomes.cell, 0.0, np.inf
    for o in range(first, last):
        best_key = max(best_key, state.by_keys[cell[o] - first_cell])
    for o in range(first, last):
        key = state.by_keys[cell[o] - first_cell]
        if key > 0.0 and key >= best_key * (1.0 - TIE):
            nearest = min(nearest, state.order[o])
    for o in range(first, last):
        key = state.by_keys[cell[o] - first_cell]
        if key <= 0.0:
            continue
        if best > 0.0 and state.likelihood[o] >= best * (1.0 - TIE):
            _take(files, o, mine, line, LIKELIHOOD)
        if key >= best_key * (1.0 - TIE) and state.order[o] <= nearest * (1.0 + TIE):
            _take(files, o, mine, line, NEAREST)


@jit
def _take(files: Files, outcome: int, mine: int, line: Floats, column: int) -> None:
    """Count the records of an outcome among the best."""
    line[column] += outcome == mine
    line[column + 1] += files.outcomes.count[outcome]
    line[column + 2] += files.outcomes.weight[outcome]


@jit
def _bounds(files: Files, state: State, row: int, first: int, last: int, mine: int) -> None:
    """The largest share each outcome can have; on the way what the target contributes to totals."""
    unknown = False
    for v in range(files.rows.profile.shape[1]):
        unknown = unknown or files.rows.profile[row, v] < 0
    outcomes = files.outcomes
    for o in range(first, last):
        if state.likelihood[o] <= 0.0:
            continue
        if state.behind[o] < 0.0:
            state.behind[o] = 0.0
            for k in range(outcomes.owner[o], outcomes.owner[o + 1]):
                if outcomes.owners[k] >= 0:
                    state.behind[o] += pair_likelihood(files, outcomes.owners[k], o)
        state.counted[o] = pair_likelihood(files, row, o) if unknown else state.likelihood[o]
        others = max(state.behind[o] - state.counted[o], 0.0) if o == mine else state.behind[o]
        state.bound[o] = state.likelihood[o] / (state.likelihood[o] + others)


@jit
def _others(files: Files, state: State, row: int, outcome: int, first_cell: int) -> float:
    """How likely all persons but the target produce the outcome."""
    if state.total[outcome] < 0.0:
        state.total[outcome], state.step[outcome] = total_of(files, outcome, False, state.scratch)
    key = state.by_keys[files.outcomes.cell[outcome] - first_cell]
    weight = weight_in_total(files, row, outcome, key, state.step[outcome])
    count, total = files.rows.count[row], state.total[outcome]
    others = total + (count - 1.0 - count * weight) * state.counted[outcome]
    return max(others, FLOOR * max(total, state.likelihood[outcome]))


@jit
def _look_at(files: Files, state: State, row: int, outcome: int, first_cell: int) -> float:
    """Odds and share of an outcome; the share."""
    others = _others(files, state, row, outcome, first_cell)
    state.odds[outcome] = state.likelihood[outcome] / others
    state.share[outcome] = state.likelihood[outcome] / (state.likelihood[outcome] + others)
    return state.share[outcome]


@jit
def _order_roughly(files: Files, state: State, block: int, contenders: int) -> None:
    """Order contenders by their rough share: by bins of numbers where there are few cells, else by some rows."""
    cells, sampling = files.cells, files.sampling
    start, stop = cells.start[cells.block[block]], cells.start[cells.block[block + 1]]
    by_bins = cells.block[block + 1] - cells.block[block] <= sampling.few_cells and sampling.number.shape[0] > 0
    references = min(sampling.references, stop - start)
    spaced = (stop - start) / references
    for at in range(contenders):
        o = state.heap[at]
        if state.rough[o] < 0.0 and by_bins:
            state.rough[o], _ = total_of(files, o, True, state.scratch)
        elif state.rough[o] < 0.0:
            state.rough[o] = 0.0
            for k in range(references):
                r = start + int((k + 0.5) * spaced)
                state.rough[o] += spaced * files.rows.count[r] * pair_likelihood(files, r, o)
        state.order[o] = state.likelihood[o] / (state.likelihood[o] + state.behind[o] + state.rough[o])


@jit
def _sink(heap: Ints, key: Floats, at: int, size: int) -> None:
    """Restore the order of a heap, the largest key first, below one place."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and key[heap[child + 1]] > key[heap[child]]:
            child += 1
        if key[heap[at]] >= key[heap[child]]:
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@jit
def _contend(
    files: Files, state: State, row: int, block: int, mine: int, best: float, work: int, line: Floats
) -> float:
    """Look at all that could beat the best share so far, the most promising first; the best share."""
    first_cell = files.released.block[block]
    first, last = files.released.start[first_cell], files.released.start[files.released.block[block + 1]]
    contenders = 0
    for o in range(first, last):
        if o != mine and state.likelihood[o] > 0.0 and state.bound[o] >= best * (1.0 - TIE):
            state.heap[contenders], state.order[o] = o, state.bound[o]
            contenders += 1
    cells = files.cells
    here = cells.start[cells.block[block + 1]] - cells.start[cells.block[block]]
    summed = min(here, 2 * files.sampling.rows) * max(files.rows.profile.shape[1], 1)
    cap = max(LEAST, work // (cells.block[block + 1] - cells.block[block] + summed))
    capped = contenders > cap
    if capped:
        _order_roughly(files, state, block, contenders)
    for at in range(contenders // 2 - 1, -1, -1):
        _sink(state.heap, state.order, at, contenders)
    looked = 0
    while contenders > 0 and not (capped and looked == cap):
        o = state.heap[0]
        contenders -= 1
        state.heap[0] = state.heap[contenders]
        _sink(state.heap, state.order, 0, contenders)
        if state.bound[o] >= best * (1.0 - TIE):
            best = max(best, _look_at(files, state, row, o, first_cell))
            looked += 1
        elif not capped:
            break
    line[LOOKED] += looked
    for at in range(contenders if capped else 0):
        if state.bound[state.heap[at]] >= best * (1.0 - TIE):
            line[OPEN] = 1.0
    return best


@jit
def _sum_up(
    files: Files, state: State, row: int, block: int, mine: int, best: float, dropped: bool, line: Floats
) -> None:
    """Who is as good as the best, and how much all records are worth together: some stand for those not seen."""
    first_cell, counts = files.released.block[block], files.outcomes.count
    first, last = files.released.start[first_cell], files.released.start[files.released.block[block + 1]]
    odds, shares, rest, highest = 0.0, 0.0, 0.0, 0.0
    for o in range(first, last):
        if state.share[o] < 0.0:
            rest += counts[o] * state.bound[o]
            continue
        odds += counts[o] * state.odds[o]
        shares += counts[o] * state.share[o]
        highest = max(highest, state.odds[o])
        if state.share[o] >= best * (1.0 - TIE):
            _take(files, o, mine, line, FOUND)
    at = (row + 1) * GOLDEN
    point, passed = (at - math.floor(at)) * rest / REST, 0.0
    for o in range(first, last if rest > 1e-9 * odds else first):
        if state.share[o] < 0.0 and state.bound[o] > 0.0:
            passed += counts[o] * state.bound[o]
            while point < passed:
                point += rest / REST
                others, mass = _others(files, state, row, o, first_cell), state.likelihood[o]
                odds += mass / others * rest / (REST * state.bound[o])
                shares += mass / (mass + others) * rest / (REST * state.bound[o])
    chance = min(1.0, shares) if dropped else 1.0
    line[BELIEVED] = chance * highest / odds
    if mine >= 0 and state.share[mine] >= 0.0:
        line[POSTERIOR] = chance * state.odds[mine] / odds


@jit
def _new_state(files: Files) -> State:
    n, most = files.outcomes.count.shape[0], files.cells.codes.shape[1] + 1
    most = max(most, files.sampling.first[files.sampling.first.shape[0] - 1])
    for block in range(files.cells.block.shape[0] - 1):
        most = max(most, files.cells.block[block + 1] - files.cells.block[block])
        most = max(most, files.released.block[block + 1] - files.released.block[block])
    kept = np.full((4, n), -1.0)
    row = np.zeros((6, n))
    scratch = np.zeros((5, most))
    heap = np.zeros(n, dtype=np.int64)
    return State(
        kept[0], kept[1], kept[2], kept[3], row[0], row[1], row[2], row[3], row[4], row[5], heap, scratch[4], scratch
    )  # fmt: skip


@jit
def attack(files: Files, targets: Ints, own: Ints, work: int, exact: bool, dropped: bool) -> Floats:
    """One line for each target: (targets, COLUMNS).

    targets: rows. own: the outcome of the target's own record, −1 none. work: about so many likelihoods may be
    spent on a target; contenders beyond that are not looked at, and the target is left open. exact: look at all
    records. dropped: not every person has a record.
    """
    state = _new_state(files)
    result = np.zeros((targets.shape[0], COLUMNS))
    released = files.released
    for i in range(targets.shape[0]):
        row, line = targets[i], result[i]
        block = _block_of(files, files.rows.cell[row])
        first_cell = released.block[block]
        first, last = released.start[first_cell], released.start[released.block[block + 1]]
        mine = own[i] if first <= own[i] < last else -1
        _released_likelihoods(files, block, files.rows.cell[row], state.scratch[2], state.by_keys)
        highest = _likelihoods(files, state, row, first, last, first_cell)
        _simple_attacks(files, state, first, last, first_cell, mine, highest, line)
        if highest > 0.0:
            _bounds(files, state, row, first, last, mine)
            best = 0.0
            if mine >= 0 and state.likelihood[mine] > 0.0:
                best = _look_at(files, state, row, mine, first_cell)
            if exact:
                for o in range(first, last):
                    if o != mine and state.likelihood[o] > 0.0:
                        best = max(best, _look_at(files, state, row, o, first_cell))
            else:
                best = _contend(files, state, row, block, mine, best, work, line)
            _sum_up(files, state, row, block, mine, best, dropped, line)
        for k in range(3):
            column = FOUND if k == 0 else (LIKELIHOOD if k == 1 else NEAREST)
            if line[column] > 0.0:
                line[column] /= line[column + 1]
    return result
