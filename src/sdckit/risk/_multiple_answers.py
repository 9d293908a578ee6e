"""Answers that stand in any of several columns or in a list, as up to five diagnoses: wherever one stands."""

from collections.abc import Iterator, Sequence

import polars as pl

from sdckit.data.microdata import Microdata
from sdckit.data.values import texts

SHARED = 3  # values at least that two columns have in common
TWICE = 0.05  # of the records with a value that may have it in two columns, as an answer to two questions has
MOST = 20  # values of a group that are looked at, the most frequent ones
FEWEST = 3  # records with a value
MARKS = (";", "|", ",", " ")  # that stand between the answers of a list


def columns_of_answers(
    original: Microdata, protected: Microdata, sensitive: Sequence[str]
) -> list[list[str]]:
    """Text columns with lists, and groups of such with the same answers, released as they were written."""
    values: list[tuple[list[str], set[str]]] = []
    for column in sensitive:
        kinds = [data.frame.schema[column] for data in (original, protected)]
        if not all(isinstance(kind, pl.String | pl.Categorical | pl.Enum) for kind in kinds):
            continue
        own = set(_split(original, original, column).explode().drop_nulls().unique().to_list())
        for names, known in values:
            both = len(own & known)
            if both >= SHARED and 2 * both >= min(len(own), len(known)):
                names.append(column)
                known |= own
                break
        else:
            values.append(([column], own))
    return [names for names, _ in values if len(names) > 1 or _mark(original, names[0])]


def answers(
    original: Microdata, protected: Microdata, columns: Sequence[str]
) -> Iterator[tuple[pl.Series, pl.Series]]:
    """For each frequent answer that a record has in one column at most: who has it, in both files.

    Where answers were blanked, it is missing for records that do not show it and have a blank.
    """
    first, second = (
        pl.DataFrame([_split(data, original, c) for c in columns]) for data in (original, protected)
    )
    said = pl.concat([first[c].explode().drop_nulls().alias("value") for c in columns])
    blanked = any(second[c].null_count() > first[c].null_count() for c in first.columns)
    known = pl.all_horizontal(pl.all().is_not_null()) if blanked else pl.lit(value=True)
    for value, count in said.value_counts(sort=True).head(MOST).iter_rows():
        times = first.select(pl.sum_horizontal(pl.all().list.contains(value))).to_series()
        if count >= FEWEST and int((times > 1).sum()) <= TWICE * int((times > 0).sum()):
            shows = pl.sum_horizontal(pl.all().list.contains(value)) > 0
            yield times > 0, second.select(pl.when(shows | known).then(shows)).to_series()


def _split(data: Microdata, original: Microdata, column: str) -> pl.Series:
    """The answers of each record in a column, each once; missing where nothing is written."""
    written, mark = texts(data.frame[column]), _mark(original, column)
    lists = written.str.split(mark) if mark else pl.select(pl.concat_list(written)).to_series()
    parts = lists.list.eval(pl.element().str.strip_chars()).list.unique()
    return pl.select(pl.when(written.is_not_null()).then(parts).alias(column)).to_series()


def _mark(original: Microdata, column: str) -> str:
    """What stands between answers where a few are combined to more texts than they are; else empty."""

    def found(values: pl.Series) -> str:
        different = texts(values).drop_nulls().unique()
        for mark in MARKS:
            parts = different.str.split(mark).explode().str.strip_chars().unique()
            if SHARED <= len(parts) < len(different):
                return mark
        return ""

    return original.column_fact("mark between answers", column, found)
