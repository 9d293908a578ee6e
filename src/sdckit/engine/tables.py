"""Tables of counts and moments, written once for every engine; small results come back as Polars.

NULL is the only missing value here (`frames.accept` turns NaN into NULL). No function relies on row order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import inf, isfinite, nan
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit.engine import _polars, frames
from sdckit.engine.frames import OURS as OURS
from sdckit.errors import ColumnError

Table = nw.LazyFrame[Any]

SOME = 10_000  # records whose mean is near that of all
FAR = 1e4  # squared distance of a centre from the mean, in variances: four digits of the variance are lost
RECORDS, WEIGHT_SUM, COUNT = f"{OURS}records", f"{OURS}weight_sum", f"{OURS}count"


@dataclass(frozen=True, slots=True)
class Moments:
    """Per variable: n (not missing), sum of weights, mean, variance, min and max; None where undefined."""

    n: dict[str, int]
    weight_sum: dict[str, float]
    mean: dict[str, float | None]
    variance: dict[str, float | None]
    min: dict[str, float | None]
    max: dict[str, float | None]


def native_module(table: Table) -> Any:
    """The module with what narwhals lacks for the engine of this table (same functions in each)."""
    return import_module(f"sdckit.engine._{frames.engine_of(table.to_native())}")


def refuse_clash(names: Sequence[str], ours: Sequence[str], *, fold: bool = False) -> None:
    """Refuse users' columns named as a column we add; with `fold` upper and lower case are one."""
    taken = {name.lower() if fold else name: name for name in names}
    clash = [taken[key] for key in (name.lower() if fold else name for name in ours) if key in taken]
    if clash:
        raise ColumnError(
            f"A column is named {clash[0]!r}, which we need for the result.", hint="Rename that column."
        )


def refuse_new_columns(table: Table, columns: Sequence[str]) -> None:
    """Refuse to add columns whose names the table has already, as its engine sees names."""
    fold = frames.engine_of(table.to_native()) != "polars"
    refuse_clash(list(table.collect_schema()), columns, fold=fold)


def count_cells(table: Table, keys: Sequence[str], weight: str | None) -> pl.DataFrame:
    """One row per combination of keys that occurs: keys…, RECORDS (Int64), WEIGHT_SUM (Float64).

    NULL is a value of its own. Without a weight the two are equal. Rows come in no set order.
    """
    codes, mass = _codes(keys), _weight_code(weight)
    short = _short(table, keys, weight) if keys or weight is not None else table
    sums = [
        nw.len().cast(nw.Int64).alias(RECORDS),
        (nw.len().cast(nw.Float64) if mass is None else nw.col(mass).sum()).alias(WEIGHT_SUM),
    ]
    cells = frames.gather(short.group_by(*codes).agg(*sums) if keys else short.select(*sums))
    return cells.select(
        *(pl.col(code).alias(key) for code, key in zip(codes, keys, strict=True)),
        pl.col(RECORDS).cast(pl.Int64),
        pl.col(WEIGHT_SUM).cast(pl.Float64),
    )


def join_cells(
    frame: pl.DataFrame, cells: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]
) -> pl.DataFrame:
    """The records in their order with `columns` of their cell. NULL joins NULL; no such cell gives NULL.

    `columns` must not be in the frame already: pass `frame.select(keys)` if users' columns may be so named.
    """
    refuse_clash(frame.columns, columns)
    return _polars.join_null_safe(frame.lazy(), cells, keys, columns).collect()


def contingency(
    table: Table, variables: Sequence[str], weight: str | None, *, drop_missing: bool
) -> pl.DataFrame:
    """The frequency table: variables…, COUNT (Float64: sum of weights, or records). Only cells that occur.

    NULL is a category, or with `drop_missing` records with any NULL among the variables are left out.
    """
    cells = count_cells(with_values(table, variables) if drop_missing else table, variables, weight)
    return cells.select(*variables, pl.col(WEIGHT_SUM).alias(COUNT))


def with_values(table: Table, variables: Sequence[str]) -> Table:
    """The records without a NULL among the variables."""
    if not variables:
        return table
    return table.filter(~nw.any_horizontal(*_missing(variables), ignore_nulls=False))


def missing_counts(table: Table, columns: Sequence[str]) -> dict[str, int]:
    """How many records lack a value, per column."""
    found: dict[str, int] = {}
    for start in range(0, len(columns), frames.COLUMNS):
        some = columns[start : start + frames.COLUMNS]
        counts = [
            nw.col(c).is_null().cast(nw.Int64).sum().alias(code)
            for c, code in zip(some, _codes(some), strict=True)
        ]
        row = frames.gather(table.select(*counts)).row(0)
        found |= {c: int(value or 0) for c, value in zip(some, row, strict=True)}
    return found


def values_where(table: Table, wanted: Mapping[str, nw.Expr]) -> dict[str, pl.Series]:
    """All values of each column in the records that it asks for, from one pass for some columns at a time.

    They come into memory: for values that few records have.
    """
    found: dict[str, pl.Series] = {}
    for start in range(0, len(wanted), frames.COLUMNS):
        names = [*wanted][start : start + frames.COLUMNS]
        chosen = table.select(*(nw.when(wanted[c]).then(nw.col(c)).alias(c) for c in names))
        lists = frames.gather(frames.lazy(native_module(table).lists_of_values(chosen.to_native(), names)))
        found |= {column.name: column.explode().drop_nulls() for column in lists.iter_columns()}
    return found


