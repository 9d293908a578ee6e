"""Microaggregation: replace values by the mean of a small group of similar records."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import narwhals as nw
import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Bools, Floats
from sdckit._support.messages import too_large
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.engine.tables import OURS
from sdckit.methods.options import NUMERIC, By, Option, Requires
from sdckit.methods.registry import protection
from sdckit.methods.where import Where
from sdckit.protect import _blocks
from sdckit.protect._aggregation import Aggregation, Plan
from sdckit.protect._blocks import Scale, blocks_in_memory
from sdckit.protect._blocks_on_engine import in_blocks
from sdckit.protect._draws import record_codes
from sdckit.protect._engine_numbers import new_name
from sdckit.protect._groupings import Statistic, Transform
from sdckit.protect._households import once_per_household
from sdckit.protect._memory import require_memory
from sdckit.protect._numbers import NumbersToChange, number_columns
from sdckit.protect._ranking import Ranking
from sdckit.protect._strata_on_engine import mapped, refuse_large, strata_by_ids, strata_table

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


@protection(
    "Microaggregation",
    family="Changed values",
    engines="all",
    needs=Role.NUMERIC,
    reference="Domingo-Ferrer & Mateo-Sanz (2002); Hansen & Mukherjee (2003); Templ & Meindl (2008)",
    rules=(Requires("rank_distance", "method", (Aggregation.RANK_GROUPS,)),),
    renamed={"share": "rank_distance"},
)
@once_per_household()
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
    Variables that households share are aggregated once per household, at least k households in a group; means
    then stay over households, not persons.

    Missing values stay missing. Records with the same variables present are grouped among themselves; where
    fewer than k share a pattern, each of their values becomes the nearest group mean (for categories the most
    frequent group value) of that variable, so that nothing leaves unprotected. Values of which fewer than k
    are present are suppressed, where no group has any. Weights are not used.
    `where`: protect only the records that a measure flags, see `sdckit.methods.where`.
    DuckDB and Spark give the values of memory. Individual ranking takes files of any size, `gower` needs all
    records in memory, and the others bring one stratum `by` after the other into it. Strata of more than
    1,000,000 records are cut into blocks of about 800,000, in memory too (not for `rank_groups`, which needs
    smaller ones outside memory): the records farthest out are the first block, since there cuts would cost
    most (with `transform` none is), and the others are cut across the widest variable, always by a sample
    drawn by the ids; records with other values missing are apart. No group straddles two blocks; the log has
    their number (`blocks`). Ten blocks of 20,000 records with 2 to 4 variables lost up to 2 % more than one
    of 200,000 (k = 3), not refined up to 4 %.
    Reference: Domingo-Ferrer & Mateo-Sanz (2002); optimal: Hansen & Mukherjee (2003); robust: Templ & Meindl
    (2008); rank groups: Kim, Measures of Data Utility for Complex Survey Data. Departures: where half of
    the records lie on a plane, `robust` uses the plain covariance; MDAV works in blocks of 200,000
    records, made in the same way of all.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1.0, 2.0, 6.0, 10.0, 11.0, 12.0]}), numeric="x")
    >>> sdc.protect.microaggregate(data, k=3).frame["x"].to_list()
    [3.0, 3.0, 3.0, 11.0, 11.0, 11.0]
    >>> sdc.protect.microaggregate(data, k=3, statistic="median").frame["x"].to_list()
    [2.0, 2.0, 2.0, 11.0, 11.0, 11.0]
    """
    if k > data.height:
        raise too_large(k, data.height)
    names = list(dict.fromkeys(variables))
    if method is Aggregation.INDIVIDUAL_RANKING:
        number_columns(data, names, "microaggregate")
        return Ranking(k, statistic).aggregated(data, names, by)
    plan = Plan(method, k, refine, statistic, transform, rank_distance)
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
    y, groups, blocks = _in_memory(data, x, nominal, by, plan)
    columns = [_values(c, y[:, j], known) for j, (c, known) in enumerate(zip(names, levels, strict=True))]
    did = {"groups": groups, **_tallies(x, y)}
    return _logged(data, data.frame.with_columns(columns), names, [did], blocks)


