"""Bootstrap weights of a stratified cluster sample."""

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit.kernels._jit import jit


@jit
def bootstrap_weights(
    uniforms: Floats,
    first: Ints,
    size: Ints,
    base: Floats,
    gain: Floats,
    cluster: Ints,
    w: Floats,
    out: Floats,
) -> None:
    """out[r, i] = w[i]·(base + gain·count) of the record's PSU.

    uniforms [r, m]: one draw a PSU, from 0 up to but not 1. PSUs are numbered by stratum: draw j takes one of
    the `size[j]` PSUs from `first[j]` on, and none where `size[j]` is 0. base, gain [m]; cluster, w [n].
    """
    m, n = uniforms.shape[1], len(w)
    counts = np.empty(m)
    for r in range(uniforms.shape[0]):
        for j in range(m):
            counts[j] = 0.0
        for j in range(m):
            if size[j] > 0:
                counts[first[j] + np.int64(uniforms[r, j] * size[j])] += 1.0
        for j in range(m):
            counts[j] = base[j] + gain[j] * counts[j]
        for i in range(n):
            out[r, i] = w[i] * counts[cluster[i]]
