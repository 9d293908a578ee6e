"""Random draws that stay the same for ever: built on the raw bits of PCG64 only.

NumPy promises the stream of a bit generator, not that of `Generator.normal` and its like, so every
distribution here is a transform of raw bits. Each variable has a stream of its own (seed and name):
a variable added later leaves the others as they were.
"""

from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from sdckit._support.arrays import Floats, Ints
from sdckit.errors import OptionError, preview


def uniforms(seed: int, name: str, n: int) -> Floats:
    """n uniform numbers strictly between 0 and 1."""
    raw = np.random.PCG64([seed, crc32(name.encode())]).random_raw(n)
    return ((raw >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def normals(seed: int, name: str, n: int) -> Floats:
    """n standard normal numbers."""
    from scipy.special import ndtri  # a third of a second that importing sdckit should not cost

    return np.asarray(ndtri(uniforms(seed, name, n)), dtype=np.float64)


def pick(u: Floats, weights: ArrayLike) -> Ints:
    """Category 0, 1, … of each u, with chances proportional to weights (one row for all, or one each)."""
    edges = np.cumsum(np.asarray(weights, dtype=np.float64), axis=-1)
    if edges.ndim == 1:
        found = np.searchsorted(edges, u * edges[-1], side="right")
    else:
        found = (u[:, None] * edges[:, -1:] >= edges).sum(axis=1)
    return np.asarray(np.minimum(found, edges.shape[-1] - 1), dtype=np.int64)


def level(score: Floats, cuts: ArrayLike) -> Ints:
    """Ordered category 1, 2, … of a score: one more than the number of cuts it reaches."""
    return (np.searchsorted(np.asarray(cuts, dtype=np.float64), score, side="right") + 1).astype(np.int64)


def check(n: int, seed: int) -> None:
    """Refuse a number of records below 1 and a negative seed, or anything that is not a whole number."""
    for name, value, least in (("n", n, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise OptionError(
                f"{name} must be a whole number.", given=preview(value), allowed=f"{least} or more"
            )
