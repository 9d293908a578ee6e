"""Magnitude tables: cells whose total gives away the contribution of one enterprise."""

import math
from enum import StrEnum
from typing import Annotated

import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.data.roles import Role
from sdckit.errors import DataError
from sdckit.methods.options import NUMERIC, Column, Columns, NumericColumns, Option
from sdckit.methods.registry import risk
from sdckit.methods.spec import Better, Figure, share
from sdckit.risk._contributions import Units, numbered_cells, numbered_units

_SMALLEST = 1e-300  # of a number others are divided by: what is 1 by a smaller one overflows
_SLACK = 1e-12  # of the total: sums of the same numbers in another order


class SensitivityRule(StrEnum):
    """What makes a cell sensitive, beside too few contributors."""

    P_PERCENT = "p_percent"
    DOMINANCE = "dominance"
    EITHER = "either"


@risk(
    "Cells of magnitude tables that give a contributor away",
    family="Numbers",
    bounds=(0, 1),
    unit="share of cells",
    needs=Role.NUMERIC,
    share=True,
    main="by",
    figures={
        "cells": Figure("Cells with a total other than 0", "cells", Better.NEITHER),
        "zero_cells": Figure("Cells whose contributions are all 0", "cells", Better.NEITHER),
        "sensitive": Figure("Sensitive cells", "cells"),
        "p_percent": Figure("Cells sensitive by the p % rule", "cells"),
        "dominance": Figure("Cells sensitive by the (n, k) dominance rule", "cells"),
        "few_contributors": Figure("Cells with too few contributors", "cells"),
        "sensitive_total": share("Share of the totals that is in sensitive cells"),
        "smallest_error": Figure(
            "Smallest error with which the second contributor estimates the largest",
            "share",
            Better.HIGH,
            extreme=True,
        ),
    },
    chart=charts.TableBars("variables", "variable", "share", "sensitive cells", share=True),
    reference="Hundepool et al. (2012), ch. 4; Cox (1981); Robertson & Ethier (2002)",
    interpretation=(
        "The share of the cells of a table of totals that must not be published as they are: by subtracting "
        "its own value from the total, a contributor would learn that of another too exactly. 0: all cells "
        "can be published, as far as single cells go; differences of published totals are not looked at."
    ),
)
def magnitude_tables(
    data: Microdata,
    *,
    by: Annotated[
        Columns, Field(min_length=1), Option("Cells", "The columns that make the cells of the table.", True)
    ],
    variables: NumericColumns = NUMERIC,
    rule: Annotated[
        SensitivityRule,
        Option(
            "Rule",
            "What makes a cell sensitive, beside too few contributors.",
            basic=True,
            choices={
                "p_percent": "the second largest contributor can estimate the largest within p percent",
                "dominance": "the n largest contributors make up more than k percent of the total",
                "either": "one of the two",
            },
        ),
    ] = SensitivityRule.P_PERCENT,
    p: Annotated[
        float,
        Field(gt=0, le=100),
        Option("p", "How exactly a contribution may be estimated.", unit="percent"),
    ] = 10.0,
    n: Annotated[
        int, Field(ge=1, le=50), Option("n", "How many of the largest contributors dominate a cell.")
    ] = 2,
    k: Annotated[
        float,
        Field(gt=0, lt=100),
        Option("k", "The part of the total that they may make up at most.", unit="percent"),
    ] = 85.0,
    contributors: Annotated[
        int,
        Field(ge=1),
        Option("Fewest contributors", "A cell with fewer of them is sensitive.", unit="contributors"),
    ] = 3,
    holding: Annotated[
        Column | None,
        Option(
            "Holding",
            "A column with the enterprise group: the units of one group contribute together.",
            absent="every record is a contributor of its own",
        ),
    ] = None,
    weighted: Annotated[
        bool, Option("Use the weights", "The published totals are estimates, sums of weighted values.")
    ] = True,
) -> Result:
    r"""Share of the cells of tables of totals that are sensitive.

    A cell is a combination of the `by` columns, its total T the sum of a variable, x₁ ≥ x₂ ≥ … the
    contributions. It is sensitive

    - by the **p % rule** if T − x₁ − x₂ < p/100 · x₁: the second largest contributor, who subtracts x₂ from
      the published total, estimates x₁ within p percent. The part `error` is (T − x₁ − x₂)/x₁, the relative
      error of that estimate, and `smallest_error` the smallest of a cell;
    - by the **(n, k) dominance rule** if x₁ + … + xₙ > k/100 · T;
    - by the **frequency rule** if fewer than `contributors` units contribute something other than 0.

    `rule` says which of the first two counts beside the third; figures and parts have all of them. A cell
    with a single contributor is always sensitive: its total is that contribution, and the error 0. A cell
    whose contributions are all 0 is not counted as a cell, but as a `zero_cell`: its total tells that nobody
    has anything, which these rules do not judge.

    Holdings: contributions with the same `holding` are added up within a cell and count as one. Records
    without a holding are units of their own.

    Weights: with a weight role and `weighted` T is Σ w·x, and a record of weight w counts as w contributors
    of its size, as in τ-ARGUS: of 100 with weight 4 and 10 with weight 7 the total is 470 and the two largest
    are 100 and 100. Where weights are not whole numbers, the largest contributor takes what it lacks from the
    next one: of 100 with weight 0.6 and 50 with weight 2 the largest is 0.6·100 + 0.4·50. The weight of a
    holding is the mean of its records' weights, weighted by their values, and not beyond them. The frequency
    rule counts units of the file.

    Negative values: the absolute value of a contribution counts, in T as well. Missing numbers contribute
    nothing; a missing value of `by` is a category. The value is over the cells of all `variables`. parts: a
    row per variable and cell; tables: `variables`. For internal use: parts say which cells are dominated.
    Only single cells are judged; whether a suppressed cell can be found from margins needs secondary
    suppression, which is not part of sdckit. Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> firms = {"region": list("aaaabbb"), "turnover": [80, 15, 3, 2, 40, 35, 30]}
    >>> data = sdc.read(pl.DataFrame(firms), keys="region", numeric="turnover")
    >>> result = sdc.risk.magnitude_tables(data, by="region")
    >>> result.value, result.parts["error"].to_list()  # a: (100 − 80 − 15) / 80
    (0.5, [0.0625, 0.75])
    """
    names = _numeric(data, variables)
    data.require_categories([*by, *([] if holding is None else [holding])])
    cell, labels = numbered_cells(data.frame, by)
    unit = numbered_units(None if holding is None else data.frame[holding], data.height)
    use = weighted and data.roles.weight is not None
    weight = pl.Series(data.weights()) if use else pl.Series([1.0]).new_from_index(0, data.height)
    units = Units(cell, unit, weight)
    rows = []
    for name in names:
        # on a scale on which no sum overflows
        x = data.frame[name].cast(pl.Float64)
        size = max((abs(v) for v in (x.min(), x.max()) if v is not None), default=0.0) or 1.0
        if not math.isfinite(size):
            raise DataError(f"Column {name!r} has infinite values.", allowed="finite numbers or missing")
        size = max(size, _SMALLEST)
        found = units.cells(x / size, n).with_columns(pl.lit(name).alias("variable"))
        rows.append(_judged(found, p / 100, k / 100, contributors, rule, size))
    parts = pl.concat(rows)
    text = pl.Series("cell", [labels[i] for i in parts["cell"]], dtype=pl.String)
    return _result(parts.with_columns(text), use and bool((data.weights() < 1).any()))


