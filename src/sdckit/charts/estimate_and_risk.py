"""One estimate and its interval under several scenarios, against the risk that remains."""

from collections.abc import Sequence
from typing import Any

from sdckit._support.number_text import display, number, round_marks
from sdckit.charts.label_places import LETTER, LINE, Scale
from sdckit.charts.risk_utility_map import MANY, log_constant, risk_marks
from sdckit.charts.theme import INK, ORIGINAL, PROTECTED, QUIET, cut, number_labels, rows, themed

APART = 9.0  # pixels between two intervals, so that they can be told apart
Interval = tuple[float, float, float]  # estimate, low, high


def estimate_and_risk(
    scenarios: Sequence[str],
    risks: Sequence[float],
    points: Sequence[Interval],
    original: Interval,
    *,
    title: str,
    risk_title: str = "Disclosure risk",
    risk_is_share: bool = True,
    original_risk: float | None = None,
    best: str | None = None,
    advice: str = "recommended",
    skipped: Sequence[str] = (),
    width: int = 680,
    height: int = 320,
) -> Any:
    """One estimate under several scenarios against the risk that remains; (value, low, high) each.

    The grey band is the interval of the original, which stands as a triangle at its own risk: a scenario is
    good where its point lies in the band and far to the left. Intervals of scenarios with nearly the same
    risk are drawn a little apart; of more than 14 scenarios only the `best` is named, with the `advice`.
    Risks that differ by more than a factor of 20 have a logarithmic axis.
    """
    import altair as alt

    x_scale = _risk_scale([*risks, *([] if original_risk is None else [original_risk])], width)
    marks = _marks(scenarios, risks, points, best, advice, share=risk_is_share)
    if original_risk is not None:
        about = f"Original: risk {display(original_risk, share=risk_is_share)}, {_interval(original)}"
        marks.append(_mark("original", original_risk, original, "Original", about))
    _spread(marks, x_scale)
    named = [m for m in marks if len(scenarios) <= MANY or m["kind"] != "scenario"]
    lines = flags([(x_scale.pixel(m["at"]), LETTER * len(m["name"])) for m in named])
    top = LINE * (max(lines, default=-1) + 1)
    values = [v for one in (original, *points) for v in one]
    y_scale = _estimate_scale(values, height, top)
    log: dict[str, Any] = {"type": "symlog", "constant": x_scale.constant} if x_scale.constant else {}
    x = alt.X(
        "at:Q",
        title=f"{risk_title}{', log scale' if log else ''}   (← less is better)",
        scale=alt.Scale(domain=[x_scale.low, x_scale.top], nice=False, **log),
        axis=alt.Axis(labelExpr=number_labels(share=risk_is_share), values=risk_marks(x_scale)),
    )
    ticks = alt.Axis(
        values=round_marks(min(values), max(values), 5), labelExpr=number_labels(share=False), grid=False
    )
    upright = alt.Scale(domain=[y_scale.low, y_scale.top], nice=False)
    y, low, high, line = (
        alt.Y(f"{name}:Q", title=cut(title, 60), scale=upright, axis=ticks)
        for name in ("value", "low", "high", "line")
    )
    band = alt.Chart(rows([{"value": original[0], "low": original[1], "high": original[2]}]))
    layers = [
        band.mark_rect(color=ORIGINAL, opacity=0.18, aria=False).encode(y=low, y2=alt.Y2("high:Q")),
        band.mark_rule(color=ORIGINAL, strokeWidth=1.5, aria=False).encode(y=y),
        *(_symbols([m for m in marks if m["kind"] == kind], kind, x, y, low) for kind in KINDS),
        *_names(named, lines, y_scale, x, high, line),
    ]
    chart = alt.layer(*layers).properties(width=width, height=y_scale.pixels)
    if skipped:
        told = cut(f"Not drawn, it cannot be compared there: {', '.join(skipped)}", 110)
        chart = chart.properties(
            title=alt.TitleParams(
                told, orient="bottom", fontSize=11, fontWeight="normal", color=QUIET, offset=8
            )
        )
    return themed(chart)


# shape, size, fill, outline
KINDS = {
    "scenario": ("circle", 75, PROTECTED, "white"),
    "best": ("circle", 170, PROTECTED, INK),
    "original": ("triangle-up", 150, ORIGINAL, INK),
}


def _interval(values: Interval) -> str:
    value, low, high = values
    return f"{number(value)} ({number(low)} to {number(high)})"


def _mark(kind: str, risk: float, values: Interval, name: str, about: str) -> dict[str, Any]:
    value, low, high = values
    return {"kind": kind, "at": risk, "value": value, "low": low, "high": high, "name": name, "about": about}


