"""Columns that follow a key: missing where it is missing, so that they do not tell it."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw

from sdckit._support.messages import join_names, require_known
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
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


def require_linked(
    data: Microdata, keys: Sequence[str], linked: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """For each linked column the keys that it follows; refuses what cannot follow."""
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
    return found


def with_linked(frame: Any, follows: Mapping[str, Sequence[str]]) -> Any:
    """The suppressed file with linked columns missing wherever a key they follow is.

    Also where the key was missing from the start: it must look like a suppressed one there, too.
    """
    there = {
        c: nw.all_horizontal(*(~nw.col(k).is_null() for k in keys), ignore_nulls=False)
        for c, keys in follows.items()
    }
    shown = [nw.when(known).then(nw.col(c)).alias(c) for c, known in there.items()]
    return nw.from_native(frame).with_columns(*shown).to_native() if shown else frame


def values_followed(data: Microdata, frame: Any, follows: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How many values of each linked column went missing with its keys."""
    if not follows:
        return {}
    missing = [nw.col(c).is_null().cast(nw.Int64).sum().alias(c) for c in follows]
    before, after = (frames.gather(table.select(*missing)) for table in (data.table, frames.lazy(frame)))
    return {c: int(after[c][0]) - int(before[c][0]) for c in follows}
