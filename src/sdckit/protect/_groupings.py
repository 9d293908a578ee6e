"""Ways to form groups of similar records, and what becomes of the values of a group."""

from enum import StrEnum

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.protect._numbers import standardise

GROUPS_PER_CLUSTER = 100
MAX_CLUSTERS = 50
MIN_PER_VARIABLE = 5  # records for each variable that a robust covariance needs
_ROUNDING = 1e-9  # of sums of squares
CENTRES = 20_000  # records, evenly spaced, from which the clusters' centres are found


class Statistic(StrEnum):
    """What a group's numbers become."""

    MEAN = "mean"
    MEDIAN = "median"


class Transform(StrEnum):
    """What numbers become for the distances alone."""

    NONE = "none"
    LOG = "log"
    RANK = "rank"


def mdav_groups(z: Floats, k: int, refine: bool) -> Ints:
    """A group for each record. For a single variable refined groups are the optimal ones, found at once."""
    if refine and z.shape[1] == 1:
        from sdckit.kernels.microaggregation.univariate import optimal_univariate

        return optimal_univariate(z[:, 0], k)
    from sdckit.kernels.microaggregation.mdav import mdav

    return _refined(z, mdav(z, k), k) if refine else mdav(z, k)


def pca_groups(z: Floats, k: int, refine: bool) -> Ints:
    """Consecutive groups of k in the order of the first principal component of standardised variables.

    The last group takes the remainder, so the order is begun at either end, and the groups that lose less
    are taken; of two that lose the same those from the low end, where the largest part of the component,
    whose sign is arbitrary, is positive.
    """
    from sdckit.kernels.microaggregation.univariate import individual_ranking

    z = standardise(z)
    direction = np.linalg.eigh(z.T @ z)[1][:, -1]
    along = z @ (direction * np.sign(direction[np.abs(direction).argmax()]))
    low, high = individual_ranking(along, k), individual_ranking(-along, k)
    return high if within_groups(z, high) < within_groups(z, low) * (1 - _ROUNDING) else low


def within_groups(z: Floats, group: Ints) -> float:
    """The sum of squares around the means of the groups."""
    return float(((z - summarised(z, group, Statistic.MEAN)) ** 2).sum())


def cluster_groups(z: Floats, k: int, refine: bool) -> Ints:
    """MDAV within the clusters of k-means; records of clusters below k go to the nearest other one."""
    from scipy.spatial import cKDTree

    from sdckit.models.k_means import k_means

    n = len(z)
    clusters = min(n // (GROUPS_PER_CLUSTER * k), MAX_CLUSTERS)
    if clusters < 2:
        return mdav_groups(z, k, refine)
    sample = z[np.lexsort(z.T)][:: max(n // CENTRES, 1)]
    clusters = min(clusters, len(np.unique(sample, axis=0)))
    centres = k_means(sample, clusters)
    cluster = cKDTree(centres).query(z)[1]
    while (sizes := np.bincount(cluster, minlength=len(centres))).min() < k:
        centres = np.delete(centres, sizes.argmin(), axis=0)
        cluster = cKDTree(centres).query(z)[1]
    labels, groups = np.empty(n, dtype=np.int64), 0
    for number in range(len(centres)):
        rows = np.flatnonzero(cluster == number)
        labels[rows] = groups + mdav_groups(np.ascontiguousarray(z[rows]), k, False)
        groups = int(labels[rows].max()) + 1
    return _refined(z, labels, k) if refine else labels


def robust_groups(z: Floats, k: int, refine: bool) -> Ints:
    """Groups around the records farthest from the centre by the MCD, each with its k−1 nearest.

    Where the MCD is singular, as half of the records lie on a plane, mean and covariance of all records are
    taken; a direction in which nothing varies does not count.
    """
    from sdckit.kernels.microaggregation.seeded import ordered_groups
    from sdckit.models.mcd import mcd_or_plain, squared_distances

    centre, covariance = z.mean(axis=0), np.atleast_2d(np.cov(z, rowvar=False))
    if len(z) > MIN_PER_VARIABLE * z.shape[1]:
        centre, covariance, _ = mcd_or_plain(z)
    away = squared_distances(z, centre, covariance)
    labels = ordered_groups(z, np.argsort(-away, kind="stable"), k)
    return _refined(z, labels, k) if refine else labels


def optimal_groups(z: Floats, k: int, refine: bool) -> Ints:
    """The groups of at least k values of one column with the least sum of squares."""
    from sdckit.kernels.microaggregation.univariate import optimal_univariate

    return optimal_univariate(z[:, 0], k)


def rank_groups_of(column: Floats, distance: float, k: int) -> Ints:
    """Groups of ranks with |i−j|/n below a distance."""
    from sdckit.kernels.microaggregation.univariate import rank_groups

    labels = np.empty(len(column), dtype=np.int64)
    labels[np.argsort(column, kind="stable")] = rank_groups(len(column), distance, k)
    return labels


def _refined(z: Floats, labels: Ints, k: int) -> Ints:
    from sdckit.kernels.microaggregation.refine import refine

    return refine(z, labels, k)


def by_range(x: Floats) -> Floats:
    """Columns divided by their range; constant columns become 0."""
    low, high = np.fmin.reduce(x), np.fmax.reduce(x)  # fmin and fmax pass over nan
    width = high / 2 - low / 2  # halves, because the difference of two very large numbers would overflow
    return np.asarray((x / 2 - low / 2) / np.where(width > 0, width, 1.0))


def transformed(x: Floats, transform: Transform) -> Floats:
    """The numbers distances are made of: sign(x)·log(1+|x|), or mean ranks; missing stays missing."""
    if transform is Transform.LOG:
        return np.asarray(np.sign(x) * np.log1p(np.abs(x)))
    if transform is Transform.RANK:
        from scipy.stats import rankdata

        return np.asarray(rankdata(x, axis=0, nan_policy="omit"))
    return x


def summarised(x: Floats, group: Ints, statistic: Statistic, nominal: Bools | None = None) -> Floats:
    """Each record's values replaced by its group's mean or median, or most frequent category."""
    sizes = np.bincount(group)
    columns = []
    for j in range(x.shape[1]):
        if nominal is not None and nominal[j]:
            value = _modes(x[:, j], group)
        elif statistic is Statistic.MEDIAN:
            value = _medians(x[:, j], group, sizes)
        else:
            value = np.bincount(group, weights=x[:, j]) / sizes
        columns.append(value)
    return np.column_stack(columns)[group]


def _medians(column: Floats, group: Ints, sizes: Ints) -> Floats:
    values = column[np.lexsort((column, group))]
    start = sizes.cumsum() - sizes
    low, high = values[start + (sizes - 1) // 2], values[start + sizes // 2]
    return np.asarray(low + (high - low) / 2)


def _modes(column: Floats, group: Ints) -> Floats:
    """The most frequent code of each group, the lowest of several."""
    codes = int(column.max()) + 1
    cells, counts = np.unique(group * codes + column.astype(np.int64), return_counts=True)
    order = np.lexsort((-cells, counts))  # so the last written is the most frequent, of these the lowest
    mode = np.empty(int(group.max()) + 1)
    mode[cells[order] // codes] = cells[order] % codes
    return mode