def _numeric(data: Microdata, variables: Columns) -> list[str]:
    names = list(dict.fromkeys(variables))
    wrong = [c for c in names if not data.frame.schema[c].is_numeric()]
    if wrong:
        raise DataError("Magnitude tables are made of numbers.", given=join_names(wrong))
    return names


def _judged(
    cells: pl.DataFrame, p: float, k: float, contributors: int, rule: SensitivityRule, size: float
) -> pl.DataFrame:
    """The cells with what each rule says, totals in the units of the data."""
    total, largest, rest = pl.col("total"), pl.col("largest"), pl.col("rest")
    there = total > 0
    slack = _SLACK * total
    alone = pl.col("contributors") == 1
    judged = cells.with_columns(
        (there & (alone | (rest + slack < p * largest))).alias("p_percent"),
        (there & (alone | (pl.col("top") > k * total + slack))).alias("dominance"),
        (there & (pl.col("contributors") < contributors)).alias("few_contributors"),
    )
    by_rule = {
        SensitivityRule.P_PERCENT: pl.col("p_percent"),
        SensitivityRule.DOMINANCE: pl.col("dominance"),
        SensitivityRule.EITHER: pl.col("p_percent") | pl.col("dominance"),
    }[rule]
    return judged.select(
        "variable",
        "cell",
        "contributors",
        (total * size).alias("total"),
        pl.when(there).then(largest / total).alias("largest_share"),
        pl.when(there).then(pl.when(alone).then(0.0).otherwise(rest / largest)).alias("error"),
        "p_percent",
        "dominance",
        "few_contributors",
        (by_rule | pl.col("few_contributors") | (there & alone)).alias("sensitive"),
        (total).alias("scaled"),
    )


def _result(parts: pl.DataFrame, below_one: bool) -> Result:
    cells = parts.filter(pl.col("scaled") > 0)
    shown = parts.drop("scaled")
    if cells.is_empty():
        return Result(math.nan, parts=shown, notes=("No cell has a total other than 0.",))
    sums = cells.select(pl.col("sensitive", "p_percent", "dominance", "few_contributors").sum()).row(
        0, named=True
    )
    per_variable = cells.group_by("variable", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("cells"),
        pl.col("sensitive").sum().cast(pl.Int64),
        pl.col("sensitive").mean().alias("share"),
        (pl.col("scaled").filter("sensitive").sum() / pl.col("scaled").sum()).alias("sensitive_total"),
    )
    figures: dict[str, float] = {
        "cells": cells.height,
        "zero_cells": parts.height - cells.height,
        **{name: int(count) for name, count in sums.items()},
        "sensitive_total": float(per_variable["sensitive_total"].to_numpy().mean()),
        "smallest_error": float(cells["error"].to_numpy().min()),
    }
    notes: tuple[str, ...] = ()
    if per_variable.height > 1:
        notes += ("Cells of all variables; the table `variables` has each.",)
    if below_one:
        notes += ("Some weights are below 1: such a record counts as less than one contributor.",)
    value = sums["sensitive"] / cells.height
    return Result(value, figures, shown, notes, {"variables": per_variable})
