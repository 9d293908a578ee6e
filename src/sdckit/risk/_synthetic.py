"""What measures of synthetic files share: one set or several, and columns of one type."""

from collections.abc import Iterable, Sequence

import polars as pl

from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.data.values import in_one_column, in_words
from sdckit.errors import ColumnError


def as_sets(
    synthetic: Microdata | Sequence[Microdata], columns: Iterable[str], what: str = "synthetic file"
) -> list[Microdata]:
    """The files as a list, each with these columns; `what` they are called."""
    sets = [synthetic] if isinstance(synthetic, Microdata) else list(synthetic)
    wanted = list(columns)
    for data in sets:
        absent = [c for c in wanted if c not in data.columns]
        if absent:
            raise ColumnError(
                f"The {what} has no column {absent[0]!r}.",
                hint="Name columns that both files have.",
            )
    return sets


def in_all(files: Sequence[Microdata], columns: Iterable[str]) -> tuple[list[str], tuple[str, ...]]:
    """The columns that all files have, and a note on the others: what is not released helps nobody."""
    wanted = list(dict.fromkeys(columns))
    there = [c for c in wanted if all(c in data.columns for data in files)]
    gone = [c for c in wanted if c not in there]
    return there, (f"Not in the protected file, left out: {join_names(gone)}.",) if gone else ()


def same_type(x: pl.Series, y: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Both columns in a type in which equal values are equal; refuses numbers against text."""
    both = in_one_column([x, y])
    if both is None:
        raise ColumnError(
            f"Column {x.name!r} holds {in_words(x.dtype)} in the original and {in_words(y.dtype)} in the "
            "other file, so no value is found again.",
            hint=f"Recode the original in the same way and compare that, or leave {x.name!r} out.",
        )
    return both.head(len(x)), both.tail(len(y)).alias(y.name)