def _marks(
    scenarios: Sequence[str],
    risks: Sequence[float],
    points: Sequence[Interval],
    best: str | None,
    advice: str,
    *,
    share: bool,
) -> list[dict[str, Any]]:
    marks = []
    for scenario, risk, values in zip(scenarios, risks, points, strict=True):
        about = f"{scenario}: risk {display(risk, share=share)}, {_interval(values)}"
        name = f"{cut(scenario)} – {advice}" if scenario == best else cut(scenario)
        marks.append(_mark("best" if scenario == best else "scenario", risk, values, name, about))
    return marks


def _risk_scale(risks: Sequence[float], width: int) -> Scale:
    far = max([*risks, 1e-9])
    constant = log_constant(list(risks))
    return Scale(-(0.3 * constant or 0.03 * far), far * (1.6 if constant else 1.1), width, constant)


def _estimate_scale(values: Sequence[float], height: int, names: float) -> Scale:
    """The axis of estimates, with so many pixels above them for the names."""
    low, high = min(values), max(values)
    room = 0.06 * ((high - low) or abs(high) or 1.0)
    a_pixel = (high - low + 2 * room) / height
    return Scale(low - room, high + room + names * a_pixel, round(height + names))


def flags(poles: Sequence[tuple[float, float]]) -> list[int]:
    """The line of each name, counted from below, so that no name crosses another or its pole.

    Names fly to the right of their poles, given as (pixel, length): one that reaches over another pole has to
    fly above that name.

    >>> flags([(0, 30), (10, 30), (100, 30)])
    [1, 0, 0]
    """
    lines = [0] * len(poles)
    for i in sorted(range(len(poles)), key=lambda i: (-poles[i][0], -i)):
        start, length = poles[i]
        over = [
            j for j, (at, _) in enumerate(poles) if start <= at < start + length + 8 and (at, j) > (start, i)
        ]
        lines[i] = 1 + max((lines[j] for j in over), default=-1)
    return lines


def _spread(marks: list[dict[str, Any]], x: Scale) -> None:
    """Move intervals as little as it takes to stand a few pixels apart (pool adjacent violators)."""
    order = sorted(marks, key=lambda m: m["at"])
    blocks: list[tuple[float, int]] = []  # mean of (pixel − place · APART), members
    for i, mark in enumerate(order):
        mean, size = x.pixel(mark["at"]) - i * APART, 1
        while blocks and blocks[-1][0] > mean:
            old, members = blocks.pop()
            mean, size = (mean * size + old * members) / (size + members), size + members
        blocks.append((mean, size))
    places = [mean for mean, size in blocks for _ in range(size)]
    for i, (mark, at) in enumerate(zip(order, places, strict=True)):
        mark["at"] = x.value(at + i * APART)


def _symbols(marks: list[dict[str, Any]], kind: str, x: Any, y: Any, low: Any) -> Any:
    import altair as alt

    shape, size, fill, line = KINDS[kind]
    base = alt.Chart(rows(marks)).encode(x=x)
    bars = base.mark_rule(color=fill, strokeWidth=2, aria=False).encode(y=low, y2=alt.Y2("high:Q"))
    look: dict[str, Any] = {
        "tooltip": alt.Tooltip("about:N", title=" "),
        "description": alt.Description("about:N"),
    }
    symbols = base.mark_point(shape=shape, size=size, fill=fill, stroke=line, strokeWidth=1.4, opacity=1)
    return alt.layer(bars, symbols.encode(y=y, **look))


def _names(
    named: list[dict[str, Any]], lines: Sequence[int], y_scale: Scale, x: Any, foot: Any, top: Any
) -> list[Any]:
    """Names above all intervals, each on a thin pole from its own."""
    import altair as alt

    most = max(lines, default=0)
    drawn = [
        {**m, "line": y_scale.value(y_scale.pixels - LINE * (most - line + 0.5))}
        for m, line in zip(named, lines, strict=True)
    ]
    poles = alt.Chart(rows(drawn)).mark_rule(color=ORIGINAL, strokeWidth=0.7, aria=False)
    layers = [poles.encode(x=x, y=foot, y2=alt.Y2("line:Q"))]
    for bold in (True, False):
        some = [d for d in drawn if (d["kind"] == "best") is bold]
        text = alt.Chart(rows(some)).mark_text(
            align="left", dx=4, fontSize=11, fontWeight=600 if bold else 400, color=INK, aria=False
        )
        layers.append(text.encode(x=x, y=top, text=alt.Text("name:N")))
    return layers
