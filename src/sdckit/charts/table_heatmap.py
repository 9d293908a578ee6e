"""Where a contingency table gained and lost."""

from itertools import product
from typing import Any

from sdckit._support.number_text import number, short
from sdckit.charts.heatmap import Cell, heatmap
from sdckit.charts.table_cells import table_cells
from sdckit.charts.theme import cut, row_names, themed
from sdckit.data.result import Result

MOST_ROWS = 24


def table_heatmap(result: Result, *, table: str | None = None) -> Any:
    """Protected minus original, cell by cell: blue gained, orange lost.

    The columns are the last variable of the table, the rows all others. `table`: its name, the first by
    default. Of more than 24 rows those that changed most are shown. Counts are weighted where the result is.
    """
    import altair as alt

    cells = table_cells(result, table)
    places = list(product(*cells.levels[:-1])) or [()]
    columns = cells.levels[-1]

    def change(place: tuple[str, ...]) -> float:
        return cells.after.get(place, 0.0) - cells.before.get(place, 0.0)

    places = [p for p in places if any((*p, c) in cells.before for c in columns)]
    moved = {p: sum(abs(change((*p, c))) for c in columns) for p in places}
    every = len(places)
    if every > MOST_ROWS:
        kept = set(sorted(places, key=lambda p: -moved[p])[:MOST_ROWS])
        places = [p for p in places if p in kept]
    names = row_names([" · ".join(p) or "all" for p in places], 34)
    titles = row_names(columns, 16)
    drawn = []
    for name, place in zip(names, places, strict=True):
        for title, column in zip(titles, columns, strict=True):
            cell = (*place, column)
            x, y, d = cells.before.get(cell, 0.0), cells.after.get(cell, 0.0), change(cell)
            about = f"{' × '.join(cell)}: {number(x)} → {number(y)}"
            drawn.append(Cell(name, title, d, _signed(d), about))
    top = max(abs(c.value) for c in drawn)
    told = "protected − original" + (f"; {MOST_ROWS} of {every} rows" if every > MOST_ROWS else "")
    heading = alt.TitleParams(cut(" × ".join(cells.names), 90), subtitle=told)
    return themed(
        heatmap(
            drawn,
            names,
            titles,
            title=heading,
            top=top,
            row_title=cut(" · ".join(cells.names[:-1]), 40) or None,
            column_title=cut(cells.names[-1], 60),
            room=480,
        )
    )


def _signed(value: float) -> str:
    size = short(float(f"{abs(value):.3g}"))
    return "0" if size == "0" else ("+" if value > 0 else "−") + size
