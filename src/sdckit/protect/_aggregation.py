"""What microaggregation makes of the records of a stratum or block, in memory."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.protect import _groupings as groupings
from sdckit.protect._blocks import Scale
from sdckit.protect._groupings import Statistic, Transform
from sdckit.protect._numbers import standardise


class Aggregation(StrEnum):
    """How the groups are formed: of records, or (the last three) of the values of each variable."""

    MDAV = "mdav"
    PCA = "pca"
    CLUSTER = "cluster"
    ROBUST = "robust"
    GOWER = "gower"
    INDIVIDUAL_RANKING = "individual_ranking"
    OPTIMAL = "optimal"
    RANK_GROUPS = "rank_groups"


BY_VARIABLE = (Aggregation.INDIVIDUAL_RANKING, Aggregation.OPTIMAL, Aggregation.RANK_GROUPS)


@dataclass(frozen=True, slots=True)
class Plan:
    """How groups are formed and what they become."""

    method: Aggregation
    k: int
    refine: bool
    statistic: Statistic
    transform: Transform
    rank_distance: float

    @property
    def in_blocks(self) -> bool:
        """Whether strata that do not fit into memory are cut; ranks and Gower's ranges are of all records."""
        return self.method not in (Aggregation.RANK_GROUPS, Aggregation.GOWER)

    def together(self, count: int) -> list[list[int]]:
        """The places of variables, of so many, that are in the same groups or at least in the same blocks."""
        alone = self.method is Aggregation.OPTIMAL
        return [[j] for j in range(count)] if alone else [list(range(count))]

    def scaled(self, x: Floats, nominal: Bools, of_all: Scale | None) -> Floats:
        """The numbers on the scale of the distances; codes of categories unchanged."""
        if of_all is not None:
            return of_all.of(x)
        numbers = groupings.transformed(x, self.transform)
        scale = groupings.by_range if self.method is Aggregation.GOWER else standardise
        return np.asarray(np.where(nominal, x, scale(numbers)))

    def aggregated(self, x: Floats, nominal: Bools, of_all: Scale | None = None) -> tuple[Floats, int]:
        """The new values of the records of a stratum, and the number of groups.

        `of_all`: the scale of distances of the stratum of which these records are a block.
        """
        z = self.scaled(x, nominal, of_all)
        return (_by_variable if self.method in BY_VARIABLE else _together)(x, z, nominal, self)

    def groups(self, z: Floats, nominal: Bools) -> Ints:
        """A group for each row of z, which has no missing value, and one column where BY_VARIABLE."""
        if self.method is Aggregation.RANK_GROUPS:
            return groupings.rank_groups_of(z[:, 0], self.rank_distance, self.k)
        if self.method is Aggregation.GOWER:
            from sdckit.kernels.microaggregation.gower import gower_groups

            return gower_groups(z, nominal, self.k)
        return _GROUPINGS[self.method](z, self.k, self.refine)


_GROUPINGS: dict[Aggregation, Callable[[Floats, int, bool], Ints]] = {
    Aggregation.MDAV: groupings.mdav_groups,
    Aggregation.PCA: groupings.pca_groups,
    Aggregation.CLUSTER: groupings.cluster_groups,
    Aggregation.ROBUST: groupings.robust_groups,
    Aggregation.OPTIMAL: groupings.optimal_groups,
}


def _together(x: Floats, z: Floats, nominal: Bools, plan: Plan) -> tuple[Floats, int]:
    """Groups of the records that share a pattern of present values, the nearest groups' values for others."""
    y = np.full_like(x, np.nan)
    patterns, label = np.unique(~np.isnan(x), axis=0, return_inverse=True)
    left = []
    groups = 0
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(label.ravel() == number)
        if not pattern.any():
            continue
        if len(rows) < plan.k:
            left.append(rows)
            continue
        block = np.ix_(rows, np.flatnonzero(pattern))
        group = plan.groups(np.ascontiguousarray(z[block]), nominal[pattern])
        y[block] = groupings.summarised(x[block], group, plan.statistic, nominal[pattern])
        groups += int(group.max()) + 1
    if left:
        _nearest_values(x, y, np.concatenate(left), nominal, plan)
    return y, groups


def _by_variable(x: Floats, z: Floats, nominal: Bools, plan: Plan) -> tuple[Floats, int]:
    """Groups of the present values of each column; fewer than k are suppressed."""
    y = np.full_like(x, np.nan)
    groups = 0
    for j in range(x.shape[1]):
        present = np.flatnonzero(~np.isnan(x[:, j]))
        if len(present) >= plan.k:
            group = plan.groups(z[present, j : j + 1], nominal[j : j + 1])
            y[present, j] = groupings.summarised(x[present, j : j + 1], group, plan.statistic)[:, 0]
            groups += int(group.max()) + 1
    return y, groups


def _nearest_values(x: Floats, y: Floats, rows: Ints, nominal: Bools, plan: Plan) -> None:
    """Give the values of rare patterns one that a group of k or more has made."""
    for j in range(x.shape[1]):
        mine = rows[~np.isnan(x[rows, j])]
        made, times = np.unique(y[~np.isnan(y[:, j]), j], return_counts=True)
        if len(made):
            y[mine, j] = made[times.argmax()] if nominal[j] else _nearest(x[mine, j], made)
        elif len(mine) >= plan.k:
            one = np.zeros(len(mine), dtype=np.int64)
            y[mine, j] = groupings.summarised(x[mine, j : j + 1], one, plan.statistic, nominal[j : j + 1])[
                :, 0
            ]


def _nearest(values: Floats, among: Floats) -> Floats:
    """The nearest of ascending numbers, the lower of two as near."""
    if len(among) == 1:
        return np.full(len(values), among[0])
    right = np.clip(np.searchsorted(among, values), 1, len(among) - 1)
    low, high = among[right - 1], among[right]
    return np.where(values - low <= high - values, low, high)
