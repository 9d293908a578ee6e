"""How likely anybody of the file produces an outcome: the sum over all persons, or over a sample of them."""

import math

import numpy as np

from sdckit.kernels._jit import inner
from sdckit.kernels.linked.likelihood import number_likelihood, numbers_likelihood
from sdckit.kernels.linked.tables import (
    COUNT,
    DIFFERS,
    DRAW,
    LIGHT,
    SAMPLED,
    START,
    VALUE,
    Codes,
    Files,
    Floats,
    Ints,
    Sampling,
)

SHIFT = 0.5698402909980532  # irrational, and unrelated to the golden ratio that gave the permanent numbers


@inner
def bin_likelihood(
    known: Floats, shown: Floats, density: Floats, limits: Floats, members: Ints, b: int, outcome: int, v: int
) -> float:
    """How likely the persons of a bin of a number produce the outcome, by three of them."""
    total = 0.0
    for k in range(3):
        total += number_likelihood(known, shown, density, limits, members[b, k], outcome, v)
    return total / 3.0


@inner
def cell_likelihoods(
    cells: Ints,
    codes: Codes,
    released: Codes,
    channel: Floats,
    matrix: Ints,
    bins: Ints,
    first: int,
    last: int,
    other: int,
    scratch: Floats,
) -> None:
    """Of the cells of persons from first to last: by keys (scratch 0), times the bins of numbers (scratch 1).

    Cells are sorted, so that the products of the leading levels are kept from cell to cell (scratch 2), and
    all cells that share an impossible beginning are passed over. The likelihoods of the bins are in scratch
    3.
    """
    q, levels = matrix.shape[0], codes.shape[1]
    scratch[2, 0] = 1.0
    stopped = levels
    for c in range(first, last):
        start = cells[c, DIFFERS]
        if start > stopped:
            scratch[0, c - first] = scratch[0, c - first - 1] if stopped >= q else 0.0
            scratch[1, c - first] = 0.0
            continue
        stopped = levels
        for level in range(start, levels):
            code = codes[c, level]
            if level < q:
                factor = channel[matrix[level, 0] + code * matrix[level, 1] + released[other, level]]
            else:
                factor = scratch[3, bins[level - q, 1] + code]
            scratch[2, level + 1] = scratch[2, level] * factor
            if scratch[2, level + 1] <= 0.0:
                stopped = level
                break
        scratch[0, c - first] = scratch[2, q] if stopped >= q else 0.0
        scratch[1, c - first] = scratch[2, levels] if stopped == levels else 0.0


@inner
def is_equal(known: Floats, shown: Floats, equal: Ints, row: int, outcome: int, up_to: int) -> bool:
    """Whether one of the first numbers that may stay is a rare value and the same in both."""
    for k in range(up_to):
        v = equal[k]
        if known[row, v, LIGHT] > 0.0 and known[row, v, VALUE] == shown[outcome, v, VALUE]:
            return True
    return False


@inner
def chance_drawn(draw: float, outcome: int) -> float:
    """The smallest chance with which a row is in the sample of an outcome."""
    at = draw - (outcome + 1) * SHIFT
    return at - math.floor(at)


@inner
def _equal_total(files: Files, first: int, last: int, outcome: int, by_keys: Floats) -> float:
    """All persons who have one of the released values exactly: few, and far likelier than their cell."""
    total, known, shown, equal = 0.0, files.known, files.shown, files.equal
    low, high = files.cell[first, START], files.cell[last, START]
    for k in range(equal.shape[0]):
        v = equal[k]
        y = shown[outcome, v, VALUE]
        if math.isnan(y):
            continue
        a, z = low, high
        while a < z:
            middle = (a + z) // 2
            if known[files.order[k, middle], v, VALUE] < y:
                a = middle + 1
            else:
                z = middle
        while a < high and known[files.order[k, a], v, VALUE] == y:
            row = files.order[k, a]
            a += 1
            key = by_keys[files.row_cell[row] - first]
            if (
                key > 0.0
                and known[row, v, LIGHT] > 0.0
                and not is_equal(known, shown, equal, row, outcome, k)
            ):
                likelihood = numbers_likelihood(known, shown, files.density, files.scalars, row, outcome)
                total += key * files.row[row, COUNT] * likelihood
    return total