def quantiles(table: Table, variable: str, probabilities: Sequence[float]) -> list[float | None]:
    """Unweighted quantiles of the values present, linear between order statistics (Hyndman and Fan's type 7).

    With n values the p-quantile is at position (n−1)·p, counted from 0. None where no value is present.
    """
    if not probabilities:
        return []
    values = _number(variable)
    wanted = [
        values.quantile(p, interpolation="linear").alias(f"{OURS}{i}") for i, p in enumerate(probabilities)
    ]
    return [None if q is None else float(q) for q in frames.gather(table.select(*wanted)).row(0)]


def moments(table: Table, variables: Sequence[str], weight: str | None) -> Moments:
    """Mean, variance and range per variable, each over the records where that variable is present.

    x̄ = Σwx/Σw and S² = n/(n−1) · Σw(x−x̄)²/Σw: the n−1 variance for equal weights, and the same for weights
    on any scale. None for n = 0 (all) and n = 1 (variance). In memory two passes: means, then centred sums.
    On DuckDB and Spark one pass, of numbers centred on the means of some records; a second one only where
    these turn out to be far from the means of all.
    """
    if not variables:
        return Moments({}, {}, {}, {}, {}, {})
    codes = _codes(variables)
    short = _short(table, variables, weight, numbers=True)
    w = nw.lit(1.0) if weight is None else nw.col(_weight_code(weight) or "")
    first = []
    for code in codes:
        x = nw.col(code)
        present = nw.when(~x.is_null()).then(w)
        first += [
            x.count().alias(f"{code}n"),
            present.sum().alias(f"{code}w"),
            x.min().alias(f"{code}a"),
            x.max().alias(f"{code}z"),
        ]
    pairs = [(c, c) for c in codes]
    in_memory = frames.engine_of(table.to_native()) == "polars"
    centres = [0.0] * len(codes) if in_memory else _near_means(short, codes)
    row, sums = _centred_sums(short, codes, centres, w, [] if in_memory else pairs, first)
    n = {c: int(row[f"{c}n"]) for c in codes}
    mass = {c: float(row[f"{c}w"] or 0.0) for c in codes}
    shift = {c: sums[c] / mass[c] if n[c] else 0.0 for c in codes}
    mean = {c: centre + shift[c] if n[c] else None for c, centre in zip(codes, centres, strict=True)}
    if in_memory or any(_square(shift[c]) * mass[c] > FAR * sums[c, c] for c in codes if n[c]):
        sums = _centred(short, codes, [mean[c] or 0.0 for c in codes], w, pairs)
    variance = {
        c: _variance(n[c], sums[c, c] / mass[c], sums[c] / mass[c]) if n[c] > 1 else None for c in codes
    }
    low, high = ({c: row[f"{c}{end}"] if n[c] else None for c in codes} for end in "az")
    return Moments(*(_named(d, variables) for d in (n, mass, mean, variance, low, high)))


def _near_means(short: Table, codes: Sequence[str]) -> list[float]:
    """The means of the first records that come: near enough for sums of what is left not to lose digits."""
    some = frames.gather(short.select(*codes).head(SOME))
    found = [float(some[code].mean() or 0.0) for code in codes]  # type: ignore[arg-type]
    return [mean if isfinite(mean) else 0.0 for mean in found]


def _square(x: float) -> float:
    """Infinite where it overflows; ** would raise."""
    return x * x


def _variance(n: int, square: float, shift: float) -> float:
    """n/(n−1)·(mean square − square of the mean), of centred values; infinite where that overflows."""
    found = n / (n - 1) * (square - shift * shift)
    return max(found, 0.0) if isfinite(found) else inf


def covariance(table: Table, variables: Sequence[str], weight: str | None) -> Floats:
    """The covariance matrix over the records where all variables are present (complete cases)."""
    return complete_covariance(table, variables, weight)[0]


