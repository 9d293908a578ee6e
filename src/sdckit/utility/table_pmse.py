"""All pairs of variables as tables: how far a synthesis is from a correct one (S_pMSE)."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit import charts
from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.data.common_columns import as_list, lost_columns, role_variables
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.errors import OptionError
from sdckit.methods.options import ComparedColumns, MissingValues, NumberClasses, Option
from sdckit.methods.registry import utility
from sdckit.methods.spec import Better, Figure, share
from sdckit.utility._classes import shared_classes
from sdckit.utility._stacked import sums
from sdckit.utility._table_statistics import RATIOS, STATISTICS, table_statistics
from sdckit.utility._variables import category_notes, recoded_alike, require_named
from sdckit.utility.contingency_tables import MissingCells

MOST_TABLES = 50_000
_NUMBERS = ("degrees_of_freedom", *STATISTICS, *RATIOS)


@utility(
    "Tables of all pairs of variables (S_pMSE)",
    family="Whole distributions",
    unit="multiples of what a correct synthesis gives",
    section="distribution",
    several=True,
    main="variables",
    figures={
        "largest": Figure("Of the pair that is kept worst"),
        "median": Figure("Of the middle pair"),
        "above_limit": share("Pairs above the limit"),
        "single": Figure("Mean of single variables"),
        "single_largest": Figure("Of the variable that is kept worst"),
        "tables": Figure("Pairs compared", "tables", Better.NEITHER),
    },
    chart=charts.pair_heatmap,
    reference="Raab, Nowok & Dibben (2021); Voas & Williamson (2001); Snoke et al. (2018)",
    interpretation=(
        "1: on average the tables of two variables differ as two draws from one distribution do. Below 3 is "
        "good, above 10 a relation is poorly kept: the picture shows which. 0: the tables are the same, as "
        "after changes that touch no value. Of sets drawn with few records everything is near 1: look at "
        "`contingency_tables` for the size of the differences."
    ),
)
def table_pmse(
    original: Microdata,
    protected: Microdata | Sequence[Microdata],
    *,
    variables: ComparedColumns = (),
    groups: NumberClasses = 5,
    limit: Annotated[
        float, Field(gt=0), Option("Limit", "A pair above this multiple counts as poorly kept.")
    ] = 10.0,
    missing: MissingCells = MissingValues.CATEGORY,
) -> Result:
    r"""Standardised propensity score error of the tables of all pairs of variables.

    In a table of k cells (those not empty in both files) with o and s records of the two files, N = n1 + n2
    in all and c = n2/N, the share s/(o+s) is the propensity score of the records of a cell, and

    .. math:: pMSE = \frac{1}{N}\sum_j (o_j+s_j)\Bigl(\frac{s_j}{o_j+s_j}-c\Bigr)^2, \qquad
       S\_pMSE = \frac{pMSE}{(k-1)\,c\,(1-c)^2/N}

    The denominator is the expectation where the second file is drawn from the distribution of the first.
    The value is the mean S_pMSE over all pairs, `largest`, `median` and `above_limit` are of the pairs, and
    `single`, `single_largest` of the variables by themselves. It tells syntheses apart that a propensity
    score model of main effects does not. parts: a row per variable (`with` is empty) and per pair, with the
    further statistics of `contingency_tables`; for several synthetic sets value, figures and parts are means
    over the sets.

    `variables`: keys, numeric and sensitive columns by default. Numbers (as a number counts also a code
    without value labels that has more than 20 values) are cut at quantiles of the original into about
    `groups` classes; a value that many records share, as an income of 0, is a class of its own. Of more than
    200 categories the 199 most frequent stay. Missing: a class of its own, or left out of the tables it is
    in. Recoded variables are compared in the categories of the protected file. A variable that it no longer
    has, or has as text instead of numbers, is left out and named in `lost`.

    Weights: a record counts with its weight, scaled to the number of records each file has in the table,
    and the denominator is multiplied by the mean design effect of the cells, as in `contingency_tables`. A
    table of one cell has no ratio.
    Cost: 20 variables and 100,000 records about a second.
    Reference: Raab, Nowok & Dibben (2021); Rao & Scott (1981) for weights. Departures from synthpop: spikes
    are classes of their own, and classes come from the original alone.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}), keys=["a", "b"])
    >>> other = data.with_frame(pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 1, 2, 2]}))
    >>> result = sdc.utility.table_pmse(data, other)
    >>> result.parts["pmse_ratio"].round(3).to_list()  # a, b, a × b: 16/3 over 3 degrees of freedom
    [0.0, 0.0, 1.778]
    """
    sets = as_list(protected, "table_pmse")
    chosen = tuple(variables) or role_variables(original)
    notes: list[str] = []
    lost: list[str] = []
    rows = []
    for number, data in enumerate(sets, 1):
        if variables:
            require_named(data, variables)
        names = [c for c in chosen if c in data.columns]
        lost += lost_columns(original, data, chosen)
        if math.comb(len(names), 2) > MOST_TABLES:
            raise OptionError(
                "There are too many pairs of variables.",
                given=f"{len(names):,} variables",
                allowed=f"at most {MOST_TABLES:,} pairs",
                hint="Name fewer variables=.",
            )
        alike, recoded = recoded_alike(original, data, names)
        classes, odd, said = shared_classes(alike, data, names, groups)
        notes += [*category_notes(original, data, names, recoded), *said]
        lost += odd
        pairs = [*((name,) for name in classes), *combinations(classes, 2)]
        found = _all_tables(alike, data, classes, pairs, missing)
        rows.append(
            pl.DataFrame(
                {
                    "set": [number] * len(pairs),
                    "variable": [pair[0] for pair in pairs],
                    "with": [pair[1] if len(pair) > 1 else None for pair in pairs],
                    **{name: pl.Series(found[name], nan_to_null=True) for name in _NUMBERS},
                },
                schema_overrides={"variable": pl.String, "with": pl.String},
            )
        )
    return _result(pl.concat(rows), len(sets), limit, notes, lost)


def _all_tables(
    original: Microdata,
    protected: Microdata,
    classes: dict[str, tuple[Ints, int]],
    pairs: Sequence[tuple[str, ...]],
    missing: MissingValues,
) -> dict[str, Floats]:
    """The statistics of every table, from the cells of all tables in one row."""
    weights = np.concatenate([data.weights() for data in (original, protected)])
    x: list[Floats] = [np.empty(0)]
    y: list[Floats] = [np.empty(0)]
    squares: list[Floats] = [np.empty(0)]
    for pair in pairs:
        code, size = classes[pair[0]]
        for name in pair[1:]:
            more, width = classes[name]
            code, size = code * width + more, size * width
        keep = np.ones(len(code), dtype=bool)
        if missing is MissingValues.DROP:
            for name in pair:
                keep &= _present(original, protected, name)
        if size > 4 * len(code) + 1000:  # a large table, mostly empty
            _, code = np.unique(code, return_inverse=True)
            size = int(code.max(initial=-1)) + 1
        for cells, file in ((x, slice(original.height)), (y, slice(original.height, None))):
            inside, mass = code[file][keep[file]], weights[file][keep[file]]
            mass = mass * (len(mass) / (mass.sum() or 1.0))
            cells.append(sums(inside, mass, size))
        squares.append(sums(inside, mass**2, size))
    table = np.repeat(np.arange(len(pairs)), [len(cells) for cells in x[1:]])
    o, s = np.concatenate(x), np.concatenate(y)
    # sums of the same weights in another order differ in the last digits: that is no change
    s = np.where(np.abs(o - s) <= 1e-9 * np.maximum(o, s), o, s)
    return table_statistics(o, s, table, len(pairs), squares=np.concatenate(squares))


def _present(original: Microdata, protected: Microdata, name: str) -> Bools:
    there = [data.frame[name].is_not_null().to_numpy() for data in (original, protected)]
    return np.concatenate(there)


def _result(rows: pl.DataFrame, sets: int, limit: float, notes: list[str], lost: list[str]) -> Result:
    parts = rows.group_by("variable", "with", maintain_order=True).agg(pl.col(_NUMBERS).mean())
    single, pairs = (
        parts.filter(pl.col("with").is_null() == alone)["pmse_ratio"].drop_nulls().to_numpy()
        for alone in (True, False)
    )
    told = (*dict.fromkeys(notes),)
    if sets > 1:
        told += (f"Means over {sets} synthetic sets.",)
    gone = tuple(dict.fromkeys(lost))
    if not len(single) and not len(pairs):
        why = "No variable to compare." if parts.is_empty() else "No variable varies."
        return Result(math.nan, parts=parts, notes=(*told, why), lost=gone)
    figures: dict[str, float] = {"tables": len(pairs)}
    if len(pairs):
        above = float(np.mean(pairs > limit))
        figures |= {
            "largest": float(pairs.max()),
            "median": float(np.median(pairs)),
            "above_limit": above,
        }
    else:
        told += ("There is no pair of variables: the value is of single variables.",)
    if len(single):
        figures |= {"single": float(single.mean()), "single_largest": float(single.max())}
    value = float((pairs if len(pairs) else single).mean())
    return Result(value, figures, parts, told, lost=gone)
