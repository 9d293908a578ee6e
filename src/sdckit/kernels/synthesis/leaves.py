"""Which leaf of a tree the codes of a synthetic record lead to, and which of its donors the record gets."""

import numpy as np

from sdckit._support.arrays import Codes, Floats, Ints
from sdckit.kernels._jit import jit
from sdckit.kernels.synthesis.bins import Predictors, Whole
from sdckit.kernels.synthesis.grow import BITS, CHILD, CUT, FEATURE, START, STOP

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


@jit
def spread_donors(at: Codes, nodes: Codes, u: Floats, block: Whole) -> Ints:
    """The place of a donor for each record, spread evenly over the donors of its node.

    at: the node of each record. The donors of a node are cut into runs of at least `block` of them, as they
    stand; each run gets its share of the records, which are assigned at random, and gives them donors at
    random. So every donor is drawn with the same probability, but runs come as often as they should.
    u: one random number for each record, which tells its place among the others and its donor.
    """
    n = at.shape[0]
    first = np.zeros(nodes.shape[0] + 1, dtype=np.int64)
    for i in range(n):
        first[at[i] + 1] += 1
    for node in range(nodes.shape[0]):
        first[node + 1] += first[node]
    filled = np.zeros(nodes.shape[0], dtype=np.int64)
    order = np.empty(n, dtype=np.int64)
    rest = np.empty(n)
    for i in range(n):  # a random order of the records of each node
        node = at[i]
        x = u[i] * (filled[node] + 1)
        j = min(np.int64(x), filled[node])
        rest[i] = x - j  # what is left of the random number is random, too
        order[first[node] + filled[node]] = order[first[node] + j]
        order[first[node] + j] = i
        filled[node] += 1
    places = np.empty(n, dtype=np.int64)
    for node in range(nodes.shape[0]):
        records = filled[node]
        low, donors = np.int64(nodes[node, START]), np.int64(nodes[node, STOP] - nodes[node, START])
        runs = max(min(records, donors // block), 1)
        for run in range(runs):
            begin, end = run * records // runs, (run + 1) * records // runs
            for r in range(begin, end):
                i = order[first[node] + r]
                place = np.int64((begin + (end - begin) * rest[i]) * donors / records)
                places[i] = low + min(place, donors - 1)
    return places
