"""Groups of consecutive ranks."""

import math

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def rank_groups(n: int, share: float, least: int) -> Ints:
    """Group label (0, 1, …) of each of n ranks: ranks i and j of a group have |i−j|/n < share.

    As few groups as that allows, sizes at most one apart. Groups have `least` ranks or more, even where
    `share` must then be exceeded; one group where n < 2·least.
    """
    largest = math.ceil(share * n - 1e-9)  # 0.07 · 100 is a little above 7 in floating point
    groups = min(math.ceil(n / max(largest, 1)), max(n // least, 1))
    return np.arange(n, dtype=np.int64) * groups // max(n, 1)
