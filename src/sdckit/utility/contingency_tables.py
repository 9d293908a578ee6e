"""Contingency tables before and after."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Annotated, Any

import narwhals as nw
import polars as pl

from sdckit import charts
from sdckit.data.common_columns import lost_columns
from sdckit.data.microdata import Microdata
from sdckit.data.result import Result
from sdckit.engine import frames, tables
from sdckit.errors import ColumnError
from sdckit.methods.options import Columns, MissingValues, Option
from sdckit.methods.registry import utility
from sdckit.methods.spec import Better, Figure, share
from sdckit.utility._variables import category_notes, recoded_alike, require_named

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
    unit="mean change of a cell in records (weighted where there are weights)",
    section="categorical",
    engines="all",
    main="tables",
    figures={
        "ut": Figure("Mean change of a cell (UT)", "records"),
        "ut2": Figure("Mean change of a cell in percent (UT2)", "percent"),
        "hellinger": Figure("Hellinger distance (0 the same, 1 nothing in common)", bounds=(0, 1)),
        "total_variation": share("Total variation"),
        "cramers_v_change": Figure(
            "Change of Cramér's V (strength of association)", better=Better.NEITHER, bounds=(-1, 1)
        ),
        "cells_born": Figure("Cells that were empty before", "cells", counts_records=True),
        "cells_died": Figure("Cells that are empty now", "cells", counts_records=True),
    },
    reference="Templ (2017), ch. 5; Gomatam & Karr (2003) for Hellinger and total variation",
    chart=charts.table_change,
    interpretation=(
        "0: the tables are the same. UT is the mean change of a cell, UT2 the mean change in percent; "
        "Hellinger and total variation run from 0 (same) to 1 (nothing in common)."
    ),
)
def contingency_tables(
    original: Microdata,
    protected: Microdata,
    *,
    tables: Annotated[
        list[Columns] | None,
        Option("Tables", "Lists of variables, one per table.", basic=True, absent="all pairs of keys"),
    ] = None,
    missing: MissingCells = MissingValues.DROP,
) -> Result:
    r"""How far tables of counts move, for any sets of variables.

    Over all cells of the union of categories, UT = mean |Tx−Ty|; over the cells with Tx > 0,
    UT2 = 100·mean |Tx−Ty|/Tx, with the cells born (Tx = 0 < Ty) and died (Tx > 0 = Ty) counted beside it.
    Hellinger = √(½Σ(√px−√py)²), total variation = ½Σ|px−py|, and the change of Cramér's V for pairs.

    `tables`: lists of variables, all pairs of keys by default. The value and figures are means over tables,
    `parts` has one row per table, and the table `cells` has every occupied cell.

    Weights: counts are sums of weights where a weight role is set, each file with its own.
    Missing values: records with one in the table are dropped (a suppression so shows as lost counts), or
    missing is a category of its own. Recoded variables are compared in the categories of the protected file:
    merging categories moves no record, and `entropy_loss` measures what it loses. A key that the protected
    file no longer has is left out and named in `lost`. Files may differ in length; UT then compares their
    sizes too.
    Reference: Templ (2017); Gomatam & Karr (2003).

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
    rows, cells = [], []
    for variables, both in zip(wanted, paired_tables(alike, protected, wanted, missing), strict=True):
        name = " × ".join(variables)
        places = both.columns[: len(variables)]
        rows.append({"table": name, **_compare(both, places)})
        texts = [pl.col(c).cast(pl.String).fill_null("missing") for c in places]
        cells.append(
            both.select(
                pl.lit(name).alias("table"),
                pl.concat_list(texts).alias("categories"),
                "original",
                "protected",
            )
        )
    parts = pl.DataFrame(rows, infer_schema_length=None)
    means = ("ut", "ut2", "hellinger", "total_variation", "cramers_v_change")
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

    Files in memory are first reduced to their distinct combinations, so that many tables cost one pass.
    """
    names = tuple(dict.fromkeys(c for table in wanted for c in table))
    for variables in wanted:
        x, y = (
            _table(data, tuple(variables), missing, names).rename({tables.COUNT: name})
            for data, name in ((original, "original"), (protected, "protected"))
        )
        yield _joined(x, y, [str(i) for i in range(len(variables))])


def _table(
    data: Microdata, variables: tuple[str, ...], missing: MissingValues, names: tuple[str, ...]
) -> pl.DataFrame:
    """One table of a file, kept with it: other measures and comparisons ask for the same ones."""

    def count() -> pl.DataFrame:
        table, weight = _source(data, names)
        found = tables.contingency(table, variables, weight, drop_missing=missing is MissingValues.DROP)
        return found.rename({c: str(i) for i, c in enumerate(variables)})

    return data.cached(("contingency", variables, missing), count)


def _source(data: Microdata, names: tuple[str, ...]) -> tuple[nw.LazyFrame[Any], str | None]:
    if data.engine != "polars":
        return data.table, data.roles.weight
    weight = data.roles.weight
    found = data.cached(("combinations", names), lambda: tables.count_cells(data.table, names, weight))
    return frames.lazy(found), tables.WEIGHT_SUM


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
