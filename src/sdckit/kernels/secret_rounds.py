"""The numbers of `secret_numbers` in compiled code, for many of them."""

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Floats, Ints
from sdckit.kernels._jit import inner, jit
from sdckit.kernels.secret_numbers import ROUNDS, siphash

_siphash = inner(siphash)


@jit
def compiled_uniform(numbers: Ints, key: npt.NDArray[np.uint64]) -> Floats:
    """The same bits as `secret_uniform` makes of arrays."""
    found = np.empty(len(numbers))
    for i in range(len(numbers)):
        hashed = _siphash(key[0], key[1], np.uint64(numbers[i]))
        found[i] = (np.float64(hashed >> np.uint64(12)) + 0.5) * 2.0**-52
    return found


@jit
def compiled_places(numbers: Ints, key: npt.NDArray[np.uint64], low: int, high: int) -> Ints:
    """The same places as `secret_places` makes of arrays."""
    first, second = np.uint64(low), np.uint64(high)
    found = np.empty(len(numbers), dtype=np.int64)
    for i in range(len(numbers)):
        left, right = np.uint64(numbers[i]) // second, np.uint64(numbers[i]) % second
        for number in range(ROUNDS):
            size = first if number % 2 == 0 else second
            drawn = _siphash(key[0], key[1], right | (np.uint64(number) << np.uint64(56)))
            left, right = right, (left + drawn % size) % size
        found[i] = np.int64(left * second + right)
    return found
