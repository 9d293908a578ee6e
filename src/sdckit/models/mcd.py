"""Minimum covariance determinant: a location and covariance that outliers cannot move."""

from dataclasses import dataclass

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.errors import DataError
from sdckit.models.chi_square import chi_square_quantile, chi_square_share
from sdckit.models.mcd_search import best_subset, mean_and_covariance, squares_from
from sdckit.models.small_sample import small_sample_factor

_KEPT = 0.975  # records within this quantile of their squared distance are kept when reweighting
_FLAT = 1e-9  # least variance, in units of the variable's own, of a direction that half of the records share


@dataclass(frozen=True, slots=True)
class Mcd:
    """Raw: mean and covariance of the best subset. Reweighted: those of all records that then lie near."""

    location: Floats
    covariance: Floats
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

    The subset of h records with the smallest determinant of its covariance is searched by `best_subset`:
    exactly in tiny files, otherwise by FastMCD; h runs from (n+p+1)/2 for `support_fraction` 0.5, the most
    robust, to n for 1. The raw covariance (divisor h−1) is multiplied by `consistency(h/n, p)` and by
    `small_sample_factor`. Records whose squared distance is then below the 0.975 quantile of χ²_p are kept,
    and their covariance is multiplied by `consistency(share kept, p)` and the small-sample factor of
    reweighted estimates, as robustbase does: its shape is free of the outliers, its size grows with their
    share. The factors make sizes right on average for normal data: raw ones of 20 records in two variables
    are a quarter too small without. Where all records are kept there is nothing to correct. The same rows
    in any order give the same estimate for one seed.
    Where more than half of the records lie on a plane the covariance is singular and nothing is reweighted.
    Reference: Rousseeuw & Van Driessen (1999); Croux & Haesbroeck (1999); Pison, Van Aelst & Willems (2002).
    """
    n, p = x.shape
    if n <= p:
        raise DataError("The MCD needs more records than variables.", given=f"{n} records, {p} variables")
    half = (n + p + 1) // 2
    h = min(int(2 * half - n + 2 * (n - half) * support_fraction), n)
    order = _order(x)
    support = np.ones(n, dtype=bool)
    if h < n:
        support[order] = best_subset(x[order], h, seed)
    columns = np.ascontiguousarray(x.T)
    location, covariance = mean_and_covariance(columns[:, support])
    raw = covariance * consistency(h / n, p) * (small_sample_factor(n, p, support_fraction) if h < n else 1.0)
    if np.linalg.matrix_rank(raw, hermitian=True) < p:
        return Mcd(location, raw, raw, support, support)
    kept = squares_from(columns, location, raw) <= chi_square_quantile(_KEPT, p)
    near, final = mean_and_covariance(columns[:, kept])
    if not kept.all():
        share = float(kept.mean())
        final = final * consistency(share, p) * small_sample_factor(n, p, support_fraction, reweighted=True)
    return Mcd(near, final, raw, support, kept)


def mcd_or_plain(x: Floats) -> tuple[Floats, Floats, bool]:
    """Centre and covariance by the MCD; where that has no inverse, which is said, of all rows."""
    if len(x) > x.shape[1]:
        found = mcd(x)
        if np.linalg.matrix_rank(found.covariance, hermitian=True) == x.shape[1]:
            return found.location, found.covariance, False
    return x.mean(axis=0), np.atleast_2d(np.cov(x, rowvar=False)), True


def squared_distances(x: Floats, centre: Floats, covariance: Floats) -> Floats:
    """Squared Mahalanobis distances of the rows; a direction in which nothing varies does not count."""
    centred = x - centre
    squares = np.einsum("ij,ij->i", centred @ np.linalg.pinv(covariance, hermitian=True), centred)
    return np.asarray(squares)


def consistency(share: float, p: int) -> float:
    """What a covariance of the central `share` of normal data in p dimensions must be multiplied by."""
    if share >= 1:
        return 1.0
    return float(share / chi_square_share(chi_square_quantile(share, p), p + 2))


def _order(x: Floats) -> Ints:
    """The rows in an order that does not depend on the one they are in."""
    key = np.zeros(len(x))
    for j in range(x.shape[1]):
        key += x[:, j] * (j + 1) ** 0.5
    order = np.argsort(key)
    ties = np.flatnonzero(np.diff(key[order]) == 0)  # of equal rows, unless by chance
    return order if (x[order[ties]] == x[order[ties + 1]]).all() else np.lexsort(x.T)
