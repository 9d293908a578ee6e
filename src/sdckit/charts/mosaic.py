"""Mosaic plots of two variables, original and protected side by side."""

from collections.abc import Sequence
from typing import Any

from sdckit._support.number_text import percent
from sdckit.charts.theme import CATEGORIES, FILES, INK, MISSING, OTHER, cut, rows, spoken, themed

GAP = 0.006  # white between tiles, as a share of the plot
NARROW = 18  # pixels between names that are not level


def mosaic(
    first: Sequence[str],
    second: Sequence[str],
    before: Sequence[Sequence[float]],
    after: Sequence[Sequence[float]],
    *,
    first_title: str,
    second_title: str,
    missing: str = "missing",
    other: str = "other",
    width: int = 410,
    height: int = 230,
) -> Any:
    """Areas are shares: columns are categories of `first`, tiles those of `second`.

    `before[i][j]` is the (weighted) size of first[i] × second[j]. Missing and merged categories are grey.
    """
    import altair as alt

    drawn = [mosaic_tiles(first, second, table) for table in (before, after)]
    few = all(fits(n["name"], n["share"] * width) for _, names in drawn for n in names)
    charts = [
        mosaic_panel(
            *tiles_and_names,
            colours=category_colours(second, missing, other),
            legend=cut(second_title, 60),
            title=alt.TitleParams(file, subtitle=cut(f"columns: {first_title}", 60)),
            level=few,
            width=width,
            height=height,
        )
        for file, tiles_and_names in zip(FILES, drawn, strict=True)
    ]
    return themed(alt.hconcat(*charts, spacing=28).resolve_scale(color="shared"))


def mosaic_panel(
    tiles: Sequence[dict[str, Any]],
    names: Sequence[dict[str, Any]],
    *,
    colours: Any,
    legend: str,
    title: Any,
    level: bool,
    width: int,
    height: int,
) -> Any:
    """One mosaic without its look: rectangles of the unit square, and names under its columns."""
    import altair as alt

    common: dict[str, Any] = {"axis": None, "scale": alt.Scale(domain=[0, 1], nice=False)}
    shown = alt.Legend(title=legend, titleFontWeight="normal", columns=9, labelLimit=110)
    rectangles = (
        alt.Chart(rows(tiles))
        .mark_rect(opacity=0.85)
        .encode(
            x=alt.X("left:Q", **common),
            x2=alt.X2("right:Q"),
            y=alt.Y("bottom:Q", **common),
            y2=alt.Y2("top:Q"),
            color=alt.Color("category:N", scale=colours, legend=shown, sort=None),
            **spoken(),
        )
    )
    text = (
        alt.Chart(rows(names if level else spread(names, NARROW / width)))
        .mark_text(
            angle=0 if level else 320,
            align="center" if level else "right",
            baseline="top",
            fontSize=11,
            color=INK,
            aria=False,
        )
        .encode(x=alt.X("at:Q", **common), y=alt.value(height + 6), text=alt.Text("name:N"))
    )
    return (rectangles + text).properties(width=width, height=height, title=title)


def spread(names: Sequence[dict[str, Any]], least: float) -> list[dict[str, Any]]:
    """Names moved sideways until none is nearer than `least` to the next; too many for that: the largest.

    >>> [n["at"] for n in spread([{"at": 0.5, "share": 0.1}, {"at": 0.625, "share": 0.1}], 0.25)]
    [0.5, 0.75]
    """
    room = int(1 / least)
    kept = sorted(sorted(names, key=lambda n: -n["share"])[:room], key=lambda n: n["at"])
    places: list[float] = []
    for n in kept:
        places.append(max(n["at"], places[-1] + least) if places else n["at"])
    end = 1.0
    for i in range(len(places) - 1, -1, -1):  # none beyond the right edge
        places[i] = min(places[i], end)
        end = places[i] - least
    return [{**n, "at": at} for n, at in zip(kept, places, strict=True)]


def fits(text: str, pixels: float) -> bool:
    """Whether a text at 11 points is narrower than this."""
    return 6.5 * len(text) < pixels


def colours(categories: Sequence[str], missing: str = "missing", other: str = "other") -> dict[str, str]:
    """A colour for each category, grey for missing and merged ones."""
    plain = [c for c in categories if c not in (missing, other)]
    found = {c: CATEGORIES[i % len(CATEGORIES)] for i, c in enumerate(plain)}
    return {c: found.get(c, MISSING if c == missing else OTHER) for c in categories}


def category_colours(categories: Sequence[str], missing: str = "missing", other: str = "other") -> Any:
    """The colours as a scale."""
    import altair as alt

    found = colours(categories, missing, other)
    return alt.Scale(domain=list(found), range=list(found.values()))


def mosaic_tiles(
    first: Sequence[str], second: Sequence[str], table: Sequence[Sequence[float]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rectangles in the unit square and the names under the columns."""
    total = sum(map(sum, table)) or 1.0
    tiles: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    left = 0.0
    for a, counts in zip(first, table, strict=True):
        column = sum(counts)
        share = column / total
        bottom = 0.0
        for b, count in zip(second, counts, strict=True):
            if count <= 0:
                continue
            part = count / column
            tiles.append(
                {
                    "left": left + min(GAP, share / 4),
                    "right": left + share,
                    "bottom": bottom + min(GAP, part / 4),
                    "top": bottom + part,
                    "category": b,
                    "about": f"{a} × {b}: {percent(count / total)} of all, {percent(part)} of {a}",
                }
            )
            bottom += part
        if share > 0:
            names.append({"at": left + share / 2, "name": cut(a, 18), "share": share})
        left += share
    return tiles, names
