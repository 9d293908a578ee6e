"""Mosaic plots of several files side by side, as of an original and the scenarios that protect it."""

from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.charts.mosaic import category_colours, fits, mosaic_panel, mosaic_tiles
from sdckit.charts.theme import cut, themed

ROOM, COLUMNS = 900, 4  # pixels and mosaics in a row
WIDEST, HEIGHT = 360, 165
STRIP, TALL = 720, 230  # one variable: all files in one mosaic


def mosaics(
    files: Sequence[str],
    titles: Sequence[str],
    levels: Sequence[Sequence[str]],
    sizes: Sequence[Mapping[tuple[str, ...], float]],
    *,
    other: str = "other",
) -> Any:
    """Areas are shares: of one variable in a column for each file, or of two in a mosaic for each.

    `titles` and `levels` are of the one or two variables; `sizes` has the (weighted) size of each cell by its
    categories, a mapping a file. With two variables columns are the first and tiles the second. `other`: the
    category that others were put together into, which is grey.
    """
    if len(titles) == 1:
        return themed(_strip(files, titles[0], levels[0], sizes, other))
    return themed(_panels(files, titles, levels, sizes, other))


def _strip(
    files: Sequence[str],
    title: str,
    levels: Sequence[str],
    sizes: Sequence[Mapping[tuple[str, ...], float]],
    other: str,
) -> Any:
    """One mosaic whose columns are the files, as wide as they are large."""
    import altair as alt

    table = [[cells.get((level,), 0.0) for level in levels] for cells in sizes]
    tiles, names = mosaic_tiles(files, levels, table)
    return mosaic_panel(
        tiles,
        names,
        colours=category_colours(levels, other=other),
        legend="",
        title=alt.TitleParams(cut(title, 70)),
        level=all(fits(n["name"], n["share"] * STRIP) for n in names),
        width=STRIP,
        height=TALL,
    )


def _panels(
    files: Sequence[str],
    titles: Sequence[str],
    levels: Sequence[Sequence[str]],
    sizes: Sequence[Mapping[tuple[str, ...], float]],
    other: str,
) -> Any:
    import altair as alt

    first, second = levels
    drawn = []
    for file, cells in zip(files, sizes, strict=True):
        table = [[cells.get((a, b), 0.0) for b in second] for a in first]
        drawn.append((file, mosaic_tiles(first, second, table)))
    width = min(ROOM // min(len(files), COLUMNS) - 20, WIDEST)
    few = all(fits(n["name"], n["share"] * width) for _, (_, names) in drawn for n in names)
    charts = [
        mosaic_panel(
            tiles,
            names,
            colours=category_colours(second, other=other),
            legend=cut(titles[1], 60),
            title=alt.TitleParams(cut(file, 30)),
            level=few,
            width=width,
            height=HEIGHT,
        )
        for file, (tiles, names) in drawn
    ]
    together = alt.concat(*charts, columns=COLUMNS, spacing=24).resolve_scale(color="shared")
    columns = alt.TitleParams(cut(f"columns: {titles[0]}", 80), fontWeight="normal", fontSize=11)
    return together.properties(title=columns)
