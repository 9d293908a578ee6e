"""How likely a person's keys and numbers become an outcome's."""

import math

from sdckit.kernels._jit import inner
from sdckit.kernels.linked.tables import (
    BLANK,
    CENTRE,
    FILLED,
    INVERSE,
    MARGINAL,
    MASS,
    MOVED,
    PLACE,
    REACH,
    STAY,
    TAIL,
    VALUE,
    Codes,
    Files,
    Floats,
    Ints,
)


@inner
def number_likelihood(
    known: Floats, shown: Floats, density: Floats, limits: Floats, row: int, outcome: int, v: int
) -> float:
    """Of one number. A missing value becomes what such values become."""
    x = known[row, v, VALUE]
    if math.isnan(x):
        return float(shown[outcome, v, FILLED])
    y = shown[outcome, v, VALUE]
    if math.isnan(y):
        return float(known[row, v, BLANK])
    result = known[row, v, STAY] if x == y else 0.0
    moved = known[row, v, MOVED]
    if moved > 0.0:
        z = (shown[outcome, v, PLACE] - known[row, v, CENTRE]) * known[row, v, INVERSE]
        reach = limits[REACH]
        if abs(z) < reach:
            steps = density.shape[1] - 1
            at = (z + reach) / (2.0 * reach) * steps
            k = min(int(at), steps - 1)
            height = density[v, k] + (at - k) * (density[v, k + 1] - density[v, k])
        else:
            height = limits[TAIL] / (math.pi * (1.0 + z * z))
        result += moved * height * shown[outcome, v, MASS]
    return result


@inner
def numbers_likelihood(
    known: Floats, shown: Floats, density: Floats, limits: Floats, row: int, outcome: int
) -> float:
    """Of all numbers together, as one of the persons who could have produced the outcome."""
    product = 1.0
    for v in range(known.shape[1]):
        product *= number_likelihood(known, shown, density, limits, row, outcome, v)
        if product <= 0.0:
            return 0.0
    return product


@inner
def target_likelihood(
    known: Floats, shown: Floats, density: Floats, limits: Floats, row: int, outcome: int
) -> float:
    """Of all numbers together, for the person attacked: a missing value tells nothing."""
    product = 1.0
    for v in range(known.shape[1]):
        if math.isnan(known[row, v, VALUE]):
            product *= shown[outcome, v, MARGINAL]
        else:
            product *= number_likelihood(known, shown, density, limits, row, outcome, v)
        if product <= 0.0:
            return 0.0
    return product


@inner
def key_likelihood(
    codes: Codes, released: Codes, channel: Floats, matrix: Ints, cell: int, other: int
) -> float:
    """That the keys of a cell of persons become those of a cell of records."""
    product = 1.0
    for level in range(matrix.shape[0]):
        at = matrix[level, 0] + codes[cell, level] * matrix[level, 1] + released[other, level]
        product *= channel[at]
        if product <= 0.0:
            return 0.0
    return product


@inner
def pair_likelihood(files: Files, row: int, outcome: int) -> float:
    """Of keys and numbers, as one of the persons who could have produced the outcome."""
    cell, other = files.row_cell[row], files.outcome_cell[outcome]
    key = key_likelihood(files.codes, files.released_codes, files.channel, files.matrix, cell, other)
    if key <= 0.0:
        return 0.0
    return key * numbers_likelihood(files.known, files.shown, files.density, files.scalars, row, outcome)


@inner
def distance(known: Floats, shown: Floats, precision: Floats, row: int, outcome: int) -> float:
    """Squared and standardised. A number not known costs nothing; a blank what two strangers are apart: 2."""
    total = 0.0
    for v in range(precision.shape[0]):
        x, y = known[row, v, VALUE], shown[outcome, v, VALUE]
        if math.isnan(x):
            continue
        total += 2.0 if math.isnan(y) else (x - y) * (x - y) * precision[v]
    return total
