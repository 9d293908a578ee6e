"""The rounds of `keyed_numbers` in compiled code, for many numbers."""

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Floats, Ints
from sdckit.kernels._jit import jit


@jit
def compiled_uniform(numbers: Ints, keys: npt.NDArray[np.uint64]) -> Floats:
    """The same bits as `keyed_uniform` makes of arrays."""
    prime, four = np.uint64(1_518_500_213), np.uint64(4)
    found = np.empty(len(numbers))
    for i in range(len(numbers)):
        number = numbers[i]
        size = np.uint64(-1 - number) if number < 0 else np.uint64(number)
        rest = size // prime
        over = rest // prime
        if number < 0:
            over += four
        x = size % prime
        y = x
        for j in range(8):
            if j == 3:
                x, y = (x + rest % prime) % prime, (y + rest % prime) % prime
            if j == 5:
                x, y = (x + over) % prime, (y + over) % prime
            x += keys[0, j]
            y += keys[1, j]
            x = x * x % prime * x % prime
            y = y * y % prime * y % prime
        digits = x * np.uint64(1_482_911) + y // np.uint64(1024)
        found[i] = (np.float64(digits) + 0.5) * (1.0 / (1_518_500_213 * 1_482_911))
    return found
