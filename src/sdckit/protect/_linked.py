"""Columns that follow a key: missing where it is missing, so that they do not tell it."""

from collections.abc import Mapping, Sequence

import polars as pl

from sdckit._support.messages import join_names, require_known
from sdckit.data.microdata import Microdata
from sdckit.errors import OptionError


def column_lists(linked: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """For each linked column the keys that it follows.

    >>> column_lists({"region": ["district"], "sex": ["district", "title"]})
    {'district': ['region', 'sex'], 'title': ['sex']}
    """
    found: dict[str, list[str]] = {}
    for key, columns in linked.items():
        for column in columns:
            found.setdefault(column, []).append(key)
    return found


def with_linked(
    data: Microdata, frame: pl.DataFrame, keys: Sequence[str], linked: Mapping[str, Sequence[str]]
) -> pl.DataFrame:
    """The suppressed file with linked columns missing wherever a key they follow is.

    Also where the key was missing from the start: it must look like a suppressed one there, too.
    """
    require_known(linked, keys, "linked names a column that is not a key.")
    found = column_lists(linked)
    for column in found:
        data.require(column)
    both = [column for column in found if column in keys]
    if both:
        raise OptionError(
            "A key is suppressed on its own, and follows no other.",
            given=join_names(both),
            allowed="columns that are not keys of this step",
        )
    gone = {c: pl.any_horizontal(pl.col(k).is_null() for k in its) for c, its in found.items()}
    return frame.with_columns(
        pl.when(where).then(None).otherwise(pl.col(c)).alias(c) for c, where in gone.items()
    )