def complete_covariance(
    table: Table, variables: Sequence[str], weight: str | None
) -> tuple[Floats, int, int]:
    """The covariance matrix over the complete cases, their number, and that of all records.

    S = n/(n−1) · Σw(x−x̄)(y−ȳ)/Σw as in `moments`; all NaN when fewer than two records are complete. Passes as
    in `moments`, too.
    """
    codes = _codes(variables)
    matrix = np.full((len(codes), len(codes)), nan)
    if not codes:
        return matrix, 0, 0
    whole = f"{OURS}whole"
    short = _short(table, variables, weight, numbers=True).with_columns(
        (~nw.any_horizontal(*_missing(codes), ignore_nulls=False)).alias(whole)
    )
    w = nw.lit(1.0) if weight is None else nw.col(_weight_code(weight) or "")
    in_memory = frames.engine_of(table.to_native()) == "polars"
    here = nw.col(whole)
    short = short.with_columns(
        *(nw.when(here).then(nw.col(c)).alias(c) for c in codes), nw.when(here).then(w).alias(whole)
    )
    mass = nw.col(whole)
    counts = [nw.len().alias(f"{OURS}all"), mass.count().alias(f"{OURS}n"), mass.sum().alias(f"{OURS}m")]
    pairs = [(a, b) for i, a in enumerate(codes) for b in codes[i:]]
    centres = [0.0] * len(codes) if in_memory else _near_means(short, codes)
    row, sums = _centred_sums(short, codes, centres, mass, [] if in_memory else pairs, counts)
    n, total, all_records = int(row[f"{OURS}n"]), float(row[f"{OURS}m"] or 0.0), int(row[f"{OURS}all"])
    if n < 2:
        return matrix, n, all_records
    far = any(_square(sums[c] / total) * total > FAR * sums.get((c, c), 0.0) for c in codes)
    if in_memory or far:
        means = [centre + sums[c] / total for c, centre in zip(codes, centres, strict=True)]
        complete = short.filter(~mass.is_null())
        sums = _centred(complete, codes, means, mass, pairs)
    for a, b in pairs:
        i, j = codes.index(a), codes.index(b)
        value = n / (n - 1) * (sums[a, b] / total - sums[a] / total * sums[b] / total)
        matrix[i, j] = matrix[j, i] = value
    return matrix, n, all_records


def _centred_in_memory(
    table: Table,
    codes: Sequence[str],
    centres: Sequence[float],
    w: nw.Expr,
    pairs: Sequence[tuple[str, str]],
) -> dict[Any, float]:
    """The same as one matrix product: p² expressions are slow from some fifty columns on."""
    mass = f"{OURS}mass"
    rows = frames.gather(table.select(*codes, (nw.col(codes[0]) * 0.0 + w).alias(mass)))
    x = rows.select(codes).to_numpy() - np.asarray(centres)
    weighted = x * rows[mass].to_numpy()[:, None]
    product = weighted.T @ x
    place = {c: i for i, c in enumerate(codes)}
    found: dict[Any, float] = dict(zip(codes, weighted.sum(axis=0).tolist(), strict=True))
    return found | {(a, b): float(product[place[a], place[b]]) for a, b in pairs}


def _centred(
    table: Table,
    codes: Sequence[str],
    centres: Sequence[float],
    w: nw.Expr,
    pairs: Sequence[tuple[str, str]],
) -> dict[Any, float]:
    """Σw(x−c) per column and Σw(x−c)(y−d) per pair. The first corrects the rounding error of the centres."""
    if len(pairs) > len(codes) and frames.engine_of(table.to_native()) == "polars":
        return _centred_in_memory(table, codes, centres, w, pairs)
    return _centred_sums(table, codes, centres, w, pairs)[1]


def _centred_sums(
    table: Table,
    codes: Sequence[str],
    centres: Sequence[float],
    w: nw.Expr,
    pairs: Sequence[tuple[str, str]],
    also: Sequence[nw.Expr] = (),
) -> tuple[dict[str, Any], dict[Any, float]]:
    """What else is wanted of the numbers as they are, and the sums, in one pass."""
    names = [f"{OURS}c{k}" for k in range(len(codes))]
    place = dict(zip(codes, names, strict=True))
    table = table.with_columns(
        *((nw.col(c) - m).alias(place[c]) for c, m in zip(codes, centres, strict=True))
    )
    wanted = [(nw.col(name) * w).sum().alias(f"{name}s") for name in names]
    wanted += [
        (nw.col(place[a]) * nw.col(place[b]) * w).sum().alias(f"{OURS}p{k}") for k, (a, b) in enumerate(pairs)
    ]
    row = frames.gather(table.select(*wanted, *also)).row(0, named=True)
    keys = [*(f"{name}s" for name in names), *(f"{OURS}p{k}" for k in range(len(pairs)))]
    sums = {key: float(row[name] or 0.0) for key, name in zip([*codes, *pairs], keys, strict=True)}
    return row, sums


def _short(table: Table, columns: Sequence[str], weight: str | None, *, numbers: bool = False) -> Table:
    """Only these columns, under our names, and the weight: nothing a user's name can collide with."""
    kept = [
        (_number(c) if numbers else nw.col(c)).alias(code)
        for c, code in zip(columns, _codes(columns), strict=True)
    ]
    code = _weight_code(weight)
    if weight is not None and code is not None:
        kept.append(_number(weight).alias(code))
    return table.select(*kept)


def _codes(columns: Sequence[str]) -> list[str]:
    return [f"{OURS}{i}_" for i in range(len(columns))]


def _weight_code(weight: str | None) -> str | None:
    return None if weight is None else f"{OURS}weight"


def _named(values: dict[str, Any], variables: Sequence[str]) -> dict[str, Any]:
    return dict(zip(variables, values.values(), strict=True))


def _number(column: str) -> nw.Expr:
    """DuckDB would add integers up to Decimal; floating point is the same everywhere."""
    return nw.col(column).cast(nw.Float64)


def _missing(columns: Sequence[str]) -> list[nw.Expr]:
    return [nw.col(c).is_null() for c in columns]
