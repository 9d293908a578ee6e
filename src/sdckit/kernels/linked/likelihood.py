"""How likely a person's keys and numbers become an outcome's."""

import math

from sdckit.kernels._jit import jit
from sdckit.kernels.linked.tables import Files


@jit
def number_likelihood(files: Files, row: int, outcome: int, v: int, target: bool) -> float:
    """Of one number. A target's missing value tells nothing; that of others becomes what such values become."""
    rows, outcomes, numbers = files.rows, files.outcomes, files.numbers
    profile = rows.profile[row, v]
    if profile < 0:
        return outcomes.marginal[outcome, v] if target else outcomes.filled[outcome, v]
    value = outcomes.value[outcome, v]
    if math.isnan(value):
        return numbers.blank[v, profile]
    result = numbers.stay[v, profile] if rows.value[row, v] == value else 0.0
    moved = numbers.moved[v, profile]
    if moved > 0.0:
        z = (outcomes.place[outcome, v] - rows.centre[row, v]) * numbers.inverse[v, profile]
        if abs(z) < numbers.reach:
            first = numbers.first[v]
            steps = numbers.first[v + 1] - first - 1
            at = (z + numbers.reach) / (2.0 * numbers.reach) * steps
            k = min(int(at), steps - 1)
            part = at - k
            density = numbers.density[first + k] * (1.0 - part) + numbers.density[first + k + 1] * part
        else:
            density = numbers.tail / (math.pi * (1.0 + z * z))
        result += moved * density * outcomes.mass[outcome, v]
    return result


@jit
def numbers_likelihood(files: Files, row: int, outcome: int, target: bool) -> float:
    """Of all numbers together; by the normal kernel, if wanted, where nothing is missing."""
    product = 1.0
    white, other = files.rows.white, files.outcomes.white
    joint = files.normal and white.shape[1] > 0
    if joint and not (math.isnan(white[row, 0]) or math.isnan(other[outcome, 0])):
        square = 0.0
        for c in range(white.shape[1]):
            d = white[row, c] - other[outcome, c]
            square += d * d
        product = files.outcomes.volume[outcome] * math.exp(-0.5 * square)
    else:
        joint = False
    for v in range(files.numbers.precision.shape[0]):
        if product <= 0.0:
            return 0.0
        if not (joint and files.numbers.normal[v]):
            product *= number_likelihood(files, row, outcome, v, target)
    return product


@jit
def key_likelihood(files: Files, cell: int, released: int) -> float:
    """That the keys of a cell of persons become those of a cell of records."""
    product, keys = 1.0, files.keys
    for level in range(keys.offset.shape[0]):
        at = keys.offset[level] + files.cells.codes[cell, level] * keys.width[level]
        product *= keys.matrix[at + files.released.codes[released, level]]
        if product <= 0.0:
            return 0.0
    return product


@jit
def pair_likelihood(files: Files, row: int, outcome: int) -> float:
    """Of keys and numbers, as one of the persons who could have produced the outcome."""
    key = key_likelihood(files, files.rows.cell[row], files.outcomes.cell[outcome])
    return key * numbers_likelihood(files, row, outcome, False) if key > 0.0 else 0.0


@jit
def distance(files: Files, row: int, outcome: int) -> float:
    """Squared and standardised. A number not known costs nothing; a blank what two strangers are apart: 2."""
    rows, total = files.rows, 0.0
    for v in range(files.numbers.precision.shape[0]):
        if rows.profile[row, v] < 0:
            continue
        value = files.outcomes.value[outcome, v]
        if math.isnan(value):
            total += 2.0
        else:
            d = rows.value[row, v] - value
            total += d * d * files.numbers.precision[v]
    return total
