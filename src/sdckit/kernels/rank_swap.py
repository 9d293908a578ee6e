"""Partners for rank swapping."""

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import jit
from sdckit.kernels.suppression.counts import mix

Ints = npt.NDArray[np.int64]


@jit
def swap_in_window(n: int, window: int, seed: int) -> Ints:
    """For each of n ranks the rank it changes places with, at most `window` (1 or more) away; pairs, random.

    From the lowest rank up, each rank without a partner draws one uniformly among those above it, within the
    window, that have none. The highest rank of the window is always free, or the window reaches the end and
    the ranks left are counted; so drawing until a free one comes ends, after O(1) draws a rank on average.
    If n is odd one rank keeps its place.
    """
    partner = np.arange(n)
    left = n  # ranks without a partner
    draws = 0
    for i in range(n):
        if partner[i] != i:
            continue
        left -= 1
        if left == 0:
            break
        above = min(window, n - 1 - i)
        j = i
        while partner[j] != j or j == i:
            word = mix(np.uint64(seed) + np.uint64(draws))
            draws += 1
            j = i + 1 + int((word >> np.uint64(11)) * 2.0**-53 * above)
        partner[i], partner[j] = j, i
        left -= 1
    return partner
