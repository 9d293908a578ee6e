"""The search for the subset of records with the smallest determinant of its covariance."""

import math
from itertools import combinations

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints, column_pieces, scatter

_EVERY_SUBSET, _EVERY_START = 25_000, 5_000  # up to so many subsets, or starts, all are tried
_TINY = 200  # more records have more of them, unless nearly all are held
_SMALL, _STARTS, _BEST = 600, 1_000, 200  # up to so many records: all at once, from random starts
_BLOCKS, _BLOCK, _BLOCK_STARTS, _BLOCK_BEST = 5, 300, 100, 10  # more records: starts in blocks of them
_POOLED_BEST = 10
_MIDDLE = 5_000  # the best of all blocks compete on so many records, and only one of them meets all
_FIRST, _ROUNDS = 2, 200  # C-steps of every start; of the best, unless their records stay the same before
_TOGETHER = (
    250_000  # multiplications: larger products of matrices start threads that wait more than they work
)
_FLAT = 1e-12  # least variance along a direction, in units of the squared scales of the variables


def best_subset(x: Floats, h: int, seed: int) -> Bools:
    """Which h rows of x [n, p] have the covariance with the smallest determinant that was found.

    A C-step takes mean and covariance of the rows held and then holds the h rows nearest by these; the
    determinant never grows. Starts are p + 1 rows.

    - One variable: all windows of h sorted values, which is exact.
    - Up to 25,000 subsets of h rows: all of them, which is exact.
    - Up to 600 rows: 1,000 random starts (all of them up to 5,000) make two C-steps, the best 200 go on.
    - More rows: 100 starts in each of five blocks of 300 rows; the best ten of each make two C-steps among
      the rows of all blocks, the best ten of these go on among at most 5,000 rows, the best among all.

    Reference: Rousseeuw & Van Driessen (1999).
    """
    n, p = x.shape
    if p == 1:
        return _best_window(x[:, 0], h)
    rng = np.random.default_rng(seed)
    rows = np.arange(n) if n <= _SMALL else rng.permutation(n)[:_MIDDLE]
    features, part = _features(_scaled(x[rows])), math.ceil(h / n * len(rows))
    if n <= _TINY and math.comb(n, h) <= _EVERY_SUBSET:
        every = _as_mask(np.array(list(combinations(range(n), h))), n)
        return np.asarray(every[_forms(features, every)[1].argmin()] > 0)
    forms = (
        _from_starts(features, h, _STARTS, _BEST, rng) if n <= _SMALL else _from_blocks(features, h / n, rng)
    )
    held = _nearest(features, _converged(features, forms, part), part)
    return _concentrate(x, x[rows[held[0] > 0]], h)


def _best_window(values: Floats, h: int) -> Bools:
    """The h consecutive sorted values with the least variance, the lowest of several."""
    order = np.argsort(values, kind="stable")
    windows = np.lib.stride_tricks.sliding_window_view(values[order] - np.median(values), h)
    first = int(windows.var(axis=1).argmin())
    found = np.zeros(len(values), dtype=bool)
    found[order[first : first + h]] = True
    return found


def _scaled(x: Floats) -> Floats:
    """Variables round their median, in units of a spread that outliers do not make; 1 where there is none."""
    away = x - np.median(x, axis=0)
    size = np.median(np.abs(away), axis=0)
    size = np.where(size > 0, size, np.abs(away).mean(axis=0))
    return np.asarray(away / np.where(size > 0, size, 1.0))


def _features(z: Floats) -> Floats:
    """1, the variables and their products: [n, 1 + p + p(p+1)/2].

    Sums over rows of these give means and covariances, and squared distances are linear in them; so all
    subsets of a search are one product of matrices a step.
    """
    row, column = np.triu_indices(z.shape[1])
    return np.hstack([np.ones((len(z), 1)), z, z[:, row] * z[:, column]])


