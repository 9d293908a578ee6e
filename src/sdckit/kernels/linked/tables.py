"""What the kernels of an attack by keys and numbers work on.

Persons with the same knowledge are one *row*, records with the same released values one *outcome*. Rows and
outcomes are sorted by block (combination of everything that was released exactly), then by cell (combination of
the other keys). Only rows and outcomes of the same block can belong together.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


class Cells(NamedTuple):
    """Cells in lexicographic order of their codes, block by block."""

    block: Ints  # (blocks + 1,) first cell of each block
    start: Ints  # (cells + 1,) first row or outcome of each cell
    codes: Codes  # (cells, levels) of the keys; of rows, the bins of numbers follow
    differs: Ints  # (cells,) the first level that differs from the cell before; 0 at the start of a block


class Rows(NamedTuple):
    """Persons with the same knowledge. Within a cell in the order of `draw`."""

    count: Floats  # (rows,) persons
    cell: Ints  # (rows,)
    draw: Floats  # (rows,) a permanent random number in [0, 1)
    profile: Codes  # (rows, numbers) −1: not known
    value: Floats  # (rows, numbers) the released value that would be no change
    centre: Floats  # (rows, numbers) T(x) + median
    light: Bools  # (rows, numbers) may stay, and few persons have this value
    white: Floats  # (rows, components) for the normal kernel; nan in the first where a number is missing


class Outcomes(NamedTuple):
    """Records with the same released values."""

    count: Floats  # (outcomes,) records
    weight: Floats  # (outcomes,) their weights
    cell: Ints  # (outcomes,)
    block: Ints  # (outcomes,)
    value: Floats  # (outcomes, numbers) nan: blank
    place: Floats  # (outcomes, numbers) T(y)
    mass: Floats  # (outcomes, numbers) T'(y)·Δ(y)
    marginal: Floats  # (outcomes, numbers) share of the records with this value, or with a blank
    filled: Floats  # (outcomes, numbers) the chance that a missing value becomes this one
    white: Floats  # (outcomes, components)
    volume: Floats  # (outcomes,) the normal density's constant times the widths of the values
    owner: Ints  # (outcomes + 1,) first of its owners
    owners: Ints  # (records,) rows of the persons whose records they are; −1 nobody's


class Keys(NamedTuple):
    """Channels of the keys, matrices one after another, each row by row."""

    matrix: Floats
    offset: Ints  # (keys,)
    width: Ints  # (keys,) released values


class Numbers(NamedTuple):
    """Channels of the numbers."""

    inverse: Floats  # (numbers, profiles) 1/s
    moved: Floats  # (numbers, profiles) chance to be shown and to move, over s
    stay: Floats  # (numbers, profiles) chance to be shown and to stay
    blank: Floats  # (numbers, profiles)
    density: Floats  # tables one after another
    first: Ints  # (numbers + 1,) where each table starts
    reach: float  # tables go from −reach to reach
    tail: float  # share of the Cauchy density beyond
    precision: Floats  # (numbers,) 1/variance, for the nearest record
    normal: Bools  # (numbers,) part of the normal kernel


class Sampling(NamedTuple):
    """How rows of large blocks are sampled: bins of numbers stand for the numbers in the chance to be taken."""

    number: Ints  # (levels,) whose bins these are
    first: Ints  # (levels + 1,) first bin of each level in `members`
    members: Ints  # (bins, 3) rows that stand for each bin
    equal: Ints  # (numbers that may stay,) which they are
    order: Ints  # (numbers that may stay, rows) rows by block and value
    rows: int  # about so many rows make up a total
    references: int  # rows of a rough total
    few_cells: int  # up to so many cells a rough total is the sum over cells


class Files(NamedTuple):
    """Persons, records and what is known of how the ones became the others."""

    rows: Rows
    outcomes: Outcomes
    cells: Cells  # of rows
    released: Cells  # of outcomes
    keys: Keys
    numbers: Numbers
    sampling: Sampling
    normal: bool  # numbers by the normal kernel


class State(NamedTuple):
    """What is kept from target to target, by outcome (−1: not computed yet), and the row of the present one."""

    total: Floats  # U
    step: Floats  # of the sample of rows behind it; 0: all rows
    behind: Floats  # what the persons whose records these are contribute to U
    rough: Floats  # a quick estimate of U
    likelihood: Floats  # L of the target
    counted: Floats  # what the target contributes to U; differs from L where a number is not known
    bound: Floats  # the share is never larger
    share: Floats  # −1: not looked at
    odds: Floats
    order: Floats  # which contender comes first
    heap: Ints
    by_keys: Floats  # likelihood of the keys, by cell of the block
    scratch: Floats  # (5, …)
