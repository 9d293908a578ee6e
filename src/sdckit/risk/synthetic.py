"""What measures of synthetic files share: one set or several, and columns of one type."""

from collections.abc import Iterable, Sequence

import polars as pl

from sdckit.errors import ColumnError, OptionError, listing
from sdckit.microdata import Microdata
from sdckit.values import in_one_column


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
    both = in_one_column([x, y])
    if both is None:
        raise ColumnError(
            f"Column {x.name!r} is of another type in the synthetic file.",
            given=f"{x.dtype} and {y.dtype}",
            hint="Read both files with the same types.",
        )
    return both.head(len(x)), both.tail(len(y)).alias(y.name)
