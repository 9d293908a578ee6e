"""Types of arrays, each in one word; kernels have their own. Products of long matrices."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]  # of categories: 0, 1, …; missing is −1
Bools = npt.NDArray[np.bool_]

_PIECE = 8_192  # columns: products of longer matrices start threads that wait more than they work


def column_pieces(rows: Floats) -> Iterator[Floats]:
    """A matrix of few long rows in pieces, products with which one thread makes fastest."""
    for first in range(0, rows.shape[1], _PIECE):
        yield rows[:, first : first + _PIECE]


def scatter(rows: Floats) -> Floats:
    """rows @ rows.T."""
    p = len(rows)
    return sum((piece @ piece.T for piece in column_pieces(rows)), np.zeros((p, p)))
