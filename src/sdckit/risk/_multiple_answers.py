"""Answers that stand in any of several columns, as up to five diagnoses: one has it wherever it stands."""

from collections.abc import Iterator, Sequence

import polars as pl

from sdckit.data.microdata import Microdata
from sdckit.data.values import texts

SHARED = 3  # values at least that two columns have in common
TWICE = 0.05  # of the records with a value that may have it in two columns, as an answer to two questions has
MOST = 20  # values of a group that are looked at, the most frequent ones
FEWEST = 3  # records with a value


def columns_of_answers(
    original: Microdata, protected: Microdata, sensitive: Sequence[str]
) -> list[list[str]]:
    """Groups of text columns with the same answers, released as they were written."""
    values: list[tuple[list[str], set[str]]] = []
    for column in sensitive:
        kinds = [data.frame.schema[column] for data in (original, protected)]
        if not all(isinstance(kind, pl.String | pl.Categorical | pl.Enum) for kind in kinds):
            continue
        own = set(texts(original.frame[column]).drop_nulls().unique().to_list())
        for names, known in values:
            both = len(own & known)
            if both >= SHARED and 2 * both >= min(len(own), len(known)):
                names.append(column)
                known |= own
                break
        else:
            values.append(([column], own))
    return [names for names, _ in values if len(names) > 1]


def answers(
    original: Microdata, protected: Microdata, columns: Sequence[str]
) -> Iterator[tuple[pl.Series, pl.Series]]:
    """For each frequent answer that a record has in one column at most: who has it, in both files.

    Where answers were blanked, it is missing for records that do not show it and have a blank.
    """
    first, second = (pl.DataFrame([texts(d.frame[c]) for c in columns]) for d in (original, protected))
    counts = pl.concat([first[c].drop_nulls().alias("value") for c in columns]).value_counts(sort=True)
    blanked = any(second[c].null_count() > first[c].null_count() for c in first.columns)
    known = pl.all_horizontal(pl.all().is_not_null()) if blanked else pl.lit(value=True)
    for value, count in counts.head(MOST).iter_rows():
        times = first.select(pl.sum_horizontal(pl.all() == value)).to_series()
        if count >= FEWEST and int((times > 1).sum()) <= TWICE * int((times > 0).sum()):
            shows = pl.sum_horizontal(pl.all() == value) > 0
            yield times > 0, second.select(pl.when(shows | known).then(shows)).to_series()
