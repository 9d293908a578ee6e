"""Which released records an intruder takes for a person's: by shares, by likelihood, by distance.

With L_ij the likelihood that person i's values become record j's and U_j its sum over all persons, the
share is L_ij/U_j, and the odds L_ij/(U_j − L_ij). U_j is dear, so it is computed only for contenders: a
share is never above L_ij/(L_ij + L_jj), where L_jj is what the persons behind the record contribute to U_j.
Records whose bound is below the best share so far are passed over, and what was found is still exact.
"""

import math

import numpy as np

from sdckit.kernels._jit import inner, jit
from sdckit.kernels.linked.likelihood import distance, pair_likelihood, target_likelihood
from sdckit.kernels.linked.tables import (
    AT_LEAST,
    BEHIND,
    BOUND,
    COUNT,
    COUNTED,
    DIFFERS,
    FEW_CELLS,
    FIRST,
    LIKELIHOOD,
    ODDS,
    REFERENCES,
    ROUGH,
    SAMPLED,
    SHARE,
    START,
    STEP,
    TOTAL,
    VALUE,
    WEIGHT,
    WORK,
    WORK_BLOCK,
    Codes,
    Files,
    Floats,
    Ints,
    Sampling,
    State,
)
from sdckit.kernels.linked.totals import prepare_total, total_of, weight_in_total

TIE = 1e-8  # relative; records as good as the best
FLOOR = 1e-12  # of the others, relative to the total: odds stay finite
NEGLIGIBLE = 1e-3
GOLDEN = 0.6180339887498949
REST = 10  # records that stand for all that were not looked at
LEAST = 30  # contenders that are looked at in any case
# columns of the result; the three attacks have three columns each: found, records, weight
BY_SHARES, BY_LIKELIHOOD, BY_DISTANCE = 0, 3, 6
BELIEVED, POSTERIOR, OPEN, LOOKED = 9, 10, 11, 12
COLUMNS = 13


def attack(files: Files, targets: Ints, own: Ints, *, exact: bool, dropped: bool) -> Floats:
    """One line for each target: (targets, COLUMNS).

    targets: rows. own: the outcome of the target's own record, −1 none. exact: look at all records of the
    block; else as many contenders as the work allows, and the target is left open where there are more.
    dropped: not every person has a record.
    """
    n = files.outcome.shape[0]
    cells = int(np.diff(files.block, axis=0).max(initial=0))
    most = max(cells, int(files.bins[-1, 1]), files.codes.shape[1] + 1)
    kept, row = np.full((5, n), -1.0), np.zeros((6, n))
    state = State(kept, row, np.zeros(n, dtype=np.int64), np.zeros(most), np.zeros((4, most)))
    result = np.zeros((targets.size, COLUMNS))
    in_full = exact and files.bins.shape[0] == 1
    _attack(files, state, targets, own, exact, dropped, result, None if in_full else 1)
    for column in (BY_SHARES, BY_LIKELIHOOD, BY_DISTANCE):
        result[:, column] /= np.maximum(result[:, column + 1], 1.0)
    return result


@inner
def _block_of(blocks: Ints, cell: int) -> int:
    low, high = 0, blocks.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if blocks[middle, 0] <= cell:
            low = middle
        else:
            high = middle
    return low


@inner
def _released_likelihoods(
    codes: Codes,
    released: Ints,
    released_codes: Codes,
    channel: Floats,
    matrix: Ints,
    first: int,
    last: int,
    cell: int,
    products: Floats,
    by_keys: Floats,
) -> None:
    """How likely the keys of a cell of persons become those of each cell of records from first to last."""
    q = matrix.shape[0]
    products[0], stopped = 1.0, q
    for c in range(first, last):
        by_keys[c - first] = 0.0
        if released[c, DIFFERS] > stopped:
            continue
        stopped = q
        for level in range(released[c, DIFFERS], q):
            at = matrix[level, 0] + codes[cell, level] * matrix[level, 1] + released_codes[c, level]
            products[level + 1] = products[level] * channel[at]
            if products[level + 1] <= 0.0:
                stopped = level
                break
        if stopped == q:
            by_keys[c - first] = products[q]


@inner
def _take(outcome: Floats, o: int, mine: int, line: Floats, column: int) -> None:
    """Count the records of an outcome among the best."""
    line[column] += o == mine
    line[column + 1] += outcome[o, COUNT]
    line[column + 2] += outcome[o, WEIGHT]


