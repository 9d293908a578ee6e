"""Which leaf of a tree the codes of a synthetic record lead to."""

import numpy as np

from sdckit._support.arrays import Codes, Ints
from sdckit.kernels._jit import jit
from sdckit.kernels.synthesis.bins import Predictors
from sdckit.kernels.synthesis.grow import BITS, CHILD, CUT, FEATURE

BLOCK = 2_048  # records that go down together: while one waits for memory, the next is under way


@jit
def find_leaves(codes: Predictors, columns: Codes, nodes: Codes, bits: Ints) -> Codes:
    """The node in which each record ends. codes (q, k): of all columns; columns: which of them predict."""
    n = codes.shape[1]
    found = np.zeros(n, dtype=np.int32)
    under_way = np.empty(min(n, BLOCK), dtype=np.int64)
    for start in range(0, n, BLOCK):
        left = min(BLOCK, n - start)
        for place in range(left):
            under_way[place] = start + place
        while left > 0:
            still = 0
            for place in range(left):
                i = under_way[place]
                node = found[i]
                feature = nodes[node, FEATURE]
                if feature >= 0:
                    code = np.int64(codes[columns[feature], i])
                    first = nodes[node, BITS]
                    if first < 0:
                        right = np.int64(code > nodes[node, CUT])
                    else:
                        right = (bits[first + (code >> 6)] >> (code & 63)) & 1
                    found[i] = nodes[node, CHILD] + right
                    under_way[still] = i
                    still += 1
            left = still
    return found
