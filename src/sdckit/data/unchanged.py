"""What still stands in a protected file as it stood in the original: ids and numbers."""

from math import sqrt

import numpy as np
import polars as pl

from sdckit._support.number_text import number, percent
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import source_rows
from sdckit.data.roles import Role
from sdckit.data.values import as_numbers, is_date, texts

IDS = (Role.ID, Role.HOUSEHOLD, Role.CLUSTER)
SURE = 3.0  # standard errors from numbers that have nothing to do with each other
SAME = 0.5  # a number that is unchanged for this share of the records is unprotected


def released_ids(original: Microdata, protected: Microdata) -> list[str]:
    """The columns of the protected file that number records, households or clusters."""
    names = dict.fromkeys(c for role in IDS for c in original.roles.columns(role))
    return [c for c in names if c in protected.columns]


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
    """Whether most of the values are among the original's, or follow them: those of new_ids hardly do."""
    first, second = original.frame[column], protected.frame[column].drop_nulls()
    if not len(second):
        return False
    one, two = texts(first), texts(second)
    if int(two.is_in(one.unique().implode()).sum()) > SAME * len(two):
        return True
    rows = source_rows(original, protected)
    if rows is None or not (first.dtype.is_numeric() and protected.frame[column].dtype.is_numeric()):
        return False
    ranks = [
        x.rank("average").fill_null(0.0).to_numpy() for x in (first.gather(rows), protected.frame[column])
    ]
    if min(r.std() for r in ranks) == 0:
        return False
    follow = abs(float(np.corrcoef(ranks[0], ranks[1])[0, 1]))
    few = min(first.n_unique(), protected.frame[column].n_unique())  # units may do so by chance
    return follow > SAME and follow * sqrt(few - 1) > SURE


def unchanged_numbers(
    original: Microdata, protected: Microdata, names: list[str], *, within: float = 0.0
) -> list[str] | None:
    """Numbers that most records still have as they were; None where records are not linked in memory.

    `within`: the share of a number by which it may have changed.
    """
    if not names:
        return []
    rows = source_rows(original, protected)
    if rows is None:
        return None
    there = [c for c in names if protected.frame.schema[c].is_numeric()]
    return [c for c in there if _unchanged(original.frame[c].gather(rows), protected.frame[c], within)]


def left_unchanged(original: Microdata, protected: Microdata, name: str) -> str:
    """A number's name with how much of it is unchanged, where a step changed the rest.

    >>> data = Microdata.of(pl.DataFrame({"rent": [0.0, 0.0, 0.0, 5.0]}))
    >>> moved = data.with_frame(pl.DataFrame({"rent": [0.0, 0.0, 0.0, 7.0]}))
    >>> left_unchanged(data, moved, "rent").replace("\N{NO-BREAK SPACE}", " ")
    'rent (75 % of its values, most of them 0)'
    """
    rows = source_rows(original, protected)
    if rows is None:
        return name
    x, y = as_numbers(original.frame[name].gather(rows)), as_numbers(protected.frame[name])
    there = np.isfinite(x) & np.isfinite(y)
    same = x[there & (x == y)]
    if len(same) == there.sum():
        return name
    values, counts = np.unique(same, return_counts=True)
    most = values[counts.argmax()] if counts.max() > SAME * len(same) else None
    common = "" if most is None else f", most of them {number(float(most))}"
    return f"{name} ({percent(len(same) / there.sum())} of its values{common})"


def unchanged_dates(original: Microdata, protected: Microdata) -> list[str]:
    """Dates that most records still have as they were; none where records are not linked in memory."""
    files = original.frame.schema, protected.frame.schema
    names = [c for c in protected.columns if all(c in kinds and is_date(kinds[c]) for kinds in files)]
    rows = source_rows(original, protected) if names else None
    if rows is None:
        return []
    return [c for c in names if _unchanged(original.frame[c].gather(rows), protected.frame[c])]


def _unchanged(first: pl.Series, second: pl.Series, within: float = 0.0) -> bool:
    """Whether a column that is not constant is the same in most records that have a value."""
    x, y = as_numbers(first), as_numbers(second)
    there = np.isfinite(x) & np.isfinite(y)
    varies = 0 < first.null_count() < len(first) or first.min() != first.max()
    return varies and bool(there.any()) and bool((np.abs(x - y) <= within * np.abs(x))[there].mean() > SAME)
