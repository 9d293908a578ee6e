"""Between codes, categories and the texts that label them."""

from collections.abc import Mapping
from typing import Any, cast

import narwhals as nw
import polars as pl

from sdckit.data.labels import Labels
from sdckit.engine import frames, recode


def fitting(labels: Mapping[Any, str], dtype: pl.DataType) -> dict[Any, str]:
    """The value labels whose code a column of this type can hold.

    A protection may have turned numbers into texts; labels of the old codes then say nothing.
    """
    if dtype.is_numeric() or dtype == pl.Boolean:
        return {code: text for code, text in labels.items() if isinstance(code, int | float)}
    return {code: text for code, text in labels.items() if isinstance(code, str)}


def with_texts(frame: pl.DataFrame, labels: Labels) -> pl.DataFrame:
    """The frame with label texts in place of codes; a code without a label stays, as text."""
    columns = []
    for name, texts in labels.values.items():
        if name not in frame.columns:
            continue
        column = frame[name].cast(pl.String) if is_category(frame.schema[name]) else frame[name]
        known = fitting(texts, column.dtype)
        codes = pl.Series(list(known), dtype=column.dtype, strict=False)
        columns.append(
            column.replace_strict(
                codes, pl.Series(list(known.values()), dtype=pl.String), default=column.cast(pl.String)
            )
        )
    return frame.with_columns(columns)


def with_texts_lazy(frame: Any, labels: Labels) -> Any:
    """The same for a table of any engine, which stays where it is."""
    table = frames.lazy(frame)
    kinds = table.collect_schema()
    for name, texts in labels.values.items():
        if name in kinds:
            number = kinds[name].is_numeric() or kinds[name] == nw.Boolean
            known = {c: t for c, t in texts.items() if isinstance(c, int | float if number else str)}
            table = recode.values(table.with_columns(nw.col(name)), name, known)
            table = table if known else table.with_columns(nw.col(name).cast(nw.String))
    return table.to_native()


def is_category(dtype: pl.DataType) -> bool:
    """Whether the column holds categories: Enum or Categorical."""
    return isinstance(dtype, pl.Enum | pl.Categorical)


def categories(column: pl.Series) -> list[str]:
    """Categories in their order; those of a Categorical, which has none, in alphabetical order."""
    if isinstance(column.dtype, pl.Enum):
        return column.dtype.categories.to_list()
    return column.cast(pl.String).drop_nulls().unique().sort().to_list()


def only_used_labels(frame: Any, labels: Labels) -> Labels:
    """The labels without value labels of codes that no record has."""
    table = frames.lazy(frame)
    values = {}
    for name in frames.columns(frame):
        if name in labels.values:
            found = set(frames.gather(table.select(nw.col(name)).unique())[name].to_list())
            values[name] = {code: text for code, text in labels.values[name].items() if code in found}
    return Labels(labels.variables, {name: texts for name, texts in values.items() if texts})


def only_used_categories(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with Enums of only the categories that records have; a Categorical holds no others."""
    columns = []
    for column in frame.iter_columns():
        if isinstance(column.dtype, pl.Enum):
            found = set(column.unique().to_list())
            kept = [name for name in categories(column) if name in found]
            columns.append(column.cast(pl.String).cast(pl.Enum(kept)))
    return frame.with_columns(columns)


def only_dates(frame: Any) -> list[str]:
    """The columns of moments, without time zone, that are midnights in all records."""
    moments = [
        c for c, t in frames.schema(frame).items() if isinstance(t, nw.Datetime) and t.time_zone is None
    ]
    if not moments:
        return []
    # Columns go by position, so that no name in the data can clash with ours.
    later = [
        (nw.col(c) != nw.col(c).dt.truncate("1d")).cast(nw.Int64).sum().alias(f"{i}")
        for i, c in enumerate(moments)
    ]
    counts = frames.gather(frames.lazy(frame).select(*later)).row(0)
    return [c for c, count in zip(moments, counts, strict=True) if not count]


def largest_whole(column: pl.Series) -> int:
    """The largest absolute value in a column of whole numbers: what a format must be able to hold."""
    low, high = cast(int | None, column.min()), cast(int | None, column.max())
    return max(abs(low or 0), abs(high or 0))


def with_codes(frame: pl.DataFrame, labels: Labels) -> tuple[pl.DataFrame, Labels]:
    """The frame with categories as numbers 1, 2, … in category order, and labels that name them."""
    values = dict(labels.values)
    coded = []
    for column in frame.iter_columns():
        if is_category(column.dtype):
            names = categories(column)
            values[column.name] = {
                code: labels.values.get(column.name, {}).get(name, name)
                for code, name in enumerate(names, start=1)
            }
            coded.append((column.cast(pl.Enum(names)).to_physical().cast(pl.Int64) + 1).alias(column.name))
    return frame.with_columns(coded), Labels(labels.variables, values)
