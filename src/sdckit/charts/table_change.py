"""A contingency table before and after: mosaics and the difference."""

from typing import Any

from sdckit.charts.before_after import before_after
from sdckit.charts.mosaic import mosaic
from sdckit.charts.mosaic_three import mosaic_three
from sdckit.charts.table_cells import TableCells, table_cells
from sdckit.charts.table_heatmap import table_heatmap
from sdckit.charts.theme import themed, unthemed
from sdckit.data.result import Result


def table_change(result: Result, *, table: str | None = None) -> Any:
    """A table of a contingency_tables result: mosaics side by side and the heat map of differences.

    One variable: bars. Two or three: mosaics above the heat map. More: the heat map alone.
    `table`: its name in `parts`, the first by default.
    """
    import altair as alt

    cells = table_cells(result, table)
    if len(cells.names) == 1:
        return _bars(cells)
    difference = table_heatmap(result, table=table)
    if len(cells.names) > 3:
        return difference
    above = _two(cells) if len(cells.names) == 2 else mosaic_three(cells)
    panels = alt.vconcat(unthemed(above), unthemed(difference), spacing=36)
    return themed(panels.resolve_scale(color="independent"))


def _two(cells: TableCells) -> Any:
    first, second = cells.levels
    tables = [[[file.get((a, b), 0.0) for b in second] for a in first] for file in cells.files]
    return mosaic(
        first,
        second,
        *tables,
        first_title=cells.names[0],
        second_title=cells.names[1],
        other=cells.rest[1],
    )


def _bars(cells: TableCells) -> Any:
    (levels,) = cells.levels
    shares = []
    for file in cells.files:
        total = sum(file.values()) or 1.0
        shares.append([file.get((level,), 0.0) / total for level in levels])
    return before_after(levels, *shares, axis=f"{cells.names[0]}: share", width=420)