@inner
def _simple_attacks(
    files: Files, state: State, row: int, first: int, last: int, first_cell: int, mine: int, line: Floats
) -> float:
    """L of all outcomes; the records of largest L, and the nearest of those with the likeliest keys."""
    target, by_keys, cell = state.target, state.by_keys, files.outcome_cell
    best, best_key, nearest = 0.0, 0.0, np.inf
    for o in range(first, last):
        key = by_keys[cell[o] - first_cell]
        target[LIKELIHOOD, o], target[BOUND, o], target[SHARE, o] = 0.0, 0.0, -1.0
        if key <= 0.0:
            continue
        likelihood = target_likelihood(files.known, files.shown, files.density, files.scalars, row, o)
        target[LIKELIHOOD, o] = key * likelihood
        target[FIRST, o] = distance(files.known, files.shown, files.precision, row, o)
        best = max(best, key * likelihood)
        if key > best_key * (1.0 + TIE):
            best_key, nearest = key, target[FIRST, o]
        elif key >= best_key * (1.0 - TIE):
            nearest = min(nearest, target[FIRST, o])
    for o in range(first, last):
        key = by_keys[cell[o] - first_cell]
        if target[LIKELIHOOD, o] > 0.0 and target[LIKELIHOOD, o] >= best * (1.0 - TIE):
            _take(files.outcome, o, mine, line, BY_LIKELIHOOD)
        if key > 0.0 and key >= best_key * (1.0 - TIE) and target[FIRST, o] <= nearest * (1.0 + TIE):
            _take(files.outcome, o, mine, line, BY_DISTANCE)
    return best


@inner
def _bounds(files: Files, state: State, row: int, first: int, last: int, mine: int) -> None:
    """The largest share each outcome can have; on the way what the target contributes to totals."""
    target, behind, unknown = state.target, state.kept[BEHIND], False
    for v in range(files.known.shape[1]):
        unknown = unknown or math.isnan(files.known[row, v, VALUE])
    for o in range(first, last):
        likelihood = target[LIKELIHOOD, o]
        if likelihood <= 0.0:
            continue
        if behind[o] < 0.0:
            behind[o] = 0.0
            for k in range(files.owner[o], files.owner[o + 1]):
                if files.owners[k] >= 0:
                    behind[o] += pair_likelihood(files, files.owners[k], o)
        target[COUNTED, o] = pair_likelihood(files, row, o) if unknown else likelihood
        others = behind[o] if o != mine else behind[o] - target[COUNTED, o]
        others = max(others, state.kept[AT_LEAST, o] - target[COUNTED, o], 0.0)
        target[BOUND, o] = likelihood / (likelihood + others)


@inner
def _look_at(
    files: Files, state: State, row: int, block: int, o: int, best: float, sampling: Sampling
) -> float:
    """Odds and share of an outcome: how likely the target produces it, and all others; the share.

    Where all rows are summed and the share turns out to be below the best, it is not computed to the end: −1.
    """
    kept, target, count = state.kept, state.target, files.row[row, COUNT]
    key, likelihood = state.by_keys[files.outcome_cell[o] - files.block[block, 1]], target[LIKELIHOOD, o]
    prepared = kept[TOTAL, o] >= 0.0
    if not prepared:
        _, kept[STEP, o] = prepare_total(files, block, o, state.scratch, sampling)
    weight = 1.0  # also on average of many samples, which is enough where the target hardly matters
    matters = count * target[COUNTED, o] >= NEGLIGIBLE * kept[TOTAL, o]
    if sampling is not None and kept[STEP, o] > 0.0 and matters:
        weight = weight_in_total(files, row, o, key, kept[STEP, o])
    own = (count - 1.0 - count * weight) * target[COUNTED, o]
    if not prepared:
        enough = np.inf
        if best > 0.0 and kept[STEP, o] == 0.0:
            enough = likelihood / (best * (1.0 - TIE)) - likelihood - own
        total = total_of(files, block, o, kept[STEP, o], enough, state.scratch, sampling)
        if total > enough:
            kept[AT_LEAST, o] = max(kept[AT_LEAST, o], total)
            target[BOUND, o] = likelihood / (likelihood + total + own)
            return -1.0
        kept[TOTAL, o] = total
    others = max(kept[TOTAL, o] + own, FLOOR * max(kept[TOTAL, o], likelihood))
    target[ODDS, o] = likelihood / others
    return float(likelihood / (likelihood + others))


@inner
def _order_roughly(files: Files, state: State, block: int, contenders: int) -> None:
    """Order contenders by a rough share: by bins of numbers where cells are few, else by some rows."""
    kept, target, limits = state.kept, state.target, files.scalars
    first, last = files.block[block, 0], files.block[block + 1, 0]
    start, stop = files.cell[first, START], files.cell[last, START]
    by_bins = last - first <= limits[FEW_CELLS] and stop - start > 2 * limits[SAMPLED]
    by_bins = by_bins and files.bins.shape[0] > 1
    references = min(int(limits[REFERENCES]), stop - start)
    spaced = (stop - start) / references
    for at in range(contenders):
        o = state.heap[at]
        if kept[ROUGH, o] < 0.0:
            kept[ROUGH, o] = 0.0
            if by_bins:
                kept[ROUGH, o], _ = prepare_total(files, block, o, state.scratch, 1)
            for k in range(0 if by_bins else references):
                r = start + int((k + 0.5) * spaced)
                kept[ROUGH, o] += spaced * files.row[r, COUNT] * pair_likelihood(files, r, o)
        likelihood = target[LIKELIHOOD, o]
        target[FIRST, o] = likelihood / (likelihood + kept[BEHIND, o] + kept[ROUGH, o])


@inner
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


