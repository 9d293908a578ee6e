"""New values for old: intervals of numbers and maps of categories, on every engine."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import polars as pl

from sdckit.engine.tables import Table


def intervals(
    table: Table, column: str, breaks: Sequence[float], labels: Sequence[Any], *, right: bool
) -> Table:
    """The column with each number replaced by the label of its interval; NULL stays NULL.

    `breaks` ascend and are one more than `labels`. With `right` the intervals are (b₀, b₁], (b₁, b₂], …, else
    [b₀, b₁), [b₁, b₂), …; both outer ends belong to the outer intervals. Values outside become NULL: callers
    who want an error look for them first.
    """
    if table.implementation.is_polars() and all(isinstance(label, str) for label in labels):
        return _looked_up(table, column, breaks, labels, right)
    x = nw.col(column).cast(nw.Float64)
    inside = (x >= breaks[0]) & (x <= breaks[-1])
    label = _search(x, list(breaks[1:-1]), list(labels), right)
    return table.with_columns(nw.when(inside).then(label).alias(column))


def _looked_up(
    table: Table, column: str, breaks: Sequence[float], labels: Sequence[str], right: bool
) -> Table:
    """The same in Polars, which would work out every branch of `_search` for every record."""
    x = pl.col(column).cast(pl.Float64)
    cuts = pl.lit(pl.Series(breaks[1:-1], dtype=pl.Float64))
    place = cuts.search_sorted(x, side="left" if right else "right")
    label = pl.lit(pl.Series(labels, dtype=pl.String)).gather(place)
    inside = (x >= breaks[0]) & (x <= breaks[-1])
    found: Table = nw.from_native(table.to_native().with_columns(pl.when(inside).then(label).alias(column)))
    return found


def _search(x: nw.Expr, cuts: list[float], labels: list[Any], right: bool) -> nw.Expr:
    """Binary search as nested when/then: the depth grows with the logarithm of the number of labels."""
    if not cuts:
        return nw.lit(labels[0])
    middle = len(cuts) // 2
    below = x <= cuts[middle] if right else x < cuts[middle]
    return (
        nw.when(below)
        .then(_search(x, cuts[:middle], labels[: middle + 1], right))
        .otherwise(_search(x, cuts[middle + 1 :], labels[middle + 1 :], right))
    )


def values(table: Table, column: str, mapping: Mapping[Any, Any]) -> Table:
    """The column with categories replaced as the mapping says; others and NULL stay. A new value may be None.

    The column becomes text if a new value is text.
    """
    if not mapping:
        return table
    kind = table.collect_schema()[column]
    text = any(isinstance(new, str) for new in mapping.values())
    table = table.with_columns(nw.col(column).cast(nw.String)) if _is_category(kind) else table
    old = nw.col(column)
    stay = old.cast(nw.String) if text else old
    wanted = [key for key, new in mapping.items() if new is not None]
    gone = [key for key, new in mapping.items() if new is None]
    if gone:
        stay = nw.when(~old.is_in(gone)).then(stay)
    if wanted:
        stay = old.replace_strict(wanted, [mapping[key] for key in wanted], default=stay)
    return table.with_columns(stay.alias(column))


def _is_category(kind: nw.dtypes.DType) -> bool:
    return kind == nw.Categorical or isinstance(kind, nw.Enum)