def _in_memory(
    data: Microdata, x: Floats, nominal: Bools, by: Sequence[str], plan: Plan
) -> tuple[Floats, int, int]:
    """New numbers [n, p], the number of groups, and into how many blocks strata were cut."""
    codes = record_codes(data) if len(x) > _blocks.LARGEST else np.empty(0, dtype=np.int64)
    y = np.full_like(x, np.nan)
    groups = blocks = 0
    for _, rows in strata_by_ids(data, by, plan.k):
        if len(rows) <= _blocks.LARGEST or not plan.in_blocks:
            y[rows], formed = plan.aggregated(x[rows], nominal)
            groups += formed
            continue
        for columns in plan.together(x.shape[1]):
            mine = x[rows][:, columns]
            for some, scale in blocks_in_memory(mine, codes[rows], plan.k, plan.transform):
                new, formed = plan.aggregated(mine[some], nominal[columns], scale)
                y[rows[some][:, None], columns] = new
                groups, blocks = groups + formed, blocks + 1
    return y, groups, blocks


def _on_engine(data: Microdata, names: list[str], by: Sequence[str], plan: Plan) -> Microdata:
    """Stratum by stratum, or block by block, outside memory: each of them is brought into it."""
    records, said, blocks = data.table, [], 0
    for columns in plan.together(len(names)):
        numbers = {f"{OURS}x{j}": nw.col(names[j]).cast(nw.Float64) for j in columns}
        table = strata_table(data, numbers, by, plan.k, "Groups of near values")
        scales: dict[int, Scale] = {}
        if plan.in_blocks:
            table, scales, cut = in_blocks(table, list(numbers), plan.k, plan.transform)
            blocks += cut
        else:
            refuse_large(data, table, by, "take the method individual_ranking, which needs no strata")
        kernel = partial(_of_stratum, plan=plan, columns=columns, scales=scales)
        made = {new_name(j): pl.Float64() for j in columns}
        records, did = mapped(data, records, table, kernel, made)
        said += did
    done = records.with_columns(nw.col(new_name(j)).alias(name) for j, name in enumerate(names))
    return _logged(data, done.select(*data.columns).to_native(), names, said, blocks)


def _of_stratum(
    stratum: pl.DataFrame, number: int, plan: Plan, columns: list[int], scales: dict[int, Scale]
) -> tuple[list[pl.Series], dict[str, Any]]:
    """The new columns of a stratum or block, and what is to be added up."""
    numbers = [pl.col(f"{OURS}x{j}").fill_null(np.nan) for j in columns]
    x = np.array(stratum.select(numbers).to_numpy(), dtype=np.float64)
    y, groups = plan.aggregated(x, np.zeros(len(columns), dtype=bool), scales.get(number))
    made = [pl.Series(new_name(j), y[:, place], nan_to_null=True) for place, j in enumerate(columns)]
    return made, {"groups": groups, **_tallies(x, y, columns)}


def _tallies(x: Floats, y: Floats, columns: list[int] | None = None) -> dict[str, Any]:
    """How many values changed, and of which columns how many were suppressed."""
    gone = (np.isnan(y) & ~np.isnan(x)).sum(axis=0).tolist()
    places = range(x.shape[1]) if columns is None else columns
    suppressed = [[j, n] for j, n in zip(places, gone, strict=True) if n]
    return {"changed": int((y != x)[~np.isnan(x)].sum()), "suppressed": suppressed}


def _logged(
    data: Microdata, frame: object, names: list[str], said: Sequence[dict[str, Any]], blocks: int
) -> Microdata:
    """The file with the new columns; blocks are a figure where strata were cut into them."""
    suppressed = [(j, n) for one in said for j, n in one["suppressed"]]
    gone = {j for j, _ in suppressed}
    figures: dict[str, Any] = {"blocks": blocks} if blocks else {}
    return data.with_frame(
        frame,
        effects=Effects(suppresses=tuple(c for j, c in enumerate(names) if j in gone)),
        groups=sum(one["groups"] for one in said),
        values_changed=sum(one["changed"] for one in said),
        values_suppressed=sum(n for _, n in suppressed),
        **figures,
    )


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