@inner
def _contend(files: Files, state: State, row: int, block: int, mine: int, best: float, line: Floats) -> float:
    """Look at all that could beat the best share so far, the most promising first; the best share."""
    target, heap, contenders = state.target, state.heap, 0
    first = files.released[files.block[block, 1], START]
    for o in range(first, files.released[files.block[block + 1, 1], START]):
        if o != mine and target[LIKELIHOOD, o] > 0.0 and target[BOUND, o] >= best * (1.0 - TIE):
            heap[contenders], target[FIRST, o] = o, target[BOUND, o]
            contenders += 1
    low, high = files.block[block, 0], files.block[block + 1, 0]
    rows = min(float(files.cell[high, START] - files.cell[low, START]), 2.0 * files.scalars[SAMPLED])
    cost = high - low + rows * max(files.known.shape[1], 1)
    cap = max(LEAST, int(files.scalars[WORK] / cost))
    everything = (files.released[files.block[block + 1, 1], START] - first) * cost
    capped = contenders > cap and everything > files.scalars[WORK_BLOCK]
    if capped:
        _order_roughly(files, state, block, contenders)
    in_order = (
        capped or contenders <= cap
    )  # else most totals will be needed, and are kept: a heap would not pay
    for at in range(contenders // 2 - 1 if in_order else -1, -1, -1):
        _sink(heap, target[FIRST], at, contenders)
    looked = 0
    while contenders > 0 and not (capped and looked == cap):
        contenders -= 1
        o = heap[0] if in_order else heap[contenders]
        if in_order:
            heap[0] = heap[contenders]
            _sink(heap, target[FIRST], 0, contenders)
        if target[BOUND, o] >= best * (1.0 - TIE):
            target[SHARE, o] = _look_at(files, state, row, block, o, best, 1)
            best = max(best, target[SHARE, o])
            looked += 1
        elif in_order and not capped:
            break
    line[LOOKED] = looked
    for at in range(contenders if capped else 0):
        if target[BOUND, heap[at]] >= best * (1.0 - TIE):
            line[OPEN] = 1.0
    return best


@inner
def _sum_up(
    files: Files,
    state: State,
    row: int,
    block: int,
    mine: int,
    best: float,
    dropped: bool,
    line: Floats,
    sampling: Sampling,
) -> None:
    """Who is as good as the best, and what all records are worth together; some stand for those not seen."""
    target, outcome = state.target, files.outcome
    first = files.released[files.block[block, 1], START]
    last = files.released[files.block[block + 1, 1], START]
    odds, shares, rest, highest = 0.0, 0.0, 0.0, 0.0
    for o in range(first, last):
        if target[SHARE, o] < 0.0:
            rest += outcome[o, COUNT] * target[BOUND, o]
            continue
        odds += outcome[o, COUNT] * target[ODDS, o]
        shares += outcome[o, COUNT] * target[SHARE, o]
        highest = max(highest, target[ODDS, o])
        if target[SHARE, o] >= best * (1.0 - TIE):
            _take(outcome, o, mine, line, BY_SHARES)
    at = (row + 1) * GOLDEN
    point, passed = (at - math.floor(at)) * rest / REST, 0.0
    for o in range(first, last if rest > 1e-9 * odds else first):
        if target[SHARE, o] < 0.0 and target[BOUND, o] > 0.0:
            passed += outcome[o, COUNT] * target[BOUND, o]
            while point < passed:
                point += rest / REST
                share = _look_at(files, state, row, block, o, 0.0, sampling)
                odds += target[ODDS, o] * rest / (REST * target[BOUND, o])
                shares += share * rest / (REST * target[BOUND, o])
    chance = min(1.0, shares) if dropped else 1.0
    line[BELIEVED] = chance * highest / odds
    if mine >= 0 and target[SHARE, mine] >= 0.0:
        line[POSTERIOR] = chance * target[ODDS, mine] / odds


@jit
def _attack(
    files: Files,
    state: State,
    targets: Ints,
    own: Ints,
    exact: bool,
    dropped: bool,
    result: Floats,
    sampling: Sampling,
) -> None:
    released, target = files.released, state.target
    for i in range(targets.shape[0]):
        row, line = targets[i], result[i]
        cell = files.row_cell[row]
        block = _block_of(files.block, cell)
        low, high = files.block[block, 1], files.block[block + 1, 1]
        first, last = released[low, START], released[high, START]
        mine = own[i] if first <= own[i] < last else -1
        _released_likelihoods(
            files.codes,
            released,
            files.released_codes,
            files.channel,
            files.matrix,
            low,
            high,
            cell,
            state.scratch[2],
            state.by_keys,
        )
        if _simple_attacks(files, state, row, first, last, low, mine, line) <= 0.0:
            continue
        _bounds(files, state, row, first, last, mine)
        best = 0.0
        for o in range(first if exact else max(mine, 0), last if exact else mine + 1):
            if target[LIKELIHOOD, o] > 0.0:
                target[SHARE, o] = _look_at(files, state, row, block, o, 0.0, sampling)
                best = max(best, target[SHARE, o])
        if sampling is not None and not exact:
            best = _contend(files, state, row, block, mine, best, line)
        _sum_up(files, state, row, block, mine, best, dropped, line, sampling)
