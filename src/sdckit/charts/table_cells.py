"""One contingency table of a result, ready to be drawn: few categories, in order."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from sdckit._support.categories import (
    MISSING,
    Place,
    Sizes,
    level_sizes,
    merge_levels,
    rare_levels,
    rest_name,
)
from sdckit._support.messages import join_names
from sdckit.charts.bars import nothing_to_draw
from sdckit.data.result import Result
from sdckit.errors import OptionError


@dataclass(frozen=True, slots=True)
class TableCells:
    """The variables, their categories in order, and the size of each occupied cell in both files.

    rest: what categories that were put together are called, for each variable.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    before: Mapping[Place, float]
    after: Mapping[Place, float]
    rest: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Mapping[Place, float], Mapping[Place, float]]:
        """The original, then the protected file."""
        return self.before, self.after


def table_cells(result: Result, table: str | None = None, *, most: int = 8) -> TableCells:
    """A table of a contingency_tables result by its name in `parts`, the first by default.

    Of more than `most` categories the largest stay and the others are put together.
    """
    cells = result.tables.get("cells")
    if cells is None or not cells.height:
        raise nothing_to_draw(result)
    known = cells["table"].unique(maintain_order=True).to_list()
    chosen = known[0] if table is None else table
    if chosen not in known:
        raise OptionError(f"There is no table {chosen!r} in this result.", allowed=join_names(known))
    rows = cells.filter(pl.col("table") == chosen).select("categories", "original", "protected").rows()
    size = len(rows[0][0])
    names = chosen.split(" × ")
    if len(names) != size:  # a variable's name has the sign in it
        names = [f"variable {i + 1} of {chosen}" for i in range(size)]
    sizes: Mapping[Place, Sizes] = {tuple(categories): (x + y, x, y) for categories, x, y in rows}
    rest = tuple(rest_name(place[axis] for place in sizes) for axis in range(size))
    for axis in range(size):
        sizes = merge_levels(sizes, axis, rare_levels(level_sizes(sizes, axis), most), rest[axis])
    levels = tuple(_ordered({place[axis] for place in sizes}, rest[axis]) for axis in range(size))
    before, after = ({place: found[i] for place, found in sizes.items()} for i in (1, 2))
    return TableCells(tuple(names), levels, before, after, rest)


def _ordered(categories: set[str], rest: str) -> tuple[str, ...]:
    """By number where all are numbers, else by alphabet; merged and missing ones last."""
    last = [c for c in (rest, MISSING) if c in categories]
    plain = categories - {*last}
    try:
        return (*sorted(plain, key=lambda c: (float(c), c)), *last)
    except ValueError:
        return (*sorted(plain), *last)
