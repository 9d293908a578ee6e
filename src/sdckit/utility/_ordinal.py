"""The order of the values of an ordinal variable."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import polars as pl

from sdckit._support.messages import join_names
from sdckit.data.values import as_text
from sdckit.errors import OptionError
from sdckit.methods.options import Column, Columns, Option

Ordinal = Annotated[
    Columns | Mapping[Column, Sequence[Any]],
    Option(
        "Ordinal variables",
        "Variables whose values have an order: their names, or for each its levels from lowest to highest.",
        absent="no column more",
    ),
]


def ranks(x: pl.Series, y: pl.Series, given: Sequence[Any] | None) -> dict[str, int]:
    """Place of each level, by its text: the levels given, those of an Enum, or the numbers that occur.

    x: the original, all of whose values must be among the levels. y: the protected file.
    """
    levels = list(given) if given is not None else _levels(x, y)
    found = {as_text(level): i for i, level in enumerate(levels)}
    unknown = [v for v in x.drop_nulls().unique() if as_text(v) not in found]
    if unknown or len(found) < len(levels):
        raise OptionError(
            f"The levels of {x.name!r} must differ and hold every value of the original.",
            given=join_names(unknown or levels),
            allowed=join_names(levels),
        )
    return found


def _levels(x: pl.Series, y: pl.Series) -> list[Any]:
    if isinstance(x.dtype, pl.Enum):
        return x.dtype.categories.to_list()
    if x.dtype in (pl.String, pl.Categorical):
        raise OptionError(
            f"The order of {x.name!r} is not known.",
            given="text",
            hint=f"Give its levels: ordinal={{{x.name!r}: [lowest, …, highest]}}.",
        )
    alike = x.dtype == y.dtype or (x.dtype.is_numeric() and y.dtype.is_numeric())
    return sorted({*x.drop_nulls(), *(y.drop_nulls() if alike else ())})
