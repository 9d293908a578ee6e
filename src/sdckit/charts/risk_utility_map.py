"""The risk–utility map: every scenario as a point, the original and no release as the two ends."""

from itertools import pairwise
from math import ceil, floor, hypot, isfinite, log10
from typing import Any

import polars as pl

from sdckit._support.number_text import display, round_marks
from sdckit.charts.label_places import LETTER, Scale, place
from sdckit.charts.theme import (
    INK,
    ORIGINAL,
    PROTECTED,
    QUIET,
    SAFE,
    WARNING,
    cut,
    number_labels,
    rows,
    spoken,
    themed,
)

MANY = 14  # above this many scenarios only those on the front are named
ROOM = 1.3  # the loss axis goes on beyond the scenarios: there stands no release, which loses everything
WIDE = 20  # risks that differ by more than this factor are drawn on a logarithmic axis


def risk_utility_map(
    points: pl.DataFrame,
    *,
    original_risk: float,
    max_risk: float | None = None,
    risk_title: str = "Disclosure risk",
    loss_title: str = "Information lost",
    risk_is_share: bool = True,
    loss_is_share: bool = False,
    log: bool | None = None,
    advice: str = "recommended",
    width: int = 820,
    height: int = 400,
) -> Any:
    """Disclosure risk against information lost; lower left is best.

    `points` has one row a scenario: scenario, description, risk, loss (information lost), on_front, best,
    objection (why the file cannot be cleared, or nothing: drawn as a ring in the colour of the limit).
    Rows without both numbers are named above the chart. The original (a triangle) loses nothing and has its
    own risk; no release (a square) has no risk and loses everything. The line joins the scenarios that no
    other beats on both; the dashed line is the accepted risk. `log=None` chooses a logarithmic risk axis when
    risks span more than a factor of 20. `advice`: what is said of the best scenario.
    """
    import altair as alt

    chart = map_panel(
        points,
        original_risk=original_risk,
        max_risk=max_risk,
        risk_title=risk_title,
        loss_title=loss_title,
        risk_is_share=risk_is_share,
        loss_is_share=loss_is_share,
        log=log,
        advice=advice,
        width=width,
        height=height,
    )
    told = [line for line in (not_measured(points, 120), _objected(points)) if line]
    title = alt.TitleParams(told, fontSize=11, fontWeight="normal", color=QUIET)
    return themed(chart.properties(title=title) if told else chart)


def not_measured(points: pl.DataFrame, length: int) -> str:
    """The scenarios that have no place on the map, in words."""
    names = [r["scenario"] for r in points.to_dicts() if not (_finite(r["risk"]) and _finite(r["loss"]))]
    return cut(f"{len(names)} not measured: {', '.join(names)}", length) if names else ""


def _objected(points: pl.DataFrame) -> str:
    """What the rings mean, where there are any."""
    if not any(points["objection"]):
        return ""
    return "Rings in the colour of the limit: cannot be released, though this risk is accepted"


