"""Incomplete records tested against the mixture of the complete ones, by the numbers they have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from sdckit.risk._atypical_tables import Tested


@dataclass(frozen=True, slots=True)
class PartlyTested:
    """What was found of incomplete records; `tested`: those with any number of the fit."""

    tested: Bools
    p_value: Floats
    distance: Floats
    component: Ints
    atypical: Bools
    driver: Ints

    def fill(self, columns: dict[str, Any], rows: Ints, variables: Sequence[str]) -> None:
        """The tested records in the columns of the parts."""
        own = rows[self.tested]
        columns["p_value"][own] = self.p_value[self.tested].tolist()
        columns["distance"][own] = self.distance[self.tested].tolist()
        columns["component"][own] = (self.component[self.tested] + 1).tolist()
        columns["kept"][own] = [False] * len(own)
        columns["atypical"][own] = self.atypical[self.tested].tolist()
        columns["driver"][own] = np.array(variables, dtype=object)[self.driver[self.tested]]


def partly_tested(x: Floats, fitted: "Tested") -> PartlyTested:
    """Test records with missing (nan) numbers, which had no part in the fit.

    The distribution of the q observed variables in a component is normal with that part of its mean and
    covariance. The distance in these variables is also the distance in all of them once missing numbers are
    replaced by their conditional expectations. It is referred to ((n²−1)q/((n−q)n))·F(q, n−q) as that of any
    record outside the fit, with the limits of the test of the complete records.
    """
    from sdckit.models.robust_distances import simultaneous

    n, groups = len(x), fitted.fit.mixture.components
    there = np.isfinite(x)
    squares, values = np.zeros((n, groups)), np.zeros((n, groups))
    driver = np.zeros(n, dtype=np.int64)
    patterns, of_record = np.unique(there, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows, seen = np.flatnonzero(of_record.ravel() == number), np.flatnonzero(pattern)
        if not len(seen):
            continue
        parts = np.empty((groups, len(rows), len(seen)))
        for g in range(groups):
            parts[g] = _parts(x[np.ix_(rows, seen)], fitted, g, seen)
            squares[rows, g] = parts[g].sum(axis=1)
            values[rows, g] = _p_values(squares[rows, g], int(fitted.fit.sizes[g]), len(seen))
        best = _best(values[rows], squares[rows])
        driver[rows] = seen[parts[best, np.arange(len(rows))].argmax(axis=1)]
    component = _best(values, squares)
    alone = np.arange(n), component
    limits = np.array(
        [
            fitted.alpha if rejected else simultaneous(fitted.alpha, int(size))
            for rejected, size in zip(fitted.found.rejected, fitted.fit.sizes, strict=True)
        ]
    )
    tested = np.asarray(there.any(axis=1))
    atypical = tested & (values[alone] < limits[component])
    return PartlyTested(tested, values[alone], np.sqrt(squares[alone]), component, atypical, driver)


def _parts(x: Floats, fitted: "Tested", component: int, seen: Ints) -> Floats:
    """What each variable adds to the squared distances from a component, in the variables that are seen."""
    mixture = fitted.fit.mixture
    away = x - mixture.means[component][seen]
    covariance = mixture.covariances[component][np.ix_(seen, seen)] * fitted.found.factors[component]
    return np.asarray(away * np.linalg.solve(covariance, away.T).T)


def _p_values(squares: Floats, n: int, q: int) -> Floats:
    from sdckit.models.robust_distances import p_values

    if n <= q + 1:  # no reference distribution
        return np.zeros(len(squares))
    return p_values(squares, n, q, np.zeros(len(squares), dtype=np.bool_))


def _best(values: Floats, squares: Floats) -> Ints:
    """The component with the largest p-value; where all are 0, the nearest."""
    some = values.max(axis=1, initial=0.0) > 0
    return np.asarray(np.where(some, values.argmax(axis=1), squares.argmin(axis=1)), dtype=np.int64)
