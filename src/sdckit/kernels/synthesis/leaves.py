"""Which leaf of a tree the codes of a synthetic record lead to."""

import numpy as np

from sdckit._support.arrays import Codes, Ints
from sdckit.kernels._jit import jit
from sdckit.kernels.synthesis.bins import Predictors
from sdckit.kernels.synthesis.grow import BITS, CHILD, CUT, FEATURE


@jit
def find_leaves(codes: Predictors, columns: Codes, nodes: Codes, bits: Ints) -> Codes:
    """The node in which each record ends. codes (q, k): of all columns; columns: which of them predict."""
    n = codes.shape[1]
    found = np.empty(n, dtype=np.int32)
    for i in range(n):
        node = 0
        feature = nodes[0, FEATURE]
        while feature >= 0:
            code = np.int64(codes[columns[feature], i])
            first = nodes[node, BITS]
            if first < 0:
                right = code > nodes[node, CUT]
            else:
                right = ((bits[first + (code >> 6)] >> (code & 63)) & 1) == 1
            node = nodes[node, CHILD] + (1 if right else 0)
            feature = nodes[node, FEATURE]
        found[i] = node
    return found
