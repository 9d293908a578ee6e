"""Permanents of many small matrices at once: all ways to match the members of two households."""

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]

LARGEST = 8  # rows; beyond it the best matching stands for all


def permanents(matrices: _Floats) -> _Floats:
    """Σ over permutations σ of Π_a A[a, σ(a)], divided by the number of permutations, for A [n, k, k].

    Rows are added one by one to sums over sets of columns, so that no term is negative and small permanents
    keep their precision (inclusion and exclusion loses it). Larger matrices: the largest term alone.
    """
    number, size, _ = matrices.shape
    if size > LARGEST:
        return _best_matchings(matrices)
    sums: dict[int, _Floats] = {0: np.ones(number)}  # by set of columns, as bits
    for row in range(size):
        larger: dict[int, _Floats] = {}
        for columns, value in sums.items():
            for column in range(size):
                if not columns >> column & 1:
                    term = matrices[:, row, column] * value
                    wider = columns | 1 << column
                    larger[wider] = larger[wider] + term if wider in larger else term
        # the number of permutations is divided out on the way
        sums = {columns: value / (row + 1) for columns, value in larger.items()}
    return sums[2**size - 1]


def _best_matchings(matrices: _Floats) -> _Floats:
    from scipy.optimize import linear_sum_assignment  # slow to import, and such households are rare

    best = np.zeros(len(matrices))
    with np.errstate(divide="ignore"):
        cost = -np.log(matrices)
    for place in np.flatnonzero((matrices.max(axis=2) > 0).all(axis=1)):
        bounded = np.where(np.isfinite(cost[place]), cost[place], 1e6)
        rows, columns = linear_sum_assignment(bounded)
        best[place] = np.prod(matrices[place][rows, columns])
    return best
