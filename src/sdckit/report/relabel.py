"""A result in the words of the data: labels in place of names and codes, direct identifiers left out."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import polars as pl

from sdckit.charts.theme import row_names
from sdckit.data.labels import Labels
from sdckit.data.result import Result

TIMES = " × "  # joins the variables of a table


def relabel(result: Result, columns: Collection[str], hidden: Collection[str], labels: Labels) -> Result:
    """The result with variables, tables and categories named by their labels, and none of `hidden`."""
    # two variables may have the same label: row_names keeps them apart
    names = [labels.name(c) for c in columns]
    words, short = (dict(zip(columns, row_names(names, length), strict=True)) for length in (200, 16))
    codes = {c: {_code(k): str(v) for k, v in texts.items()} for c, texts in labels.values.items()}

    def table(frame: pl.DataFrame) -> pl.DataFrame:
        frame = _visible(frame, hidden)
        if {"table", "categories"} <= {*frame.columns}:
            frame = frame.with_columns(_categories(frame, codes))
        for column in ("variable", "with"):
            if column in frame.columns:
                told = [words.get(str(name), str(name)) for name in frame[column]]
                frame = frame.with_columns(pl.Series(column, told, dtype=pl.String))
        if "table" in frame.columns:
            told = [_each(str(name), words, short) for name in frame["table"]]
            frame = frame.with_columns(pl.Series("table", told, dtype=pl.String))
        return frame

    return replace(
        result,
        parts=None if result.parts is None else table(result.parts),
        tables={name: table(frame) for name, frame in result.tables.items()},
    )


def _each(name: str, words: Mapping[str, str], short: Mapping[str, str]) -> str:
    """A table by the labels of its variables, short ones where there are several."""
    return words[name] if name in words else TIMES.join(short.get(n, n) for n in name.split(TIMES))


def _visible(frame: pl.DataFrame, hidden: Collection[str]) -> pl.DataFrame:
    def seen(column: str, parts: Callable[[str], list[str]]) -> pl.Series:
        return pl.Series([not {*parts(str(name))} & {*hidden} for name in frame[column]], dtype=pl.Boolean)

    for column in ("variable", "with", "table"):
        if hidden and column in frame.columns:
            frame = frame.filter(seen(column, lambda name: [name, *name.split(TIMES)]))
    return frame


def _categories(frame: pl.DataFrame, codes: Mapping[str, Mapping[str, str]]) -> pl.Series:
    told = []
    for name, categories in frame.select("table", "categories").iter_rows():
        variables = name.split(TIMES)
        if len(variables) == len(categories):
            pairs = zip(variables, categories, strict=True)
            categories = [codes.get(v, {}).get(_code(c), c) for v, c in pairs]
        told.append(categories)
    return pl.Series("categories", told, dtype=pl.List(pl.String))


def _code(value: object) -> str:
    """1, 1.0 and "1" are the same code."""
    return str(value).removesuffix(".0")
