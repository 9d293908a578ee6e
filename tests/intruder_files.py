"""Small artificial files and their protections as integer codes, for tests of the intruder."""

import numpy as np

from sdckit.kernels.mode_products import Axis

SIZES = (3, 2, 40, 6, 4)


def people(n, rng, sizes=SIZES):
    """Keys that hang together and have rare values."""
    common = rng.random(n)
    columns = []
    for size in sizes:
        mixed = 0.5 * common + 0.5 * rng.beta(1.2, 2.0, n)
        columns.append(np.minimum((mixed * size).astype(np.int32), size - 1))
    return np.column_stack(columns).astype(np.int32)


def pram(x, stay, rng, keys=None):
    """Values stay with this probability, and else move to another value with even chances."""
    y = x.copy()
    for v in range(x.shape[1]) if keys is None else keys:
        size = x[:, v].max() + 1
        moves = (rng.random(len(x)) >= stay) & (x[:, v] >= 0)
        y[moves, v] = (x[moves, v] + rng.integers(1, size, moves.sum())) % size
    return y


def suppress_unique(x, rng):
    """Blank one key at random in records whose combination occurs once."""
    _, place, count = np.unique(x, axis=0, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(count[place.ravel()] == 1)
    y = x.copy()
    y[rows, rng.integers(0, x.shape[1], len(rows))] = -1
    return y


def swap(x, share, rng, keys):
    """Exchange values of some keys between random pairs of records."""
    y = x.copy()
    for v in keys:
        rows = rng.permutation(len(x))[: int(share * len(x)) // 2 * 2]
        left, right = rows[::2], rows[1::2]
        y[left, v], y[right, v] = x[right, v], x[left, v]
    return y


def recoded(x, key, width):
    """A key in groups of neighbouring values; groups are named by their first value."""
    y = x.copy()
    y[:, key] = np.where(x[:, key] < 0, -1, x[:, key] // width * width)
    return y


def random_axis(rng, true, shown, blank, moves):
    """A channel between values of which not all are in both files."""
    same = np.full(true, -1)
    both = min(true, shown) - rng.integers(0, 2)
    same[rng.permutation(true)[:both]] = rng.permutation(shown)[:both]
    stay, suppressed = rng.choice([0.0, 0.3, 0.6], true), rng.choice([0.0, 0.1], true)
    spread = rng.choice([0.0, 0.02, 0.1], true) if moves else np.zeros(true)
    return Axis(same, stay, suppressed, spread, rng.choice([0.5, 1.5, 3.5], shown), blank)


def matrix(axis):
    """m[x, y] of a channel along an axis."""
    m = np.zeros((len(axis.same), axis.released))
    for x, same in enumerate(axis.same):
        for y in range(len(axis.pull)):
            m[x, y] = axis.stay[x] if y == same else axis.spread[x] * axis.pull[y]
        if axis.blank:
            m[x, -1] = axis.suppressed[x]
    return m
