"""Pairs of variables in one stratum: where its records lie, and the components of its mixture."""

from dataclasses import dataclass
from math import cos, pi, sin, sqrt
from typing import Any

import polars as pl

from sdckit._support.number_text import count_records, number
from sdckit.charts.bars import nothing_to_draw
from sdckit.charts.theme import CATEGORIES, ORIGINAL, cut, number_labels, rows, spoken, themed
from sdckit.data.result import Result

ROOM = 620
POINTS = 72

Range = tuple[float, float]


def ellipses(result: Result) -> Any:
    """Bins of records and ellipses of components, for the stratum with the largest share of atypical records.

    Drawn from the tables `pairs` and `ellipses` of `atypical_records`: bins with fewer than three records are
    empty, and the picture ends where the components do, so that no record is seen. An ellipse is the shadow
    of what lies within the individual limit in all variables together: a record outside the shadows of all
    components is beyond their limits, one inside need not be within.
    """
    import altair as alt

    pairs, shapes = result.tables.get("pairs"), result.tables.get("ellipses")
    if pairs is None or shapes is None or shapes.is_empty():
        raise nothing_to_draw(result)
    couples = shapes.select("variable", "with").unique(maintain_order=True).rows()
    columns = list(dict.fromkeys(a for a, _ in couples))
    lines = list(dict.fromkeys(b for _, b in couples))
    look = _Look(
        {name: _range(shapes, name) for name in (*columns, *lines)},
        max(90, min(260, ROOM // len(columns))),
        max(pairs["records"].to_list(), default=1),
        columns[0],
        lines[-1],
    )
    grid = [
        alt.hconcat(*(_panel(pairs, shapes, x, y, look) for x in columns if (x, y) in couples), spacing=10)
        for y in lines
    ]
    return themed(alt.vconcat(*grid, spacing=10, title=_title(result)).resolve_scale(color="shared"))


@dataclass(frozen=True, slots=True)
class _Look:
    """What all panels share: ranges of the variables, size, most records in a bin, where axes are named."""

    ranges: dict[str, Range]
    size: int
    top: int
    left: str
    low: str


def _title(result: Result) -> Any:
    import altair as alt

    name = result.tables["ellipses"]["stratum"][0]
    row = result.tables["strata"].filter(pl.col("stratum") == name)
    records, atypical = row.select("records", "atypical").row(0)
    told = [
        f"Atypical: {number(atypical)} of {count_records(records)}; not all lie within the picture",
        "squares: three records or more, the darker the more; ellipses: individual limits",
    ]
    where = "" if result.tables["strata"].height == 1 else f" in {cut(name, 60)}"
    return alt.TitleParams(f"Records and components of the mixture{where}", subtitle=told)


def _range(shapes: pl.DataFrame, name: str) -> Range:
    """As far as the ellipses reach along a variable."""
    ends = []
    for own, prefix in (("variable", ""), ("with", "with_")):
        for row in shapes.filter(pl.col(own) == name).iter_rows(named=True):
            reach = 1.05 * row["limit"] * sqrt(row[f"{prefix}variance"])
            ends += [row[f"{prefix}mean"] - reach, row[f"{prefix}mean"] + reach]
    return min(ends), max(ends)


def _panel(pairs: pl.DataFrame, shapes: pl.DataFrame, x: str, y: str, look: _Look) -> Any:
    import altair as alt

    here = (pl.col("variable") == x) & (pl.col("with") == y)
    boxes = pairs.filter(here).select("from", "to", "with_from", "with_to", "records").rows()
    across = _axis(alt.X("x:Q"), x, look, named=y == look.low)
    up = _axis(alt.Y("y:Q"), y, look, named=x == look.left)
    dark = alt.Scale(type="sqrt", domain=[0, look.top], range=[0.1, 1])
    squares = (
        alt.Chart(rows([_box(*box) for box in boxes]))
        .mark_rect(color=ORIGINAL, clip=True)
        .encode(
            x=across,
            x2=alt.X2("x2:Q"),
            y=up,
            y2=alt.Y2("y2:Q"),
            opacity=alt.Opacity("records:Q", scale=dark, legend=None),
            **spoken(),
        )
    )
    drawn = [point for row in shapes.filter(here).iter_rows(named=True) for point in _outline(row)]
    components = sorted({point["component"] for point in drawn})
    colours = alt.Scale(domain=components, range=list(CATEGORIES[: len(components)]))
    outlines = (
        alt.Chart(rows(drawn))
        .mark_line(strokeWidth=2, clip=True)
        .encode(x=across, y=up, order=alt.Order("at:Q"), color=alt.Color("component:N", scale=colours))
    )
    return alt.layer(squares, outlines).properties(width=look.size, height=look.size)


def _axis(channel: Any, name: str, look: _Look, *, named: bool) -> Any:
    import altair as alt

    axis = alt.Axis(
        tickCount=3, labels=named, labelExpr=number_labels(share=False), labelFlush=True, grid=False
    )
    scale = alt.Scale(domain=list(look.ranges[name]), nice=False, zero=False)
    return channel.title(cut(name, 22) if named else None).axis(axis).scale(scale)


def _box(low: float, high: float, with_low: float, with_high: float, records: int) -> dict[str, Any]:
    spans = f"{number(low)} to {number(high)} by {number(with_low)} to {number(with_high)}"
    place = {"x": low, "x2": high, "y": with_low, "y2": with_high}
    return {**place, "records": records, "about": f"{spans}: {count_records(records)}"}


def _outline(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The ellipse of a component, by the Cholesky root of its covariance."""
    first = sqrt(row["variance"])
    slant = row["covariance"] / first
    rest = sqrt(max(row["with_variance"] - slant * slant, 0.0))
    points = []
    for at in range(POINTS + 1):
        u, v = (row["limit"] * f(2 * pi * at / POINTS) for f in (cos, sin))
        place = {"x": row["mean"] + first * u, "y": row["with_mean"] + slant * u + rest * v}
        points.append({**place, "at": at, "component": f"component {row['component']}"})
    return points
