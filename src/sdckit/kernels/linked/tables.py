"""What the kernels of an attack by keys and numbers work on.

Persons with the same knowledge are one *row*, records with the same released values one *outcome*. Rows and
outcomes are sorted by block (combination of everything that was released exactly), then by cell
(combination of the other keys). Only rows and outcomes of the same block can belong together. Arrays are
packed: few of them make the kernels compile fast.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint16]
# Whether totals may be over samples of the rows, and contenders be passed over. An int stands for yes. Where
# it is None, in small files, numba compiles nothing of what stands under "if sampling is not None".
Sampling = int | None

# last axis of Files.known. VALUE: what would be no change, nan: not known. CENTRE: T(x) + median. INVERSE:
# 1/s. MOVED: chance to be shown and to move, over s. STAY: chance to be shown and to stay. BLANK: chance of
# a blank. LIGHT: 1 where the value may stay and few persons have it.
VALUE, CENTRE, INVERSE, MOVED, STAY, BLANK, LIGHT = 0, 1, 2, 3, 4, 5, 6
# last axis of Files.shown. VALUE: nan is a blank. PLACE: T(y). MASS: Δ(y). MARGINAL: share of the records
# with this value, or with a blank. FILLED: the chance that a missing value becomes this one.
PLACE, MASS, MARGINAL, FILLED = 1, 2, 3, 4
COUNT, DRAW, WEIGHT = 0, 1, 1
START, DIFFERS = 0, 1


class Files(NamedTuple):
    """Persons, records and what is known of how the ones became the others."""

    known: Floats  # (rows, numbers, 7) of persons
    row: Floats  # (rows, 2) how many persons; a permanent random number, in whose order cells are
    row_cell: Ints  # (rows,)
    shown: Floats  # (outcomes, numbers, 5) of records
    outcome: Floats  # (outcomes, 2) records with these values, their weights
    outcome_cell: Ints  # (outcomes,)
    owner: Ints  # (outcomes + 1,) the first of its owners
    owners: Ints  # (records,) rows of the persons whose records they are; −1 nobody's
    block: Ints  # (blocks + 1, 2) first cell of persons, first cell of records
    cell: Ints  # (cells + 1, 2) of persons: first row, first level that differs from the cell before
    codes: Codes  # (cells, keys + bins)
    released: Ints  # (cells + 1, 2) of records: first outcome, first level that differs
    released_codes: Codes  # (cells, keys)
    channel: Floats  # matrices of the keys one after another, each row by row
    matrix: Ints  # (keys, 2) where each starts, its released values
    density: Floats  # (numbers, points) of standardised residuals from −reach to reach
    precision: Floats  # (numbers,) 1/variance, for the nearest record
    bins: Ints  # (levels + 1, 2) numbers whose bins decide who is sampled, first bin of each
    members: Ints  # (bins, 3) rows that stand for each bin
    equal: Ints  # (numbers that may stay,) which they are
    order: Ints  # (numbers that may stay, rows) rows by block and value
    scalars: Floats  # (7,)


# Files.scalars
REACH, TAIL, SAMPLED, REFERENCES, FEW_CELLS, WORK, WORK_BLOCK = 0, 1, 2, 3, 4, 5, 6


class State(NamedTuple):
    """What is kept from target to target, by outcome (−1: not computed), and the row of the present one."""

    kept: Floats  # (5, outcomes)
    target: Floats  # (6, outcomes)
    heap: Ints  # (outcomes,)
    by_keys: Floats  # (cells of the largest block,) likelihood of the keys of the target
    scratch: Floats  # (4, …)


# State.kept: U; the step of the sample of rows behind it, 0 all rows; what the persons whose records these
# are contribute to U; a quick estimate of U; as much of U as was summed before it was more than enough
TOTAL, STEP, BEHIND, ROUGH, AT_LEAST = 0, 1, 2, 3, 4
# State.target: L; what the target contributes to U (not L where a number is not known); a bound of the
# share; the share, −1 not looked at; odds; which contender comes first
LIKELIHOOD, COUNTED, BOUND, SHARE, ODDS, FIRST = 0, 1, 2, 3, 4, 5
