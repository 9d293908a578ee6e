"""What measures of synthetic files share: one set or several, and columns of one type."""

from collections.abc import Iterable, Sequence

import polars as pl

from sdckit.errors import ColumnError, OptionError, listing
from sdckit.microdata import Microdata


def as_sets(synthetic: Microdata | Sequence[Microdata], columns: Iterable[str]) -> list[Microdata]:
    """The synthetic files as a list, each with these columns."""
    sets = [synthetic] if isinstance(synthetic, Microdata) else list(synthetic)
    if not sets:
        raise OptionError("At least one synthetic file is needed.", given="an empty list")
    wanted = list(columns)
    for data in sets:
        absent = [c for c in wanted if c not in data.columns]
        if absent:
            raise ColumnError(
                f"The synthetic file has no column {absent[0]!r}.", allowed=listing(data.columns)
            )
    return sets


def same_type(x: pl.Series, y: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Both columns in a type in which equal values are equal; refuses numbers against text."""
    x, y = (s.cast(pl.String) if s.dtype in (pl.Categorical, pl.Enum) else s for s in (x, y))
    if x.dtype == y.dtype:
        return x, y
    if x.null_count() == len(x):
        return x.cast(y.dtype), y
    if y.null_count() == len(y):
        return x, y.cast(x.dtype)
    if x.dtype.is_numeric() and y.dtype.is_numeric():
        both = pl.concat([x.to_frame("v"), y.to_frame("v")], how="vertical_relaxed")["v"]
        return both.head(len(x)), both.tail(len(y))
    raise ColumnError(
        f"Column {x.name!r} is of another type in the synthetic file.",
        given=f"{x.dtype} and {y.dtype}",
        hint="Read both files with the same types.",
    )
