"""Which leaf of a tree the codes of a synthetic record lead to, and which of its donors the record gets."""

import numpy as np

from sdckit._support.arrays import Codes, Floats, Ints
from sdckit.kernels._jit import jit
from sdckit.kernels.synthesis.bins import Predictors, Whole
from sdckit.kernels.synthesis.grow import BITS, CHILD, CUT, FEATURE, START, STOP


@jit
def find_leaves(codes: Predictors, columns: Codes, nodes: Codes, bits: Ints) -> Codes:
    """The node in which each record ends. codes (q, k): of all columns; columns: which of them predict.

    Node after node its records are told apart without a branch, those that go left before those that go
    right, in their order: children stand behind their parents.
    """
    n = codes.shape[1]
    found = np.zeros(n, dtype=np.int32)
    order, right_ones = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    for i in range(n):
        order[i] = i
    ends = np.zeros((nodes.shape[0], 2), dtype=np.int64)
    ends[0, 1] = n
    for node in range(nodes.shape[0]):
        low, high = ends[node, 0], ends[node, 1]
        feature = nodes[node, FEATURE]
        if feature < 0:
            for place in range(low, high):
                found[order[place]] = node
            continue
        column, first, cut = columns[feature], nodes[node, BITS], nodes[node, CUT]
        left, count = low, np.int64(0)
        for place in range(low, high):
            i = order[place]
            code = np.int64(codes[column, i])
            right = np.int64(code > cut) if first < 0 else (bits[first + (code >> 6)] >> (code & 63)) & 1
            order[left] = i
            right_ones[count] = i
            left += 1 - right
            count += right
        for place in range(count):
            order[left + place] = right_ones[place]
        child = nodes[node, CHILD]
        ends[child, 0], ends[child, 1] = low, left
        ends[child + 1, 0], ends[child + 1, 1] = left, high
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
