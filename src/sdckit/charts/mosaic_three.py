"""Mosaic plots of three variables, original and protected side by side."""

from collections.abc import Mapping
from typing import Any

from sdckit._support.categories import Place
from sdckit._support.number_text import percent
from sdckit.charts.mosaic import GAP, category_colours, colours, fits, mosaic_panel
from sdckit.charts.table_cells import TableCells
from sdckit.charts.theme import FILES, INK, cut, rows, themed

WIDTH, HEIGHT = 370, 270


def mosaic_three(cells: TableCells) -> Any:
    """Areas are shares: columns are the first variable, rows in them the second, colours the third.

    Each tile of the first two variables is divided from left to right by the third. Tiles carry the name of
    their row where there is room.
    """
    import altair as alt

    flat: dict[str, Any] = {"axis": None, "scale": alt.Scale(domain=[0, 1], nice=False)}
    told = f"columns: {cut(cells.names[0], 28)}, rows: {cut(cells.names[1], 28)}"
    drawn = [_tiles(cells, sizes) for sizes in cells.files]
    few = all(fits(c["name"], c["share"] * WIDTH) for _, columns, _ in drawn for c in columns)
    charts = []
    for file, (tiles, columns, lines) in zip(FILES, drawn, strict=True):
        chart = mosaic_panel(
            tiles,
            columns,
            colours=category_colours(cells.levels[2], other=cells.rest[2]),
            legend=cut(cells.names[2], 60),
            title=alt.TitleParams(file, subtitle=told),
            level=few,
            width=WIDTH,
            height=HEIGHT,
        )
        for dark in (True, False):
            chart += (
                alt.Chart(rows([line for line in lines if line["dark"] is dark]))
                .mark_text(align="left", dx=5, fontSize=11, color="white" if dark else INK, aria=False)
                .encode(x=alt.X("left:Q", **flat), y=alt.Y("at:Q", **flat), text=alt.Text("name:N"))
            )
        charts.append(chart)
    return themed(alt.hconcat(*charts, spacing=28).resolve_scale(color="shared"))


def _tiles(
    cells: TableCells, sizes: Mapping[Place, float]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Rectangles in the unit square, the names under the columns and those of the rows."""
    first, second, third = cells.levels
    dark = {c for c, colour in colours(third).items() if _is_dark(colour)}
    total = sum(sizes.values()) or 1.0
    tiles: list[dict[str, Any]] = []
    columns: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    left = 0.0
    for a in first:
        column = sum(sizes.get((a, b, c), 0.0) for b in second for c in third)
        if column <= 0:
            continue
        width, bottom = column / total, 0.0
        gap = min(GAP, width / 4)
        for b in second:
            parts = {c: sizes.get((a, b, c), 0.0) for c in third if sizes.get((a, b, c), 0.0) > 0}
            height = sum(parts.values()) / column
            row = _row(parts, left + gap, width - gap, (bottom + min(GAP, height / 4), bottom + height))
            for tile, (c, size) in zip(row, parts.items(), strict=True):
                told = f"{a} × {b} × {c}: {percent(size / total)} of all"
                tiles.append({**tile, "category": c, "about": told})
            name = cut(b, 14)
            if row and height * HEIGHT >= 16 and fits(name, (row[0]["right"] - left) * WIDTH - 8):
                own = next(iter(parts)) in dark
                lines.append({"left": left, "at": bottom + height / 2, "name": name, "dark": own})
            bottom += height
        columns.append({"at": left + width / 2, "name": cut(a, 14), "share": width})
        left += width
    return tiles, columns, lines


def _row(
    parts: Mapping[str, float], start: float, width: float, edges: tuple[float, float]
) -> list[dict[str, Any]]:
    """One tile of the first two variables, divided from left to right."""
    total = sum(parts.values())
    tiles = []
    for size in parts.values():
        end = start + width * size / total
        tiles.append({"left": start, "right": end, "bottom": edges[0], "top": edges[1]})
        start = end
    return tiles


def _is_dark(colour: str) -> bool:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 0.3 * red + 0.6 * green + 0.1 * blue < 120