def _variables(features: Floats) -> int:
    return int((math.isqrt(8 * features.shape[1] + 1) - 3) // 2)


def _forms(features: Floats, held: Floats) -> tuple[Floats, Floats]:
    """Squared distances from each subset's mean by its covariance, less a constant, as coefficients of the
    features [s, q], and the logarithms of the determinants [s]; `held` [s, n] is 1 for rows of the subset."""
    p = _variables(features)
    row, column = np.triu_indices(p)
    sums = _product(held, features)
    count, mean = sums[:, :1], sums[:, 1 : p + 1] / sums[:, :1]
    covariance = np.empty((len(held), p, p))
    pairs = (sums[:, p + 1 :] - count * mean[:, row] * mean[:, column]) / (count - 1)
    covariance[:, row, column] = covariance[:, column, row] = pairs
    size, direction = np.linalg.eigh(covariance)
    size = np.maximum(size, _FLAT)
    inverse = (direction / size[:, None, :]) @ direction.transpose(0, 2, 1)
    linear = -2 * np.einsum("sij,sj->si", inverse, mean)
    products = inverse[:, row, column] * np.where(row == column, 1.0, 2.0)
    return np.hstack([np.zeros_like(count), linear, products]), np.log(size).sum(axis=1)


def _nearest(features: Floats, forms: Floats, h: int) -> Floats:
    """The h rows nearest by each form, as `held` of `_forms`."""
    distance = _product(forms, features.T)
    return _as_mask(np.argpartition(distance, h - 1, axis=1)[:, :h], len(features))


def _as_mask(rows: Ints, n: int) -> Floats:
    held = np.zeros((len(rows), n))
    np.put_along_axis(held, rows, 1.0, axis=1)
    return held


def _c_steps(features: Floats, forms: Floats, h: int, best: int) -> Floats:
    """The forms with the smallest determinants, each once, after the first C-steps."""
    sizes = np.zeros(len(forms))
    for _ in range(_FIRST):
        forms, sizes = _forms(features, _nearest(features, forms, h))
    return forms[np.unique(sizes.round(9), return_index=True)[1][:best]]


def _converged(features: Floats, forms: Floats, h: int) -> Floats:
    """The best form [1, q] when C-steps no longer change any."""
    best, smallest = forms[:1], math.inf
    held = _nearest(features, forms, h)
    for _ in range(_ROUNDS):
        forms, sizes = _forms(features, held)
        if sizes.min() < smallest:
            best, smallest = forms[[sizes.argmin()]], float(sizes.min())
        now = _nearest(features, forms, h)
        held = now[(now != held).any(axis=1)]
        if not len(held):
            break
    return best


def _from_starts(features: Floats, h: int, starts: int, best: int, rng: np.random.Generator) -> Floats:
    """The best forms after the first C-steps from subsets of p + 1 rows."""
    n, size = len(features), _variables(features) + 1
    if n <= _TINY and math.comb(n, size) <= _EVERY_START:
        rows = np.array(list(combinations(range(n), size)))
    else:
        rows = np.argpartition(rng.random((starts, n)), size, axis=1)[:, :size]
    return _c_steps(features, _forms(features, _as_mask(rows, n))[0], h, best)


def _from_blocks(features: Floats, share: float, rng: np.random.Generator) -> Floats:
    """The best forms after the first C-steps in blocks of the rows, and then among those of all blocks."""
    h = math.ceil(share * _BLOCK)
    blocks = [features[i * _BLOCK : (i + 1) * _BLOCK] for i in range(min(_BLOCKS, len(features) // _BLOCK))]
    found = [_from_starts(block, h, _BLOCK_STARTS, _BLOCK_BEST, rng) for block in blocks]
    pooled = features[: _BLOCK * len(found)]
    return _c_steps(pooled, np.vstack(found), math.ceil(share * len(pooled)), _POOLED_BEST)


def _concentrate(x: Floats, near: Floats, h: int) -> Bools:
    """C-steps from the rows `near`, by the plain formulas, which lose no digits."""
    p = x.shape[1]
    columns = np.ascontiguousarray(x.T)  # long rows: numpy is quick along them
    inside = near.T
    found = np.zeros(len(x), dtype=bool)
    for _ in range(_ROUNDS):
        location, covariance = mean_and_covariance(inside)
        if np.linalg.matrix_rank(covariance, hermitian=True) < p:
            covariance = covariance + np.eye(p) * (_FLAT * np.trace(covariance) or 1.0)
        distance = squares_from(columns, location, covariance)
        now = np.zeros(len(x), dtype=bool)
        now[np.argpartition(distance, h - 1)[:h]] = True
        if (now == found).all():
            break
        found, inside = now, np.compress(now, columns, axis=1)
    return found


def mean_and_covariance(columns: Floats) -> tuple[Floats, Floats]:
    """Of variables in rows."""
    location = columns.mean(axis=1)
    return location, scatter(columns - location[:, None]) / (columns.shape[1] - 1)


def squares_from(columns: Floats, location: Floats, covariance: Floats) -> Floats:
    """Squared Mahalanobis distances of records, variables in rows."""
    inverse, found = np.linalg.inv(covariance), []
    for piece in column_pieces(columns):
        centred = piece - location[:, None]
        found.append((centred * (inverse @ centred)).sum(axis=0))
    return np.concatenate(found)


def _product(a: Floats, b: Floats) -> Floats:
    """a @ b, in pieces that one thread works on."""
    if len(a) == 1:
        return np.asarray(np.einsum("ij,jk->ik", a, b))
    rows = max(_TOGETHER // b.size, 1)
    return np.vstack([a[first : first + rows] @ b for first in range(0, len(a), rows)])
