"""Which part of an order each row belongs to, by limits between the parts."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Ints
from sdckit.kernels._jit import jit

Keys = tuple[Ints, npt.NDArray[Any], Ints]  # of each row; the second are whole numbers or floating point


@jit
def parts_of_order(keys: Keys, limits: Keys) -> npt.NDArray[np.uint16]:
    """How many of the ascending limits each row has reached, the first keys deciding before the others."""
    major, minor, last = keys
    majors, minors, lasts = limits
    found = np.empty(major.shape[0], dtype=np.uint16)
    for i in range(major.shape[0]):
        low, high = 0, majors.shape[0]
        while low < high:
            middle = (low + high) // 2
            if major[i] != majors[middle]:
                reached = major[i] > majors[middle]
            elif minor[i] != minors[middle]:
                reached = minor[i] > minors[middle]
            else:
                reached = last[i] >= lasts[middle]
            if reached:
                low = middle + 1
            else:
                high = middle
        found[i] = low
    return found
