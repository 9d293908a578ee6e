"""What records with the same keys mostly show of a sensitive column of which values were changed."""

import numpy as np

from sdckit._support.arrays import Ints
from sdckit.kernels.hashing import distinct_rows

LEAST = 0.5  # share of the values shown that are one value, from which on it is the one mostly shown
STEPS = 10  # in which the share is told apart, up to 1
FEWEST = 2  # records that show it
BINS = 3  # by how many: 2 and 3, 4 to 7, more
LEARNED = 20  # records at least of which it is learned what their true values are


def mostly_shown(released: Ints, shown: Ints, size: int) -> tuple[Ints, int]:
    """A code for each record by what records with its keys mostly show, and below which number codes are.

    Five records with the keys of a person, nearly all of them ill, tell that this one is ill as well, even if
    the sixth is blank and each was exchanged at random now and then. The code has the value, in which part of
    the records it is shown, and roughly in how many; −1 where nothing is shown mostly, or too rarely to learn
    what it means.

    released: keys of the records [records, keys]. shown: codes below `size`, −1 is blank.
    """
    group = distinct_rows(list(released.T))[1] if released.shape[1] else np.zeros(len(shown), dtype=np.int64)
    there = shown >= 0
    pairs, counts = np.unique(group[there] * size + shown[there], return_counts=True)
    order = np.argsort(counts, kind="stable")
    of, value, count = pairs[order] // size, pairs[order] % size, counts[order]
    most, mode = np.zeros((2, int(group.max(initial=0)) + 1), dtype=np.int64)
    most[of], mode[of] = count, value  # the most frequent of a group is written last
    share = most / np.maximum(np.bincount(of, count, len(most)), 1)
    many = np.minimum(np.log2(np.maximum(most, 1)).astype(np.int64), BINS)
    kind = (mode * (STEPS + 1) + (share * STEPS + 1e-9).astype(np.int64)) * (BINS + 1) + many
    kind[(most < FEWEST) | (share < LEAST)] = -1
    kinds, code, records = np.unique(kind[group], return_inverse=True, return_counts=True)
    learned = (records >= LEARNED) & (kinds >= 0)
    return np.where(learned, np.cumsum(learned) - 1, -1)[code], int(learned.sum())
