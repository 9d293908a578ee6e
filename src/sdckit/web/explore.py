"""One or two variables of the original and the protected file: a picture and a summary, from aggregates."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.number_text import number, percent, round_marks
from sdckit.charts.before_after import before_after
from sdckit.charts.histogram import histogram
from sdckit.charts.mosaic import mosaic
from sdckit.data.microdata import Microdata
from sdckit.data.values import as_numbers, as_text, is_date, texts
from sdckit.errors import OptionError
from sdckit.methods.recoding import in_categories_of

BINS = 24  # of a histogram
CLASSES = 6  # of numbers beside another variable
MOST = {1: 30, 2: 8}  # categories that are shown on their own, by the number of variables
FEWEST = 5  # records that a shown category has at least
OTHER, MISSING = "other or rare", "missing"
QUANTILES = {
    "lower 5 %": 0.05,
    "lower quarter": 0.25,
    "median": 0.5,
    "upper quarter": 0.75,
    "upper 5 %": 0.95,
}


def explored(original: Microdata, protected: Microdata | None, columns: Sequence[str]) -> dict[str, Any]:
    """A picture of one or two columns in both files, and a table of what can be said of them in numbers.

    Shares are of the records. Categories of fewer than five records are put together, extremes are not shown.
    Where the protected file has coarser categories the picture has both files in these.
    """
    if not 1 <= len(columns) <= 2 or len(set(columns)) < len(columns):
        raise OptionError("One or two variables are looked at.", given=", ".join(columns))
    for column in columns:
        original.require(column)
    after = original if protected is None else protected
    gone = [c for c in columns if c not in after.columns]
    files = {"original": original, **({} if gone or protected is None else {"protected": after})}
    before = original if gone else in_categories_of(after, original, columns)[0]
    first, second = (data.frame.select(columns) for data in (before, before if gone else after))
    labels = {c: original.labels.values.get(c, {}) for c in columns}
    drawn = (_one if len(columns) == 1 else _two)(first, second, columns, labels)
    summary = {name: _summary(data.frame.select(columns)) for name, data in files.items()}
    return {"columns": list(columns), "gone": gone, "chart": drawn.to_dict(), "summary": _table(summary)}


def _is_number(column: pl.Series) -> bool:
    numbers = column.dtype.is_numeric() or is_date(column.dtype)
    return bool(numbers and column.n_unique() > MOST[1])


def _one(before: pl.DataFrame, after: pl.DataFrame, names: Sequence[str], labels: Mapping[str, Any]) -> Any:
    (name,) = names
    first, second = before[name], after[name]
    if _is_number(first) and (second.dtype.is_numeric() or is_date(second.dtype)):
        edges = _edges(first, BINS)
        places = [
            np.searchsorted(edges, v[~np.isnan(v)], side="right") for v in map(as_numbers, (first, second))
        ]
        counts = [np.bincount(p, minlength=len(edges) + 1) / max(len(p), 1) for p in places]
        dates = is_date(first.dtype)
        words = [str(np.datetime64(int(e), "D")) for e in edges] if dates else []
        spans = [f"to {words[0]}", *(f"from {w}" for w in words)] if dates else ()
        return histogram(edges.tolist(), *(c.tolist() for c in counts), title=name, labels=spans, width=560)
    levels, tables = _classes(first, second, labels[name], MOST[1])
    shares = [[float((t == level).sum()) / max(len(t), 1) for level in levels] for t in tables]
    return before_after(levels, *shares, axis="share of the records")


def _two(before: pl.DataFrame, after: pl.DataFrame, names: Sequence[str], labels: Mapping[str, Any]) -> Any:
    found = [_classes(before[c], after[c], labels[c], MOST[2]) for c in names]
    (rows, first), (columns, second) = found
    tables = [
        [[float(((a == r) & (b == c)).sum()) for c in columns] for r in rows]
        for a, b in zip(first, second, strict=True)
    ]
    return mosaic(
        rows,
        columns,
        tables[0],
        tables[1],
        first_title=names[0],
        second_title=names[1],
        missing=MISSING,
        other=OTHER,
        width=330,
    )


def _edges(column: pl.Series, bins: int) -> Any:
    """Inner limits of classes, round numbers between the outermost hundredths of the records."""
    values = as_numbers(column)
    values = values[np.isfinite(values)]
    low, high = np.quantile(values, [0.01, 0.99])
    return np.array(round_marks(float(low), float(high), bins) or [float(low)])


def _classes(
    first: pl.Series, second: pl.Series, labels: Mapping[Any, str], most: int
) -> tuple[list[str], list[pl.Series]]:
    """Both columns in the same few classes, in order: numbers by quantiles, categories by their size."""
    if _is_number(first) and (second.dtype.is_numeric() or is_date(second.dtype)):
        values = as_numbers(first)
        edges = np.unique(np.quantile(values[np.isfinite(values)], np.linspace(0, 1, CLASSES + 1)[1:-1]))
        names = _names(edges, dates=is_date(first.dtype))
        made = []
        for column in (first, second):
            numbers = as_numbers(column)
            place = np.searchsorted(edges, numbers, side="right")
            made.append(
                pl.Series([MISSING if np.isnan(v) else names[p] for v, p in zip(numbers, place, strict=True)])
            )
        there = [*names, MISSING] if any((m == MISSING).any() for m in made) else names
        return there, made
    return _categories(first, second, {as_text(code): text for code, text in labels.items()}, most)


def _categories(
    first: pl.Series, second: pl.Series, labels: Mapping[str, str], most: int
) -> tuple[list[str], list[pl.Series]]:
    """Both columns with their labels; categories of few records in either file are put together."""
    said = [texts(c).alias("value") for c in (first, second)]
    if labels:
        said = [s.replace(list(labels), list(labels.values())) for s in said]
    often = [s.drop_nulls().value_counts(name="n").filter(pl.col("n") >= FEWEST) for s in said]
    counted = pl.concat(often).group_by("value").agg(pl.col("n").sum()).sort("n", "value", descending=True)
    levels = sorted(counted["value"].head(most).to_list(), key=_order)
    made = []
    for column in said:
        rare = pl.when(column.is_in(levels)).then(column).otherwise(pl.lit(OTHER))
        made.append(pl.select(pl.when(column.is_null()).then(pl.lit(MISSING)).otherwise(rare)).to_series())
    return [*levels, *(n for n in (OTHER, MISSING) if any((m == n).any() for m in made))], made


def _order(text: str) -> tuple[bool, float, str]:
    """Numbers by their size, before all other texts."""
    try:
        return False, float(text), text
    except ValueError:
        return True, 0.0, text


def _names(edges: Any, *, dates: bool) -> list[str]:
    words = [str(np.datetime64(int(e), "D")) if dates else number(float(e)) for e in edges]
    between = [f"{a} to {b}" for a, b in pairwise(words)]
    return [f"below {words[0]}", *between, f"{words[-1]} and more"]


def _summary(frame: pl.DataFrame) -> dict[str, str]:
    """What can be said of the columns in numbers, for one file."""
    found: dict[str, str] = {"records": f"{frame.height:,}"}
    for column in frame.iter_columns():
        told = f"{column.name}: " if frame.width > 1 else ""
        missing = column.null_count()
        found[f"{told}missing"] = f"{missing:,} ({percent(missing / max(frame.height, 1))})"
        found[f"{told}different values"] = f"{column.drop_nulls().n_unique():,}"
        if column.dtype.is_numeric() and not column.is_null().all():
            values = as_numbers(column)
            values = values[np.isfinite(values)]
            found[f"{told}mean"] = number(float(values.mean()))
            found[f"{told}standard deviation"] = number(float(values.std(ddof=1))) if len(values) > 1 else "–"
            if frame.width == 1:
                found |= {w: number(float(np.quantile(values, q))) for w, q in QUANTILES.items()}
    if frame.width == 2 and all(c.dtype.is_numeric() for c in frame.iter_columns()):
        both = frame.drop_nulls()
        x, y = (as_numbers(both[c]) for c in frame.columns)
        if len(x) > 2 and x.std() > 0 and y.std() > 0:
            found["correlation"] = f"{np.corrcoef(x, y)[0, 1]:.3f}"
    return found


def _table(summary: Mapping[str, Mapping[str, str]]) -> list[dict[str, str]]:
    """The numbers of all files, one row each."""
    names = dict.fromkeys(name for found in summary.values() for name in found)
    return [{"name": n, **{file: found.get(n, "–") for file, found in summary.items()}} for n in names]
