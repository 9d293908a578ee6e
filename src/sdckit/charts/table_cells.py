"""One contingency table of a result, ready to be drawn: few categories, in order."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from sdckit._support.messages import join_names
from sdckit.charts.parts_bars import nothing_to_draw
from sdckit.data.result import Result
from sdckit.errors import OptionError

MISSING, OTHER = "missing", "other"
Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableCells:
    """The variables, their categories in order, and the size of each occupied cell in both files."""

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    before: Mapping[Place, float]
    after: Mapping[Place, float]

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
    merged = [_beyond(rows, axis, most) for axis in range(size)]
    before: dict[Place, float] = {}
    after: dict[Place, float] = {}
    for categories, x, y in rows:
        place = tuple(OTHER if c in merged[i] else c for i, c in enumerate(categories))
        before[place], after[place] = before.get(place, 0.0) + x, after.get(place, 0.0) + y
    levels = tuple(_ordered({place[axis] for place in before}) for axis in range(size))
    return TableCells(tuple(names), levels, before, after)


def most_changed(result: Result) -> str | None:
    """The name of the table with the largest total variation."""
    if result.parts is None or not result.parts.height:
        return None
    return str(result.parts.sort("total_variation", descending=True, maintain_order=True)["table"][0])


def _beyond(rows: list[tuple[list[str], float, float]], axis: int, most: int) -> set[str]:
    sizes: dict[str, float] = {}
    for categories, x, y in rows:
        sizes[categories[axis]] = sizes.get(categories[axis], 0.0) + x + y
    if len(sizes) <= most + 1:
        return set()
    plain = sorted((c for c in sizes if c != MISSING), key=lambda c: -sizes[c])
    return set(plain[most:])


def _ordered(categories: set[str]) -> tuple[str, ...]:
    """By number where all are numbers, else by alphabet; merged and missing ones last."""
    last = [c for c in (OTHER, MISSING) if c in categories]
    plain = categories - {*last}
    try:
        return (*sorted(plain, key=lambda c: (float(c), c)), *last)
    except ValueError:
        return (*sorted(plain), *last)