@inner
def _cell_total(
    known: Floats,
    shown: Floats,
    density: Floats,
    limits: Floats,
    rows: Floats,
    equal: Ints,
    start: int,
    stop: int,
    outcome: int,
    chance: float,
) -> float:
    """Over the rows of a cell of persons that were drawn with this chance; without the keys."""
    total = 0.0
    row, in_order = start, chance < 1.0 and stop - start > 8
    if in_order:  # rows of a cell are sorted by their permanent numbers: go to the first that was drawn
        shift = 1.0 - chance_drawn(0.0, outcome)
        a, z = start, stop
        while a < z:
            middle = (a + z) // 2
            if rows[middle, DRAW] < shift:
                a = middle + 1
            else:
                z = middle
        row = a
    for _ in range(stop - start):
        if row == stop:
            row = start
        current = row
        row += 1
        if chance < 1.0 and chance_drawn(rows[current, DRAW], outcome) >= chance:
            if in_order:
                break
            continue
        if not is_equal(known, shown, equal, current, outcome, equal.shape[0]):
            likelihood = numbers_likelihood(known, shown, density, limits, current, outcome)
            total += likelihood * rows[current, COUNT]
    return total / chance


@inner
def prepare_total(
    files: Files, block: int, outcome: int, scratch: Floats, sampling: Sampling
) -> tuple[float, float]:
    """Likelihoods of the cells of persons (scratch 0, 1); their sum by bins, and the step of the sample.

    Rows of a cell whose likelihood is above the step are all taken, of other cells with a chance in
    proportion. The step is 0, and the sum too, where all rows will be summed: in small blocks.
    """
    cells, sampled = files.cell, False
    first, last = files.block[block, 0], files.block[block + 1, 0]
    if sampling is not None:
        levels = files.bins.shape[0] - 1
        sampled = levels > 0 and cells[last, START] - cells[first, START] > 2 * files.scalars[SAMPLED]
        for level in range(levels):
            v = files.bins[level, 0]
            for b in range(files.bins[level, 1], files.bins[level + 1, 1]):
                scratch[3, b] = 1.0
                if sampled:
                    scratch[3, b] = bin_likelihood(
                        files.known, files.shown, files.density, files.scalars, files.members, b, outcome, v
                    )
    other = files.outcome_cell[outcome]
    cell_likelihoods(
        cells,
        files.codes,
        files.released_codes,
        files.channel,
        files.matrix,
        files.bins,
        first,
        last,
        other,
        scratch,
    )
    total = 0.0
    if sampled:
        for c in range(first, last):
            total += scratch[1, c - first] * (cells[c + 1, START] - cells[c, START])
    return total, total / files.scalars[SAMPLED] if total > 0.0 or not sampled else np.inf


@inner
def total_of(
    files: Files,
    block: int,
    outcome: int,
    step: float,
    enough: float,
    scratch: Floats,
    sampling: Sampling,
) -> float:
    """The likelihood of an outcome summed over persons as prepared, or as much as is more than enough."""
    cells, known, shown, density, limits = files.cell, files.known, files.shown, files.density, files.scalars
    first, last = files.block[block, 0], files.block[block + 1, 0]
    total = 0.0
    if sampling is not None and step > 0.0:
        total = _equal_total(files, first, last, outcome, scratch[0])
    for c in range(first, last):
        key, of_cell = scratch[0, c - first], 0.0
        start, stop = cells[c, START], cells[c + 1, START]
        if sampling is not None and step > 0.0:
            chance = min(scratch[1, c - first] / step, 1.0)
            if stop - start == 1 and chance < 1.0 and chance_drawn(files.row[start, DRAW], outcome) >= chance:
                continue  # most cells of a large block: one row, not drawn
            if key > 0.0 and chance > 0.0:
                of_cell = _cell_total(
                    known, shown, density, limits, files.row, files.equal, start, stop, outcome, chance
                )
        if key > 0.0 and step == 0.0:
            for current in range(start, stop):
                likelihood = numbers_likelihood(known, shown, density, limits, current, outcome)
                of_cell += likelihood * files.row[current, COUNT]
        total += key * of_cell
        if total > enough:
            break
    return total


@inner
def weight_in_total(files: Files, row: int, outcome: int, by_keys: float, step: float) -> float:
    """How often a row counts in a total: once, or by the inverse of its chance to be drawn, or not at all."""
    known, shown, equal = files.known, files.shown, files.equal
    if step == 0.0 or is_equal(known, shown, equal, row, outcome, equal.shape[0]):
        return 1.0
    size, q = by_keys, files.matrix.shape[0]
    for level in range(files.bins.shape[0] - 1):
        b = files.bins[level, 1] + files.codes[files.row_cell[row], q + level]
        v = files.bins[level, 0]
        size *= bin_likelihood(known, shown, files.density, files.scalars, files.members, b, outcome, v)
    chance = min(size / step, 1.0)
    if chance < 1.0 and chance_drawn(files.row[row, DRAW], outcome) >= chance:
        return 0.0
    return 1.0 / chance
