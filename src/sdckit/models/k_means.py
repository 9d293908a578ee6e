"""k-means: centres of clusters, found by numpy alone."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from sdckit._support.arrays import Codes, Floats

_MOST_ROUNDS = 100
_DISTANCES = 4_000_000  # held at once


def k_means(points: Any, groups: int, weights: Floats | None = None, *, starts: int = 1) -> Floats:
    r"""The centres of `groups` clusters that make the weighted squared distances small.

    .. math:: \sum_i w_i \min_g \lVert x_i - c_g \rVert^2

    `points`: an array or a sparse matrix with a record per row. The first centres are drawn far apart (greedy
    k-means++), then records and centres move in turn until no record does (Lloyd); the best of `starts` such
    ways is kept. The draws are always the same: the result depends on the points alone.
    Reference: Arthur & Vassilvitskii (2007).

    >>> points = np.array([[0.0], [1.0], [10.0], [12.0]])
    >>> sorted(k_means(points, 2).ravel().tolist())
    [0.5, 11.0]
    """
    weights = np.ones(points.shape[0]) if weights is None else weights
    squares = _squares(points)
    rng = np.random.default_rng(0)
    ways = [
        _settled(points, squares, weights, _first(points, squares, weights, groups, rng))
        for _ in range(starts)
    ]
    return min(ways, key=lambda way: way[1])[0]


def nearest_centre(points: Any, centres: Floats) -> Codes:
    """For each record the number of the centre it is nearest to.

    >>> nearest_centre(np.array([[0.0], [9.0]]), np.array([[10.0], [1.0]])).tolist()
    [1, 0]
    """
    return _assigned(points, _squares(points), centres)[0]


def _first(points: Any, squares: Floats, weights: Floats, groups: int, rng: np.random.Generator) -> Floats:
    """Centres drawn one after the other, likely where the others are far; of a few draws the best is kept."""
    tries = 2 + int(math.log(groups))
    chosen = [int(rng.choice(len(weights), p=weights / weights.sum()))]
    distances = _distances(points, squares, _rows(points, chosen))[:, 0]
    for _ in range(groups - 1):
        mass = np.cumsum(weights * distances)
        drawn = np.searchsorted(mass, rng.random(tries) * mass[-1], side="right")
        drawn = np.minimum(drawn, len(weights) - 1)
        closer = np.minimum(distances[:, None], _distances(points, squares, _rows(points, drawn)))
        best = int(np.argmin(weights @ closer))
        chosen.append(int(drawn[best]))
        distances = closer[:, best]
    return _rows(points, chosen)


def _settled(points: Any, squares: Floats, weights: Floats, centres: Floats) -> tuple[Floats, float]:
    """The centres when no record moves any more, and the sum that k-means makes small."""
    labels = None
    for _ in range(_MOST_ROUNDS):
        before, (labels, distances) = labels, _assigned(points, squares, centres)
        if before is not None and np.array_equal(before, labels):
            break
        centres = _means(points, weights, labels, distances, len(centres))
    return centres, float(weights @ _assigned(points, squares, centres)[1])


def _means(points: Any, weights: Floats, labels: Codes, distances: Floats, groups: int) -> Floats:
    """The mean of each cluster; one that lost all its records starts again where records are far off."""
    from scipy.sparse import csr_matrix

    mass = np.bincount(labels, weights, groups)
    members = csr_matrix((weights, (labels, np.arange(len(labels)))), shape=(groups, len(labels)))
    sums = _dense(members @ points)
    empty = np.flatnonzero(mass <= 0)
    centres: Floats = sums / np.where(mass > 0, mass, 1)[:, None]
    if len(empty):
        centres[empty] = _rows(points, np.argsort(-weights * distances, kind="stable")[: len(empty)])
    return centres


def _assigned(points: Any, squares: Floats, centres: Floats) -> tuple[Codes, Floats]:
    """For each record its nearest centre and the squared distance to it."""
    labels = np.empty(points.shape[0], dtype=np.int32)
    distances = np.empty(points.shape[0])
    for some in _slices(points.shape[0], len(centres)):
        found = _distances(points[some], squares[some], centres)
        labels[some] = np.argmin(found, axis=1)
        distances[some] = np.take_along_axis(found, labels[some][:, None].astype(np.intp), axis=1)[:, 0]
    return labels, distances


def _slices(rows: int, groups: int) -> Iterator[slice]:
    step = max(1, _DISTANCES // groups)
    return (slice(start, start + step) for start in range(0, rows, step))


def _distances(points: Any, squares: Floats, centres: Floats) -> Floats:
    """Squared distances, a column for each centre."""
    found: Floats = squares[:, None] - 2 * np.asarray(points @ centres.T) + np.sum(centres**2, axis=1)
    return np.maximum(found, 0, out=found)


def _squares(points: Any) -> Floats:
    squared = points.multiply(points) if hasattr(points, "multiply") else points**2
    return np.asarray(squared.sum(axis=1), dtype=float).ravel()


def _rows(points: Any, rows: Any) -> Floats:
    return _dense(points[rows])


def _dense(points: Any) -> Floats:
    return np.asarray(points.toarray() if hasattr(points, "toarray") else points, dtype=float)
