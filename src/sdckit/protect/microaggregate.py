"""Microaggregation: replace values by the mean of a small group of similar records."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Annotated

import narwhals as nw
import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.engine import frames
from sdckit.errors import OptionError
from sdckit.methods.options import NUMERIC, By, Option, Requires
from sdckit.methods.registry import protection
from sdckit.methods.where import Where
from sdckit.protect import _groupings as groupings
from sdckit.protect._engine_numbers import new_name
from sdckit.protect._groupings import Statistic, Transform
from sdckit.protect._households import once_per_household
from sdckit.protect._memory import require_memory
from sdckit.protect._numbers import NumbersToChange, number_columns, standardise
from sdckit.protect._ranking import Ranking
from sdckit.protect._strata_on_engine import GROUPS, numbers_by_strata, strata_by_ids


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


METHODS = {
    "mdav": "the farthest record and its nearest, again and again",
    "pca": "in the order of the first principal component: fast and coarse",
    "cluster": "mdav within clusters",
    "robust": "as mdav, with distances from a centre that outliers cannot move",
    "gower": "mdav for numbers and categories",
    "individual_ranking": "each variable on its own: k neighbours in rank",
    "optimal": "each variable on its own: the least loss",
    "rank_groups": "each variable on its own: ranks within rank_distance",
}
BY_VARIABLE = (Aggregation.INDIVIDUAL_RANKING, Aggregation.OPTIMAL, Aggregation.RANK_GROUPS)


@protection(
    "Microaggregation",
    family="Changed values",
    engines="all",
    needs=Role.NUMERIC,
    reference="Domingo-Ferrer & Mateo-Sanz (2002); Hansen & Mukherjee (2003); Templ & Meindl (2008)",
    rules=(Requires("rank_distance", "method", (Aggregation.RANK_GROUPS,)),),
    renamed={"share": "rank_distance"},
)
@once_per_household
def microaggregate(
    data: Microdata,
    *,
    variables: NumbersToChange = NUMERIC,
    k: Annotated[int, Field(ge=2), Option("k", "Smallest number of records in a group.", basic=True)] = 3,
    method: Annotated[
        Aggregation, Option("Groups", "How the groups are formed.", basic=True, choices=METHODS)
    ] = Aggregation.MDAV,
    refine: Annotated[
        bool,
        Option("Refine groups", "Move records between near groups (mdav, cluster, robust) while that helps."),
    ] = True,
    statistic: Annotated[
        Statistic,
        Option(
            "Replace by",
            "What the numbers of a group become.",
            choices={"mean": "their mean, which keeps totals", "median": "their median"},
        ),
    ] = Statistic.MEAN,
    transform: Annotated[
        Transform,
        Option(
            "Scale of distances",
            "What the numbers become when records are compared, so that a few large ones do not rule.",
            choices={"none": "the numbers themselves", "log": "logarithms", "rank": "ranks"},
        ),
    ] = Transform.NONE,
    rank_distance: Annotated[
        float,
        Field(gt=0, le=1),
        Option(
            "Largest distance of ranks",
            "With rank_groups: how far apart the ranks of a group may be.",
            unit="share of the values",
        ),
    ] = 0.05,
    by: By = (),
    where: Where | None = None,
) -> Microdata:
    """Replace each number by the mean of its group of at least k similar records.

    Groups of records, the same for all variables, so that at least k records are equal in all of them:

    - `mdav`: the record farthest from the mean of those left forms a group with its k−1 nearest, then the
      record farthest from that one does, until all are grouped.
    - `cluster`: MDAV within clusters found by k-means, one for about 100 groups. On 100,000 skewed records it
      was not faster than `mdav` and lost 1 % more.
    - `robust`: the record left that is farthest from the centre of all forms a group with its k−1 nearest,
      farthest by the Mahalanobis distance of the MCD, whose centre and covariance outliers cannot move.
    - `pca`: consecutive groups of k in the order of the first principal component, begun at the end that
      loses less (the last group takes the remainder). Fast and coarse.
    - `gower`: MDAV by Gower's distance: |x−y|/range for numbers, 0 or 1 for categories. For variables of any
      kind: text, and keys that are not in the numeric role, are categories and become their group's most
      frequent one. Time grows with n² up to 20,000 records; larger files are cut into blocks.

    With `refine` records of the first three then move between near groups as long as the information loss
    falls; plain MDAV loses 3 to 40 % more. Variables are standardised for the distances.

    Groups of the values of each variable on its own: values mostly change far less, and are protected less,
    since a record's combination of values may stay unique.

    - `individual_ranking`: consecutive groups of k of the sorted values, equal ones in the order of the ids.
    - `optimal`: the groups of at least k with the least sum of squares.
    - `rank_groups`: groups of ranks with |i−j|/n < `rank_distance`, of k values at least even where that
      exceeds it; no other method takes this option.

    `statistic`: the mean keeps overall means; the median, less moved by outliers, may be a record's own.
    `transform`: distances are of sign(x)·log(1+|x|) or of ranks, so that a few large values do not rule them;
    means are still of the numbers themselves. `by`: within strata; strata smaller than k are pooled.
    Variables that households share are aggregated once per household, at least k households in a group.

    Missing values stay missing. Records with the same variables present are grouped among themselves; where
    fewer than k share a pattern, each of their values becomes the nearest group mean (for categories the most
    frequent group value) of that variable, so that nothing leaves unprotected. Values of which fewer than k
    are present are suppressed, where no group has any. Weights are not used.
    `where`: protect only the records that a measure flags, see `sdckit.methods.where`.
    DuckDB and Spark give the values of memory. Individual ranking takes files of any size; the others bring
    one stratum `by` after the other into memory, of at most 1,000,000 records each, and `gower` needs all.
    Reference: Domingo-Ferrer & Mateo-Sanz (2002); optimal: Hansen & Mukherjee (2003); robust: Templ & Meindl
    (2008); rank groups: Kim, Measures of Data Utility for Complex Survey Data. Departures: where half of
    the records lie on a plane, `robust` uses the plain covariance; MDAV works in blocks of 200,000 records.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 6.0, 10.0, 11.0, 12.0]}), numeric="x")
    >>> sdc.protect.microaggregate(data, k=3).frame["x"].to_list()
    [3.0, 3.0, 3.0, 11.0, 11.0, 11.0]
    >>> sdc.protect.microaggregate(data, k=3, statistic="median").frame["x"].to_list()
    [2.0, 2.0, 2.0, 11.0, 11.0, 11.0]
    """
    if k > data.height:
        raise OptionError("k is larger than the number of records.", given=k, allowed=f"2 to {data.height}")
    names = list(dict.fromkeys(variables))
    if method is Aggregation.INDIVIDUAL_RANKING:
        number_columns(data, names, "microaggregate")
        return Ranking(k, statistic).aggregated(data, names, by)
    plan = _Plan(method, k, refine, statistic, transform, rank_distance)
    if data.engine != "polars":
        if method is Aggregation.GOWER:
            require_memory(data, "microaggregate with the method gower")
        number_columns(data, names, "microaggregate")
        return _on_engine(data, names, by, plan)
    nominal = np.array([method is Aggregation.GOWER and _is_category(data, c) for c in names], dtype=bool)
    if not nominal.any():
        number_columns(data, names, "microaggregate")
    levels = [
        _levels(data.frame[c]) if category else None for c, category in zip(names, nominal, strict=True)
    ]
    x = np.column_stack([_numbers(data.frame[c], known) for c, known in zip(names, levels, strict=True)])
    y = np.full_like(x, np.nan)
    groups = 0
    for rows in strata_by_ids(data, by, k):
        y[rows], formed = plan.aggregated(x[rows], nominal)
        groups += formed
    columns = [_values(c, y[:, j], known) for j, (c, known) in enumerate(zip(names, levels, strict=True))]
    suppressed = (np.isnan(y) & ~np.isnan(x)).sum(axis=0)
    return data.with_frame(
        data.frame.with_columns(columns),
        effects=Effects(suppresses=tuple(c for c, n in zip(names, suppressed, strict=True) if n)),
        groups=groups,
        values_changed=int((y != x)[~np.isnan(x)].sum()),
        values_suppressed=int(suppressed.sum()),
    )


def _on_engine(data: Microdata, names: list[str], by: Sequence[str], plan: "_Plan") -> Microdata:
    """Stratum by stratum outside memory, each of them brought into it."""
    table = numbers_by_strata(data, names, by, plan.k, partial(_of_stratum, plan=plan))
    wanted = [nw.col(GROUPS).sum().cast(nw.Int64).alias("groups")]
    for j, name in enumerate(names):
        new, old = nw.col(new_name(j)), nw.col(name).cast(nw.Float64)
        gone = ~old.is_null() & new.is_null()
        wanted.append(gone.cast(nw.Int64).sum().alias(f"gone_{j}"))
        wanted.append((gone | (new != old)).cast(nw.Int64).sum().alias(f"changed_{j}"))
    row = {n: int(v or 0) for n, v in frames.gather(table.select(*wanted)).row(0, named=True).items()}
    done = table.with_columns(nw.col(new_name(j)).alias(name) for j, name in enumerate(names))
    return data.with_frame(
        done.select(*data.columns).to_native(),
        effects=Effects(suppresses=tuple(c for j, c in enumerate(names) if row[f"gone_{j}"])),
        groups=row["groups"],
        values_changed=sum(row[f"changed_{j}"] for j in range(len(names))),
        values_suppressed=sum(row[f"gone_{j}"] for j in range(len(names))),
    )


def _of_stratum(x: Floats, plan: "_Plan") -> tuple[Floats, int]:
    return plan.aggregated(x, np.zeros(x.shape[1], dtype=bool))


def _is_category(data: Microdata, name: str) -> bool:
    number = data.frame[name].dtype.is_numeric()
    return not number or (name in data.roles.keys and name not in data.roles.numeric)


def _levels(column: pl.Series) -> pl.Series:
    return column.drop_nulls().unique().sort()


def _numbers(column: pl.Series, levels: pl.Series | None) -> Floats:
    """The numbers of a column, or the places of its categories among the levels; nan where missing."""
    if levels is not None:
        places = pl.Series(range(len(levels)), dtype=pl.Float64)
        column = column.replace_strict(levels, places, default=None, return_dtype=pl.Float64)
    return column.cast(pl.Float64).fill_null(np.nan).to_numpy()


def _values(name: str, values: Floats, levels: pl.Series | None) -> pl.Series:
    """A column of these numbers, or of the categories at these places."""
    column = pl.Series(name, values).fill_nan(None)
    return column if levels is None else levels.gather(column.cast(pl.UInt32)).alias(name)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How groups are formed and what they become."""

    method: Aggregation
    k: int
    refine: bool
    statistic: Statistic
    transform: Transform
    rank_distance: float

    def scaled(self, x: Floats, nominal: Bools) -> Floats:
        """The numbers on the scale of the distances; codes of categories unchanged."""
        numbers = groupings.transformed(x, self.transform)
        scale = groupings.by_range if self.method is Aggregation.GOWER else standardise
        return np.asarray(np.where(nominal, x, scale(numbers)))

    def aggregated(self, x: Floats, nominal: Bools) -> tuple[Floats, int]:
        """The new values of the records of a stratum, and the number of groups."""
        return (_by_variable if self.method in BY_VARIABLE else _together)(x, nominal, self)

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


def _together(x: Floats, nominal: Bools, plan: _Plan) -> tuple[Floats, int]:
    """Groups of the records that share a pattern of present values, the nearest groups' values for others."""
    z = plan.scaled(x, nominal)
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


def _by_variable(x: Floats, nominal: Bools, plan: _Plan) -> tuple[Floats, int]:
    """Groups of the present values of each column; fewer than k are suppressed."""
    z = plan.scaled(x, nominal)
    y = np.full_like(x, np.nan)
    groups = 0
    for j in range(x.shape[1]):
        present = np.flatnonzero(~np.isnan(x[:, j]))
        if len(present) >= plan.k:
            group = plan.groups(z[present, j : j + 1], nominal[j : j + 1])
            y[present, j] = groupings.summarised(x[present, j : j + 1], group, plan.statistic)[:, 0]
            groups += int(group.max()) + 1
    return y, groups


def _nearest_values(x: Floats, y: Floats, rows: Ints, nominal: Bools, plan: _Plan) -> None:
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
