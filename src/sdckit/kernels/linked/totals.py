"""How likely anybody of the file produces an outcome: the sum over all persons, or over a sample of them."""

import math

import numpy as np

from sdckit.kernels._jit import jit
from sdckit.kernels.linked.likelihood import number_likelihood, numbers_likelihood
from sdckit.kernels.linked.tables import Files, Floats

SHIFT = 0.5698402909980532  # irrational, and unrelated to the golden ratio that gave the permanent numbers


@jit
def bin_likelihood(files: Files, outcome: int, level: int, b: int) -> float:
    """How likely the persons of a bin of a number produce the outcome, by three of them."""
    total, v = 0.0, files.sampling.number[level]
    for k in range(3):
        total += number_likelihood(files, files.sampling.members[b, k], outcome, v, False)
    return total / 3.0


@jit
def cell_likelihoods(files: Files, block: int, released: int, scratch: Floats) -> None:
    """Of every cell of persons in the block: by keys (scratch 0), and times the bins of the numbers (scratch 1).

    Cells are sorted, so that the products of the leading levels are kept from cell to cell (scratch 2), and all
    cells that share an impossible beginning are passed over. The likelihoods of the bins are in scratch 3.
    """
    cells, keys = files.cells, files.keys
    q, levels = keys.offset.shape[0], cells.codes.shape[1]
    scratch[2, 0] = 1.0
    stopped, first = levels, cells.block[block]
    for c in range(first, cells.block[block + 1]):
        start = cells.differs[c]
        if start > stopped:
            scratch[0, c - first] = scratch[0, c - first - 1] if stopped >= q else 0.0
            scratch[1, c - first] = 0.0
            continue
        stopped = levels
        for level in range(start, levels):
            code = cells.codes[c, level]
            if level < q:
                at = keys.offset[level] + code * keys.width[level]
                factor = keys.matrix[at + files.released.codes[released, level]]
            else:
                factor = scratch[3, files.sampling.first[level - q] + code]
            scratch[2, level + 1] = scratch[2, level] * factor
            if scratch[2, level + 1] <= 0.0:
                stopped = level
                break
        scratch[0, c - first] = scratch[2, q] if stopped >= q else 0.0
        scratch[1, c - first] = scratch[2, levels] if stopped == levels else 0.0


@jit
def is_equal(files: Files, row: int, outcome: int, up_to: int) -> bool:
    """Whether one of the first numbers that may stay is a rare value and the same in both."""
    for k in range(up_to):
        v = files.sampling.equal[k]
        if files.rows.light[row, v] and files.rows.value[row, v] == files.outcomes.value[outcome, v]:
            return True
    return False


@jit
def chance_drawn(draw: float, outcome: int) -> float:
    """The smallest chance with which a row is in the sample of an outcome, from its permanent random number."""
    at = draw - (outcome + 1) * SHIFT
    return at - math.floor(at)


@jit
def _equal_total(files: Files, block: int, outcome: int, by_keys: Floats) -> float:
    """Persons who have one of the released values exactly, all of them: few, and far likelier than their cell."""
    total, cells, rows = 0.0, files.cells, files.rows
    first_cell = cells.block[block]
    low, high = cells.start[first_cell], cells.start[cells.block[block + 1]]
    for k in range(files.sampling.equal.shape[0]):
        v, order = files.sampling.equal[k], files.sampling.order[k]
        value = files.outcomes.value[outcome, v]
        if math.isnan(value):
            continue
        a, z = low, high
        while a < z:
            middle = (a + z) // 2
            if rows.value[order[middle], v] < value:
                a = middle + 1
            else:
                z = middle
        while a < high and rows.value[order[a], v] == value:
            row = order[a]
            a += 1
            key = by_keys[rows.cell[row] - first_cell]
            if key > 0.0 and rows.light[row, v] and not is_equal(files, row, outcome, k):
                total += key * rows.count[row] * numbers_likelihood(files, row, outcome, False)
    return total


@jit
def _cell_total(files: Files, cell: int, outcome: int, chance: float, equals: int) -> float:
    """Over the rows of a cell of persons, or those drawn with this chance; without the keys."""
    rows, total = files.rows, 0.0
    start, stop = files.cells.start[cell], files.cells.start[cell + 1]
    row, in_order = start, chance < 1.0 and stop - start > 8
    if in_order:  # rows of a cell are sorted by their permanent numbers: go to the first that was drawn
        shift = 1.0 - chance_drawn(0.0, outcome)
        a, z = start, stop
        while a < z:
            middle = (a + z) // 2
            if rows.draw[middle] < shift:
                a = middle + 1
            else:
                z = middle
        row = a
    for _ in range(stop - start):
        if row == stop:
            row = start
        current = row
        row += 1
        if chance < 1.0 and chance_drawn(rows.draw[current], outcome) >= chance:
            if in_order:
                break
            continue
        if not (equals and is_equal(files, current, outcome, equals)):
            total += numbers_likelihood(files, current, outcome, False) * rows.count[current]
    return total / chance


@jit
def total_of(files: Files, outcome: int, rough: bool, scratch: Floats) -> tuple[float, float]:
    """The likelihood of an outcome summed over persons, and the step of the sample (0: all were summed).

    Rows of a cell whose likelihood is above the step are all taken, of other cells with a chance in proportion.
    rough: by the bins of numbers alone, without looking at single persons.
    """
    cells, sampling = files.cells, files.sampling
    block = files.outcomes.block[outcome]
    first, last = cells.block[block], cells.block[block + 1]
    levels = sampling.number.shape[0]
    sampled = levels > 0 and (rough or cells.start[last] - cells.start[first] > 2 * sampling.rows)
    for level in range(levels):
        for b in range(sampling.first[level], sampling.first[level + 1]):
            scratch[3, b] = bin_likelihood(files, outcome, level, b) if sampled else 1.0
    cell_likelihoods(files, block, files.outcomes.cell[outcome], scratch)
    total, step, equals = 0.0, 0.0, 0
    if sampled:
        for c in range(first, last):
            total += scratch[1, c - first] * (cells.start[c + 1] - cells.start[c])
        step, equals = total / sampling.rows, sampling.equal.shape[0]
        if rough or step <= 0.0:
            return total + _equal_total(files, block, outcome, scratch[0]), np.inf
        total = _equal_total(files, block, outcome, scratch[0])
    for c in range(first, last):
        key, chance = scratch[0, c - first], 1.0
        if sampled:
            chance = min(scratch[1, c - first] / step, 1.0)
        if key > 0.0 and chance > 0.0:
            total += key * _cell_total(files, c, outcome, chance, equals)
    return total, step


@jit
def weight_in_total(files: Files, row: int, outcome: int, by_keys: float, step: float) -> float:
    """How often a row counts in the total of an outcome: once, or by the inverse of its chance, or not at all."""
    sampling = files.sampling
    if step == 0.0 or is_equal(files, row, outcome, sampling.equal.shape[0]):
        return 1.0
    size, q = by_keys, files.keys.offset.shape[0]
    for level in range(sampling.number.shape[0]):
        b = sampling.first[level] + files.cells.codes[files.rows.cell[row], q + level]
        size *= bin_likelihood(files, outcome, level, b)
    chance = min(size / step, 1.0)
    if chance < 1.0 and chance_drawn(files.rows.draw[row], outcome) >= chance:
        return 0.0
    return 1.0 / chance
