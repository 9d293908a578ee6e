"""What measures of two files share: one set or several, columns that were dropped, columns of one type."""

from collections.abc import Iterable, Sequence
from typing import Annotated

import polars as pl

from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.data.values import in_one_column, in_words, texts
from sdckit.errors import ColumnError
from sdckit.methods.options import Columns, Option, RoleColumns

KnownColumns = Annotated[
    Columns,
    Option(
        "Known to the intruder", "What the intruder knows of a person; dropped columns help nobody.", True
    ),
]


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


def require_named(files: Iterable[Microdata], columns: Sequence[str]) -> None:
    """Refuse columns that were named in an option, and are not those of a role, where a file lacks them."""
    named = () if isinstance(columns, RoleColumns) else columns
    for data in files:
        for column in named:
            if column not in data.columns:
                raise ColumnError(
                    f"The protected file has no column {column!r}.", allowed=join_names(data.columns)
                )


def in_all(files: Sequence[Microdata], columns: Iterable[str]) -> tuple[list[str], tuple[str, ...]]:
    """The columns that all files have, and those that were dropped: what is not released helps nobody."""
    wanted = list(dict.fromkeys(columns))
    there = [c for c in wanted if all(c in data.columns for data in files)]
    return there, tuple(c for c in wanted if c not in there)


def lost_note(lost: Sequence[str]) -> tuple[str, ...]:
    """Which columns were left out because the protected file no longer has them."""
    return (f"Not in the protected file, left out: {join_names(lost)}.",) if lost else ()


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


def same_records(original: Microdata, holdout: Microdata) -> bool:
    """Whether a hold-out repeats records of the original, in all columns that both have."""
    files = (original.frame, holdout.frame)
    both = [c for c in original.columns if c in holdout.columns]
    shared = [c for c in both if all(_has_text(frame[c].dtype) for frame in files)]
    if not shared:
        return False
    plain = [f"column {i}" for i in range(len(shared))]  # a column without a name cannot be joined by
    first, second = (_named(as_texts(data.frame, shared), plain) for data in (original, holdout))
    repeated = second.join(first.unique(), on=plain, how="semi", nulls_equal=True).height / second.height
    usual = 1 - first.n_unique() / first.height  # how often records of the original repeat each other
    return repeated > max(0.5, 2 * usual)


def _has_text(dtype: pl.DataType) -> bool:
    """Whether values of this type can be told apart as texts: not lists, durations or objects."""
    plain = (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Date, pl.Datetime, pl.Time)
    return dtype.is_numeric() or dtype.base_type() in plain


def _named(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    frame = frame.clone()
    frame.columns = names
    return frame


def as_texts(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Columns as text, so that equal values of different types are equal."""
    return pl.DataFrame([texts(frame[c]) for c in columns])
