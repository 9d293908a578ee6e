"""Minimum covariance determinant: a location and covariance that outliers cannot move."""

import math
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2
from sklearn.covariance import fast_mcd

from sdckit._support.arrays import Bools, Floats
from sdckit.errors import DataError

_PLENTY, _STARTS = 500, 3  # larger files are searched from samples of this size, this many times
_MIDDLE = 5_000  # and the starts compete on a sample of this size, so that only the best meets all records
_KEPT = 0.975  # records within this quantile of their squared distance are kept when reweighting
_FLAT = 1e-9  # least variance, in units of the variable's own, of a direction that half of the records share


@dataclass(frozen=True, slots=True)
class Mcd:
    """Raw: mean and covariance of the best subset. Reweighted: those of all records that then lie near."""

    location: Floats
    covariance: Floats
    raw_location: Floats
    raw_covariance: Floats
    support: Bools  # the best subset
    kept: Bools  # the records behind the reweighted estimate

    def squared_distances(self, x: Floats) -> Floats:
        """Squared distances of the rows of `x` (standardised numbers) from the centre.

        Those of a row with missing values, from the variables it has, are never longer than with all of them.
        """
        present = ~np.isnan(x)
        complete = present.all(axis=1)
        found = np.zeros(len(x))
        for pattern in [np.ones(x.shape[1], dtype=bool), *np.unique(present[~complete], axis=0)]:
            if pattern.any():
                rows = complete if pattern.all() else (present == pattern).all(axis=1)
                size, direction = np.linalg.eigh(self.covariance[np.ix_(pattern, pattern)])
                scores = (x[np.ix_(rows, pattern)] - self.location[pattern]) @ direction
                found[rows] = (scores**2 / np.maximum(size, _FLAT)).sum(axis=1)
        return found


def mcd(x: Floats, *, support_fraction: float = 0.5, seed: int = 0) -> Mcd:
    """The reweighted MCD estimate of the rows of `x` (complete numbers).

    The subset of h records with the smallest determinant of its covariance is searched by FastMCD, in files
    of more than 500 records from three samples of 500, which compete on at most 5,000 records before the best
    goes on to all; h runs from (n+p+1)/2 for
    `support_fraction` 0.5, the most robust, to n for 1. The raw covariance (divisor h−1) is multiplied by
    `consistency(h/n, p)`. Records whose squared distance is below the 0.975 quantile of χ²_p are kept, and
    their covariance is multiplied by `consistency(share kept, p)`, as robustbase does: its shape is free of
    the outliers, its size grows with their share. Factors for small samples are not applied. The same rows
    in any order give the same estimate for one seed.
    Where more than half of the records lie on a plane the covariance is singular and nothing is reweighted.
    Reference: Rousseeuw & Van Driessen (1999); Croux & Haesbroeck (1999).
    """
    n, p = x.shape
    if n <= p:
        raise DataError("The MCD needs more records than variables.", given=f"{n} records, {p} variables")
    half = (n + p + 1) // 2
    h = min(int(2 * half - n + 2 * (n - half) * support_fraction), n)
    order = np.lexsort(x.T)
    location, covariance, found = _search(x[order], h, seed)
    support = np.zeros(n, dtype=bool)
    support[order] = found
    raw = covariance * consistency(h / n, p)
    if np.linalg.matrix_rank(raw, hermitian=True) < p:
        return Mcd(location, raw, location, raw, support, support)
    centred = x - location
    distance = np.einsum("ij,ij->i", centred @ np.linalg.inv(raw), centred)
    kept = distance <= chi2.ppf(_KEPT, p)
    near = x[kept]
    final = np.atleast_2d(np.cov(near, rowvar=False)) * consistency(len(near) / n, p)
    return Mcd(near.mean(axis=0), final, location, raw, support, kept)


def mcd_or_plain(x: Floats) -> tuple[Floats, Floats, bool]:
    """Centre and covariance by the MCD; where that has no inverse, which is said, of all rows."""
    if len(x) > x.shape[1]:
        found = mcd(x)
        if np.linalg.matrix_rank(found.covariance, hermitian=True) == x.shape[1]:
            return found.location, found.covariance, False
    return *_estimate(x), True


def squared_distances(x: Floats, centre: Floats, covariance: Floats) -> Floats:
    """Squared Mahalanobis distances of the rows; a direction in which nothing varies does not count."""
    centred = x - centre
    squares = np.einsum("ij,ij->i", centred @ np.linalg.pinv(covariance, hermitian=True), centred)
    return np.asarray(squares)


def consistency(share: float, p: int) -> float:
    """What a covariance of the central `share` of normal data in p dimensions must be multiplied by."""
    if share >= 1:
        return 1.0
    return float(share / chi2.cdf(chi2.ppf(share, p), p + 2))


def _search(x: Floats, h: int, seed: int) -> tuple[Floats, Floats, Bools]:
    """The mean, covariance and rows of the best subset of h rows found."""
    n = len(x)
    if h == n:
        return *_estimate(x), np.ones(n, dtype=bool)
    rng = np.random.default_rng(seed)
    samples = [x] if n <= _PLENTY else [x[rng.choice(n, _PLENTY, replace=False)] for _ in range(_STARTS)]
    field = x if n <= _MIDDLE else x[rng.choice(n, _MIDDLE, replace=False)]
    part = h if field is x else math.ceil(h / n * len(field))
    best, smallest = field, math.inf
    for sample in samples:
        near = field[_concentrate(field, sample[_start(sample, h / n, seed)], part)]
        size = float(np.linalg.det(_estimate(near)[1]))
        if size < smallest:
            best, smallest = near, size
    found = _concentrate(x, best, h)
    return *_estimate(x[found]), found


def _start(x: Floats, share: float, seed: int) -> Bools:
    """FastMCD's subset of a sample."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # on flat data it warns of determinants; the result is checked by mcd
        try:
            support = fast_mcd(x, support_fraction=min(share + 0.5 / len(x), 1.0), random_state=seed)[2]
        except ValueError:  # half of the sample is one point: nothing to minimise
            distance = np.abs(x - np.median(x, axis=0)).sum(axis=1)
            support = np.isin(np.arange(len(x)), np.argsort(distance, kind="stable")[: int(share * len(x))])
    return np.asarray(support, dtype=bool)


def _concentrate(x: Floats, near: Floats, h: int) -> Bools:
    """C-steps: the h rows nearest to the estimate, again and again; the determinant never grows."""
    columns = np.ascontiguousarray(x.T)  # long rows: numpy is quick along them
    inside = near.T
    found = np.zeros(len(x), dtype=bool)
    for _ in range(100):
        location, covariance = inside.mean(axis=1), np.atleast_2d(np.cov(inside))
        if np.linalg.matrix_rank(covariance, hermitian=True) < x.shape[1]:
            covariance = covariance + np.eye(x.shape[1]) * (1e-12 * np.trace(covariance) or 1.0)
        centred = columns - location[:, None]
        distance = (centred * (np.linalg.inv(covariance) @ centred)).sum(axis=0)
        now = np.zeros(len(x), dtype=bool)
        now[np.argpartition(distance, h - 1)[:h]] = True
        if (now == found).all():
            break
        found, inside = now, np.compress(now, columns, axis=1)
    return found


def _estimate(x: Floats) -> tuple[Floats, Floats]:
    return x.mean(axis=0), np.atleast_2d(np.cov(x, rowvar=False))