def map_panel(
    points: pl.DataFrame,
    *,
    original_risk: float,
    max_risk: float | None,
    risk_title: str | None,
    loss_title: str | None,
    risk_is_share: bool,
    loss_is_share: bool,
    log: bool | None,
    width: int,
    height: int,
    advice: str = "",
) -> Any:
    """One map without its look; a small one, without `advice`, names its scenarios in few words."""
    import altair as alt

    good = [r for r in points.to_dicts() if _finite(r["risk"]) and _finite(r["loss"])]
    risks = [original_risk, *(r for r in points["risk"] if _finite(r))]
    far = max((r["loss"] for r in good), default=0.0) or 1.0
    x_scale = Scale(-0.03 * ROOM * far, ROOM * far, width)
    y_scale, ceiling = _risk_scale(risks, max_risk, log, height)
    small = not advice
    marks = _marks(good, original_risk, x_scale.top, risk_is_share, loss_is_share, advice)
    x = _loss_axis(x_scale, loss_title, share=loss_is_share, few=small)
    y = _risk_axis(y_scale, risk_title, share=risk_is_share)
    layers = [] if max_risk is None else _background(max_risk if ceiling else None, x, y, x_scale, y_scale)
    front = sorted((m for m in marks if m["front"]), key=lambda m: (m["risk"], -m["loss"]))
    if len(front) > 1:
        path = alt.Chart(rows([{**m, "order": i} for i, m in enumerate(front)]))
        layers.append(
            path.mark_line(color=PROTECTED, strokeWidth=1.5, opacity=0.6, aria=False).encode(
                x=x, y=y, order=alt.Order("order:Q")
            )
        )
    layers += [_symbols([m for m in marks if m["kind"] == kind], kind, x, y) for kind in KINDS]
    named = [m for m in marks if len(good) <= MANY or m["front"] or m["kind"] in ENDS]
    if small:
        named = [{**m, "name": cut(m["name"], 20)} for m in named]
    lines = _along(front, x_scale, y_scale)
    if ceiling and max_risk is not None:
        lines += [(x_scale.value(6 * i), max_risk) for i in range(width // 6)]
    if max_risk is not None and not small:
        text = f"accepted risk: {display(max_risk, share=risk_is_share)}"
        text += "" if ceiling else " (above this chart)"
        left, up = _limit_place(
            max_risk if ceiling else y_scale.top, LETTER * len(text), marks, x_scale, y_scale
        )
        middle = y_scale.value(up)
        lines += [(x_scale.value(left + 4 * i), middle) for i in range(ceil(LETTER * len(text) / 4))]
        limit = alt.Chart(rows([{"loss": x_scale.value(left), "risk": middle, "text": text}]))
        limit = limit.mark_text(align="left", color=WARNING, fontSize=11, aria=False)
        layers.append(limit.encode(x=x, y=y, text=alt.Text("text:N")))
    layers += _names(named, marks, lines, x_scale, y_scale, x, y)
    return alt.layer(*layers).properties(width=width, height=height)


def _loss_axis(scale: Scale, title: str | None, *, share: bool, few: bool) -> Any:
    import altair as alt

    return alt.X(
        "loss:Q",
        title=None if title is None else f"{title}   (← less is better)",
        scale=alt.Scale(domain=[scale.low, scale.top], nice=False),
        axis=alt.Axis(
            values=round_marks(0, scale.top / ROOM, 3 if few else 5), labelExpr=number_labels(share=share)
        ),
    )


def _risk_axis(scale: Scale, title: str | None, *, share: bool) -> Any:
    import altair as alt

    kind: dict[str, Any] = {"type": "symlog", "constant": scale.constant} if scale.constant else {}
    log = ", log scale" if kind else ""
    return alt.Y(
        "risk:Q",
        # turned upright, this arrow points down
        title=None if title is None else f"{title}{log}   (← less is better)",
        scale=alt.Scale(domain=[scale.low, scale.top], nice=False, **kind),
        axis=alt.Axis(values=risk_marks(scale), labelExpr=number_labels(share=share)),
    )


# shape, size, fill, outline
KINDS = {
    "scenario": ("circle", 80, "white", PROTECTED),
    "front": ("circle", 90, PROTECTED, "white"),
    "objected": ("circle", 80, "white", WARNING),
    "best": ("circle", 190, PROTECTED, INK),
    "original": ("triangle-up", 170, ORIGINAL, INK),
    "no release": ("square", 130, ORIGINAL, INK),
}
ENDS = ("best", "original", "no release")  # always named


def _finite(value: Any) -> bool:
    return value is not None and isfinite(value)


def _risk_scale(
    risks: list[float], max_risk: float | None, log: bool | None, height: int
) -> tuple[Scale, bool]:
    """The axis of risks, and whether the accepted risk is on it (a far higher one flattens the chart)."""
    top = max(*risks, 1e-9)
    ceiling = max_risk is not None and max_risk <= 2.5 * top
    constant = log_constant(risks, log)
    highest = max(top, max_risk) if ceiling and max_risk is not None else top
    low = -(0.3 * constant or 0.04 * highest)
    return Scale(low, highest * (1.6 if constant else 1.12), height, constant), ceiling


def log_constant(risks: list[float], log: bool | None = None) -> float:
    """Where a logarithmic axis of these risks begins; 0 where they are close enough for a plain one."""
    positive = [r for r in risks if r > 0]
    if log is None:
        log = bool(positive) and max(positive) > WIDE * min(positive)
    return min(positive) if log and positive else 0.0


def risk_marks(scale: Scale) -> list[float]:
    """Round numbers along the risk axis; 1, 2, 5, 10, … where it is logarithmic."""
    if not scale.constant:
        return round_marks(0, scale.top, 6)
    powers = range(floor(log10(scale.constant)), ceil(log10(scale.top)) + 1)
    steps = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    return [0.0, *(s for s in steps if scale.constant <= s <= scale.top)]


def _marks(
    good: list[dict[str, Any]],
    original: float,
    nothing: float,
    risk_is_share: bool,
    loss_is_share: bool,
    advice: str,
) -> list[dict[str, Any]]:
    marks = []
    for row in good:
        risk, loss = display(row["risk"], share=risk_is_share), display(row["loss"], share=loss_is_share)
        against = f" Cannot be released: {row['objection']}." if row["objection"] else ""
        plain = "objected" if row["objection"] else "front" if row["on_front"] else "scenario"
        kind = "best" if row["best"] else plain
        name = row["scenario"]
        about = f"{name}: {row['description']}. Risk {risk}, information lost {loss}.{against}"
        shown = f"{cut(name)} – {advice}" if row["best"] and advice else cut(name)
        mark = {"kind": kind, "loss": row["loss"], "risk": row["risk"], "name": shown, "about": about}
        marks.append({**mark, "front": row["on_front"]})
    about = f"Original file: risk {display(original, share=risk_is_share)}, nothing lost."
    ends = [
        {"kind": "original", "loss": 0.0, "risk": original, "name": "Original", "about": about},
        {
            "kind": "no release",
            "loss": nothing * 0.97,
            "risk": 0.0,
            "name": "No release",
            "about": "No release: no risk, and everything is lost.",
        },
    ]
    return marks + [{**end, "front": False} for end in ends]


def _background(limit: float | None, x: Any, y: Any, x_scale: Scale, y_scale: Scale) -> list[Any]:
    """The accepted area, and its limit where that is on the chart."""
    import altair as alt

    top = y_scale.top if limit is None else limit
    area = [{"loss": x_scale.low, "risk": y_scale.low, "right": x_scale.top, "top": top}]
    layers = [
        alt.Chart(rows(area))
        .mark_rect(color=SAFE, aria=False)
        .encode(x=x, x2=alt.X2("right:Q"), y=y, y2=alt.Y2("top:Q"))
    ]
    if limit is not None:
        rule = alt.Chart(rows([{"risk": limit}])).mark_rule(
            color=WARNING, strokeDash=[6, 4], strokeWidth=1.5, aria=False
        )
        layers.append(rule.encode(y=y))
    return layers


def _limit_place(
    limit: float, length: float, marks: list[dict[str, Any]], x: Scale, y: Scale
) -> tuple[float, float]:
    """Left end and middle of the text of the accepted risk, in pixels, where it covers no point."""
    line = y.pixel(limit)
    places = [(left, up) for left in (x.pixels - length - 6, 8.0) for up in (line + 9, line - 10)]
    points = [(x.pixel(m["loss"]), y.pixel(m["risk"])) for m in marks]

    def free(place: tuple[float, float]) -> bool:
        left, up = place
        inside = any(left - 9 < a < left + length + 9 and abs(b - up) < 14 for a, b in points)
        return up < y.pixels - 4 and not inside

    return next(filter(free, places), (places[0][0], min(places[0][1], y.pixels - 12)))


def _symbols(marks: list[dict[str, Any]], kind: str, x: Any, y: Any) -> Any:
    import altair as alt

    shape, size, fill, line = KINDS[kind]
    return (
        alt.Chart(rows(marks))
        .mark_point(shape=shape, size=size, fill=fill, stroke=line, strokeWidth=1.6, opacity=1)
        .encode(
            x=x,
            y=y,
            **spoken(),
        )
    )


def _names(
    named: list[dict[str, Any]],
    marks: list[dict[str, Any]],
    lines: list[tuple[float, float]],
    x_scale: Scale,
    y_scale: Scale,
    x: Any,
    y: Any,
) -> list[Any]:
    import altair as alt

    rank = {"best": 0, "original": 1, "no release": 2, "front": 3, "objected": 4, "scenario": 5}
    named = sorted(named, key=lambda m: rank[m["kind"]])
    texts = place(
        [(m["loss"], m["risk"], m["name"]) for m in named],
        [(m["loss"], m["risk"]) for m in marks],
        lines,
        x_scale,
        y_scale,
    )
    layers = []
    for bold in (True, False):
        some = [
            {"loss": t[0], "risk": t[1], "name": m["name"]}
            for m, t in zip(named, texts, strict=True)
            if t is not None and (m["kind"] == "best") is bold
        ]
        text = alt.Chart(rows(some)).encode(x=x, y=y, text=alt.Text("name:N"))
        look: dict[str, Any] = {
            "align": "left",
            "fontSize": 11,
            "fontWeight": 600 if bold else 400,
            "aria": False,
        }
        halo: dict[str, Any] = {"color": "white", "stroke": "white", "strokeWidth": 3}
        layers += [text.mark_text(**look, **halo), text.mark_text(**look, color=INK)]
    return layers


def _along(front: list[dict[str, Any]], x: Scale, y: Scale) -> list[tuple[float, float]]:
    """Points on the line of the front, a few pixels apart, so that names keep off it."""
    ends = [(x.pixel(m["loss"]), y.pixel(m["risk"])) for m in front]
    found = []
    for (a, b), (c, d) in pairwise(ends):
        steps = ceil(hypot(c - a, d - b) / 5)
        for i in range(1, steps):
            t = i / steps
            found.append((x.value(a + t * (c - a)), y.value(b + t * (d - b))))
    return found
