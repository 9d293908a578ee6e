"""Contingency tables before and after."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Annotated, Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit import charts
from sdckit._support.arrays import Floats
from sdckit.data.common_columns import lost_columns
from sdckit.data.key_cells import combinations_of
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.engine import frames, tables
from sdckit.errors import ColumnError
from sdckit.methods.options import Columns, MissingValues, Option, Shape
from sdckit.methods.registry import utility
from sdckit.methods.spec import Better, Figure, share
from sdckit.utility._table_statistics import RATIOS, STATISTICS, table_statistics
from sdckit.utility._variables import category_notes, recoded_alike, require_named

_SQUARE = f"{tables.OURS}squared_weight"

MissingCells = Annotated[
    MissingValues,
    Option(
        "Missing values",
        "What a missing or suppressed value is in a table.",
        choices={
            "drop": "a record with a missing value is left out of the tables of that variable",
            "category": "missing is a category of its own",
        },
    ),
]


@utility(
    "Change of contingency tables (UT)",
    family="Categories",
    unit="mean change of a cell in records (weighted where there are weights)",
    section="categorical",
    engines="all",
    main="tables",
    figures={
        "ut": Figure("Mean change of a cell (UT), weighted where there are weights", "records or people"),
        "ut2": Figure("Mean change of a cell in percent (UT2)", "percent"),
        "hellinger": Figure("Hellinger distance (0 the same, 1 nothing in common)", bounds=(0, 1)),
        "total_variation": share("Total variation"),
        "cramers_v_change": Figure(
            "Change of Cramér's V (strength of association)", better=Better.NEITHER, bounds=(-1, 1)
        ),
        "pmse_ratio": Figure("Propensity score error over that of a correct synthesis (S_pMSE, S_VW)"),
        "freeman_tukey_ratio": Figure("Freeman–Tukey statistic over that of a correct synthesis (S_FT)"),
        "deviance_ratio": Figure("Likelihood ratio over that of a correct synthesis (S_G)"),
        "jensen_shannon": Figure("Jensen–Shannon divergence (JSD)", "bits", bounds=(0, 1)),
        "jensen_shannon_ratio": Figure("Jensen–Shannon divergence over that of a correct synthesis (S_JSD)"),
        "weighted_difference_ratio": Figure(
            "Weighted mean difference over that of a correct synthesis (S_WMabsDD)"
        ),
        "cells_born": Figure("Cells that were empty before", "cells", counts_records=True),
        "cells_died": Figure("Cells that are empty now", "cells", counts_records=True),
    },
    reference="Templ (2017), ch. 5; Gomatam & Karr (2003) for Hellinger and total variation; Raab, Nowok & "
    "Dibben (2021) for the statistics of synthetic tables; Rao & Scott (1981) for their weights",
    chart=charts.table_change,
    interpretation=(
        "0: the tables are the same. UT is the mean change of a cell, UT2 the mean change in percent; "
        "Hellinger and total variation run from 0 (same) to 1 (nothing in common). Figures over those of a "
        "correct synthesis are near 1 for synthetic data that keep the table, and poor from 10 on."
    ),
)
def contingency_tables(
    original: Microdata,
    protected: Microdata,
    *,
    tables: Annotated[
        list[Columns] | None,
        Option(
            "Tables",
            "Lists of variables, one per table.",
            basic=True,
            absent="all pairs of keys",
            shape=Shape.COLUMN_LISTS,
        ),
    ] = None,
    missing: MissingCells = MissingValues.DROP,
) -> Result:
    r"""How far tables of counts move, for any sets of variables.

    Over all cells of the union of categories, UT = mean |Tx−Ty|; over the cells with Tx > 0,
    UT2 = 100·mean |Tx−Ty|/Tx, with the cells born (Tx = 0 < Ty) and died (Tx > 0 = Ty) counted beside it.
    Hellinger = √(½Σ(√px−√py)²), total variation = ½Σ|px−py|, and the change of Cramér's V for pairs.

    Statistics of synthetic tables, over the k cells that are not empty in both files, with n1 and n2 records,
    c = n2/(n1+n2) and E = Tx·n2/n1: voas_williamson = Σ(Ty−E)²/(c(Tx+Ty)), pmse = voas_williamson·c(1−c)²/N,
    freeman_tukey = 4Σ(√Ty−√E)², deviance = 2Σ[Ty·ln(Ty/E)−(Ty−E)] where Tx > 0, jensen_shannon (bits) and
    weighted_difference = Σ|Ty−E|/√(2c(Tx+Ty)/π). What a correct synthesis gives, which draws Ty from Tx/n1,
    is k−1 (pmse: (k−1)c(1−c)²/N), k−1, the cells with Tx > 0 less one, (k−1)/(8·n2·ln 2) and
    Σ√(1−(Tx+Ty)/N); the figures ending in `_ratio` are divided by it. The other names of synthpop are in
    these: SPECKS is total_variation, MabsDD twice and PO50 fifty times that, dBhatt is hellinger, and
    U = n1·n2·(1 + concordance)/2, where concordance of the scores Ty/(Tx+Ty) runs from 0 to 1.

    `tables`: lists of variables, all pairs of keys by default. The value and figures are means over tables,
    `parts` has one row per table, and the table `cells` has every occupied cell.

    Weights: counts are sums of weights where a weight role is set, each file with its own. For the
    statistics of synthetic tables they are scaled to the number of records in the table, and what a correct
    synthesis gives is multiplied by the mean design effect Σv/(k−1) of the cells, v = (1−2p)r + pD with
    p = (Tx+Ty)/N, r = Σw²/Σw of the protected records in a cell, over their mean weight, and D that of all;
    for the weighted difference it is Σ√v.
    Missing values: records with one in the table are dropped (a suppression so shows as lost counts), or
    missing is a category of its own. Recoded variables are compared in the categories of the protected file:
    merging categories moves no record, and `entropy_loss` measures what it loses. A key that the protected
    file no longer has is left out and named in `lost`. Files may differ in length; UT then compares their
    sizes too.
    Reference: Templ (2017); Gomatam & Karr (2003); Raab, Nowok & Dibben (2021); Rao & Scott (1981) for the
    weights. Departures from synthpop: its expectation of JSD is 4 % lower for files of equal size, and far
    off for others; that of WMabsDD is k−1, lower by half a cell; and records in cells that are empty in the
    original add to the deviance.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}), keys=["a", "b"])
    >>> other = data.with_frame(pl.DataFrame({"a": [1, 1, 1, 2], "b": [1, 2, 1, 2]}))
    >>> result = sdc.utility.contingency_tables(data, other)
    >>> result.value, result.figures["ut2"], result.figures["total_variation"]
    (0.5, 50.0, 0.25)
    """
    wanted = _wanted(original, protected, tables)
    lost = lost_columns(original, protected, original.roles.keys if tables is None else ())
    if not wanted:
        return Result(math.nan, notes=("There is no table to compare: no key is in both files.",), lost=lost)
    names = list(dict.fromkeys(c for table in wanted for c in table))
    alike, recoded = recoded_alike(original, protected, names)
    notes = category_notes(original, protected, names, recoded)
    asked = names if missing is MissingValues.DROP else []
    lacking = [_with_missing(data, asked) for data in (alike, protected)]
    rows, cells = [], []
    for variables, both in zip(wanted, paired_tables(alike, protected, wanted, missing), strict=True):
        name = " × ".join(variables)
        scales = [
            _per_record(data, tuple(c for c in variables if c in gone))
            for data, gone in zip((alike, protected), lacking, strict=True)
        ]
        places = both.columns[: len(variables)]
        squares = _squares(both, protected, (variables, missing, names))
        rows.append({"table": name, **_compare(both, places), **_statistics(both, squares, *scales)})
        texts = [pl.col(c).cast(pl.String).fill_null("missing") for c in places]
        cells.append(
            both.select(
                pl.lit(name).alias("table"),
                pl.concat_list(texts).alias("categories"),
                "original",
                "protected",
            )
        )
    floats = dict.fromkeys((*STATISTICS, *RATIOS, "concordance"), pl.Float64)
    parts = pl.DataFrame(rows, schema_overrides=floats, infer_schema_length=None)
    means = ("ut", "ut2", "hellinger", "total_variation", "cramers_v_change", *RATIOS, "jensen_shannon")
    figures = {name: _mean(parts[name]) for name in means}
    counted = {name: int(parts[name].sum()) for name in ("cells_born", "cells_died")}
    found = {"cells": pl.concat(cells)}
    return Result(figures["ut"], {**figures, **counted}, parts, notes, found, lost=lost)


def _wanted(original: Microdata, protected: Microdata, asked: list[Columns] | None) -> list[tuple[str, ...]]:
    if asked is not None:
        require_named(protected, [c for table in asked for c in table])
        return [tuple(table) for table in asked]
    if not original.roles.keys:
        raise ColumnError(
            "There is no table to compare: the data have no keys.",
            hint="Set keys when you read, or give tables=[[…]].",
        )
    keys = [c for c in original.roles.keys if c in protected.columns]
    return [*combinations(keys, 2)] or [(k,) for k in keys]


def paired_tables(
    original: Microdata, protected: Microdata, wanted: Sequence[Sequence[str]], missing: MissingValues
) -> Iterator[pl.DataFrame]:
    """For each set of variables, the cells of both files: categories `0`, `1`, …, `original` and `protected`.

    Files are first reduced to their distinct combinations, so that many tables cost one pass; files outside
    memory only where the variables are keys.
    """
    names = tuple(dict.fromkeys(c for table in wanted for c in table))
    for variables in wanted:
        x, y = (
            _table(data, tuple(variables), missing, names).rename({tables.COUNT: name})
            for data, name in ((original, "original"), (protected, "protected"))
        )
        yield _joined(x, y, [str(i) for i in range(len(variables))])


def _table(
    data: Microdata,
    variables: tuple[str, ...],
    missing: MissingValues,
    names: tuple[str, ...],
    *,
    squared: bool = False,
) -> pl.DataFrame:
    """One table of a file, kept with it: other measures and comparisons ask for the same ones."""

    def count() -> pl.DataFrame:
        table, weight = _source(data, names, squared=squared)
        found = tables.contingency(table, variables, weight, drop_missing=missing is MissingValues.DROP)
        return found.rename({c: str(i) for i, c in enumerate(variables)})

    return data.cached(("contingency", variables, missing, squared), count)


def _source(
    data: Microdata, names: tuple[str, ...], *, squared: bool = False
) -> tuple[nw.LazyFrame[Any], str | None]:
    """A table to count from, and its column of weights, or of their squares."""
    table, weight = data.table, data.roles.weight
    if squared and weight is not None:
        w = nw.col(weight).cast(nw.Float64)
        table, weight = table.with_columns((w * w).alias(_SQUARE)), _SQUARE
    if data.engine != "polars" and not {*names} <= {*data.roles.keys}:
        return table, weight  # combinations of other columns may be as many as records
    if not squared:
        return frames.lazy(combinations_of(data, names)), tables.WEIGHT_SUM
    cells = data.cached(("squared weights", names), lambda: tables.count_cells(table, names, weight))
    return frames.lazy(cells), tables.WEIGHT_SUM


def _squares(
    both: pl.DataFrame, protected: Microdata, asked: tuple[tuple[str, ...], MissingValues, list[str]]
) -> Floats | None:
    """The sums of the squared weights of the protected records in each cell; None without weights."""
    if protected.roles.weight is None:
        return None
    variables, missing, names = asked
    found = _table(protected, tuple(variables), missing, tuple(names), squared=True)
    places = found.columns[:-1]
    alike = found.with_columns(pl.col(place).cast(both.schema[place]) for place in places)
    joined = both.join(alike, on=places, how="left", nulls_equal=True, maintain_order="left")
    return joined[tables.COUNT].fill_null(0.0).to_numpy()


def _joined(x: pl.DataFrame, y: pl.DataFrame, places: list[str]) -> pl.DataFrame:
    for place in places:
        first, second = x.schema[place], y.schema[place]
        if first != second:
            common = pl.Float64 if first.is_numeric() and second.is_numeric() else pl.String
            x, y = (f.with_columns(pl.col(place).cast(common)) for f in (x, y))
    joined = x.join(y, on=places, how="full", nulls_equal=True, coalesce=True)
    counts = joined.with_columns(pl.col("original", "protected").fill_null(0.0)).sort(places)
    # sums of the same weights in another order differ in the last digits: that is no change
    same = (pl.col("original") - pl.col("protected")).abs() <= 1e-9 * pl.max_horizontal(
        "original", "protected"
    )
    return counts.with_columns(pl.when(same).then("original").otherwise("protected").alias("protected"))


def _compare(both: pl.DataFrame, variables: Sequence[str]) -> dict[str, float | int | None]:
    x, y = both["original"], both["protected"]
    size = math.prod(both[c].n_unique() for c in variables)
    change = (x - y).abs()
    there = x > 0
    total_x, total_y = float(x.sum()), float(y.sum())
    if total_x > 0 and total_y > 0:
        px, py = x / total_x, y / total_y
        hellinger = math.sqrt(0.5 * float(((px.sqrt() - py.sqrt()) ** 2).sum()))
        variation = 0.5 * float((px - py).abs().sum())
    else:
        hellinger = variation = 0.0 if total_x == total_y else 1.0
    v_x, v_y = _cramers_v(both, variables, "original"), _cramers_v(both, variables, "protected")
    return {
        "cells": size,
        "ut": float(change.sum()) / size if size else 0.0,
        "ut2": 100 * _mean(change.filter(there) / x.filter(there)),
        "hellinger": hellinger,
        "total_variation": variation,
        "cramers_v_original": v_x,
        "cramers_v_protected": v_y,
        "cramers_v_change": None if v_x is None or v_y is None else v_y - v_x,
        "cells_born": int(((x == 0) & (y > 0)).sum()),
        "cells_died": int((there & (y == 0)).sum()),
    }


def _with_missing(data: Microdata, columns: Sequence[str]) -> list[str]:
    """Which columns lack values, where there are weights."""
    if data.roles.weight is None:
        return []
    table, _ = _source(data, tuple(columns))
    return [c for c, count in tables.missing_counts(table, columns).items() if count]


def _per_record(data: Microdata, complete: tuple[str, ...]) -> float:
    """What turns sums of weights into numbers of records.

    Of the records that have values in the columns `complete`: who lacks one may have other weights.
    """
    weight = data.roles.weight
    if weight is None:
        return 1.0

    def found() -> tables.Moments:
        return tables.moments(tables.with_values(data.table, complete), [weight], None)

    mean = data.cached(("weights of a table", complete), found).mean[weight]
    return 1 / mean if mean else 1.0


def _statistics(
    both: pl.DataFrame, squares: Floats | None, original: float, protected: float
) -> dict[str, float | None]:
    """The statistics of synthetic tables; None where there is none."""
    x, y = both["original"].to_numpy() * original, both["protected"].to_numpy() * protected
    scaled = None if squares is None else squares * protected**2
    found = table_statistics(x, y, np.zeros(len(x), dtype=np.int64), 1, squares=scaled)
    found["concordance"] = np.array([_concordance(x, y)])
    return {name: None if math.isnan(values[0]) else float(values[0]) for name, values in found.items()}


def _concordance(x: Floats, y: Floats) -> float:
    """P(score of a protected record is higher) − P(lower), the score of a cell being its share of y."""
    there = x + y > 0
    x, y = x[there], y[there]
    if not x.sum() or not y.sum():
        return math.nan
    _, tied = np.unique((y / (x + y)).round(12), return_inverse=True)
    x, y = (np.bincount(tied, counts).astype(np.float64) for counts in (x, y))
    below = np.cumsum(x) - x / 2
    return 2 * float(np.sum(y * below) / (x.sum() * y.sum())) - 1


def _cramers_v(both: pl.DataFrame, variables: Sequence[str], column: str) -> float | None:
    """V of a two-way table over its occupied rows and columns; None for other tables or a single row."""
    if len(variables) != 2:
        return None
    a, b = variables
    t = both.filter(pl.col(column) > 0).select(a, b, pl.col(column).alias("n"))
    smaller = min(t[a].n_unique(), t[b].n_unique()) - 1
    if smaller < 1:
        return None
    total = float(t["n"].sum())
    margins = t.with_columns(r=pl.col("n").sum().over(a), c=pl.col("n").sum().over(b))
    phi2 = float((margins["n"] ** 2 / (margins["r"] * margins["c"])).sum()) - 1
    return math.sqrt(max(phi2, 0.0) / smaller) if total else None


def _mean(values: pl.Series) -> float:
    mean = values.drop_nulls().mean()
    return 0.0 if mean is None else float(mean)  # type: ignore[arg-type]
