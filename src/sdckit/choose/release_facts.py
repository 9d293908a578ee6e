"""Facts about a protected file that are asked before it is released."""

from math import isfinite

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import source_rows
from sdckit.data.roles import Role
from sdckit.engine import frames

DIFFERENT = 0.5  # as many different values as half of the records: the column (nearly) names them
FEWEST = 20  # different values at least: in a handful of records every column has few values in common
IDS = (Role.ID, Role.HOUSEHOLD, Role.CLUSTER)
SAME = 0.5  # a number that is unchanged for this share of the records is unprotected
PEOPLE = 8.2e9  # on Earth: weights that add up to more have implied decimals


def odd_weights(weights: Floats) -> str:
    """Why the weights can hardly be numbers of people; empty where they can."""
    total = float(weights.sum())
    if total > PEOPLE:
        return "more than there are on Earth; they seem to have implied decimals"
    if bool((weights < 1).mean() > 0.01):
        return "some are below 1, so that a person would stand for less than one"
    if len(weights) > FEWEST and isfinite(total) and bool((weights % 100 == 0).all()) and np.ptp(weights) > 0:
        return "all are whole hundreds; they may have two implied decimals"
    if len(weights) > FEWEST and bool((weights >= 1e5).all()):
        return "each stands for a hundred thousand people or more; they may have implied decimals"
    return ""


def unmeasured(original: Microdata, protected: Microdata, *, same_people: bool = True) -> tuple[str, ...]:
    """Warnings: columns that no risk looks at and that may name records, and ids of the original.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": ["f", "m"] * 20, "number": range(40)}), keys="sex")
    >>> unmeasured(data, data)[0].split(":")[0]
    'No risk looks at number'
    """
    found = []
    names = near_unique(protected)
    if names:
        have, them = ("it has no role and", "it") if len(names) == 1 else ("they have no role and", "them")
        found.append(
            f"No risk looks at {join_names(names)}: {have} values that differ from record to record, and so "
            "may "
            f"name them. Drop {them}, declare {them} a direct identifier, or give {them} another "
            "role."
        )
    same = same_ids(original, protected) if same_people else ()
    if same:
        found.append(
            f"The ids in {join_names(same)} are those of the original file: whoever has them there finds the "
            "records again. Make new_ids the last step of the file to release, or drop them."
        )
    return tuple(found)


def near_unique(data: Microdata) -> list[str]:
    """The columns without a role in which (nearly) all values differ."""
    return data.cached("near unique", lambda: _near_unique(data))


def _near_unique(data: Microdata) -> list[str]:
    kinds = frames.schema(data.frame)
    free = [c for c in data.columns if not data.roles.of(c) and not kinds[c].is_nested()]
    if not free:
        return []
    counts = frames.gather(data.table.select(*(nw.col(c).n_unique() for c in free))).row(0)
    enough = max(FEWEST, DIFFERENT * data.height)
    return [c for c, n in zip(free, counts, strict=True) if n >= enough]


def not_looked_at(original: Microdata, data: Microdata) -> list[str]:
    """Columns of the protected file that no measure of risk looks at."""
    seen = {Role.KEYS, Role.NUMERIC, Role.SENSITIVE, Role.WEIGHT, Role.ID, Role.HOUSEHOLD, Role.DIRECT}
    roles = {
        c: {*data.roles.of(c), *(original.roles.of(c) if c in original.columns else ())} for c in data.columns
    }
    kinds = frames.schema(data.frame)
    found = [c for c in data.columns if not roles[c] & seen]
    found += [
        c
        for c in data.roles.sensitive
        if not kinds[c].is_numeric() and c not in data.roles.keys and _is_near_unique(data, c)
    ]
    told = [c for c in found if {Role.STRATA, Role.CLUSTER} & roles[c] and _told_by_keys(data, c)]
    return [c for c in dict.fromkeys(found) if c not in told]


def _is_near_unique(data: Microdata, column: str) -> bool:
    kinds = frames.schema(data.frame)
    if kinds[column].is_nested():
        return True
    count = frames.gather(data.table.select(nw.col(column).n_unique().alias("n")))["n"][0]
    return int(count) >= max(FEWEST, DIFFERENT * data.height)


def _told_by_keys(data: Microdata, column: str) -> bool:
    """Whether a design column says nothing beyond the keys, or is a number that names nobody (new ids)."""
    if not data.roles.keys:
        return False
    keys = [k for k in data.roles.keys if k != column]
    if column in data.roles.keys or not keys:
        return column in data.roles.keys
    both = frames.gather(data.table.select(*keys, column).unique().select(nw.len().alias("n")))["n"][0]
    alone = frames.gather(data.table.select(*keys).unique().select(nw.len().alias("n")))["n"][0]
    return int(both) == int(alone)


def same_ids(original: Microdata, protected: Microdata) -> tuple[str, ...] | None:
    """Columns that number records, households or clusters as the original does; None if that is not known."""
    names = dict.fromkeys(c for role in IDS for c in original.roles.columns(role))
    there = [c for c in names if c in protected.columns]
    if not there:
        return ()
    if original.engine != "polars" or protected.engine != "polars":
        return None
    return tuple(c for c in there if _share_values(original, protected, c))


def _share_values(original: Microdata, protected: Microdata, column: str) -> bool:
    """Whether most of the protected file's values are among the original's: those of new_ids hardly are."""
    first, second = original.frame[column], protected.frame[column].drop_nulls()
    if first.dtype != second.dtype:
        first, second = first.cast(pl.String), second.cast(pl.String)
    return len(second) > 0 and float(second.is_in(first.unique().implode()).mean() or 0.0) > SAME


def unchanged_numbers(original: Microdata, protected: Microdata, names: list[str]) -> list[str] | None:
    """Numbers that most records still have as they were; None where records are not linked in memory."""
    if not names:
        return []
    rows = source_rows(original, protected)
    if rows is None:
        return None
    same = []
    for name in names:
        first, second = original.frame[name].gather(rows), protected.frame[name]
        if not second.dtype.is_numeric():
            continue
        equal = (first.cast(pl.Float64) == second.cast(pl.Float64)).mean()
        if first.n_unique() > 1 and float(equal or 0.0) > SAME:
            same.append(name)
    return same
