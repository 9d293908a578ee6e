"""Measures as rows of a report: any registered measure shows up with title, unit, direction and reading."""

from collections.abc import Collection
from math import isclose, isfinite, isinf, isnan
from typing import Any

import polars as pl

from sdckit._support.number_text import display, number, percent
from sdckit.choose.assessment import Assessment
from sdckit.data.result import Result
from sdckit.methods.registry import find
from sdckit.methods.spec import Better, Kind, Spec
from sdckit.report.disclosure import CLOSE, FEW, drawable, is_share, measured, visible
from sdckit.report.sections import section_of
from sdckit.report.words import figure_in_percent, figure_words, option_words

PER = ("variable", "table")  # what a measure may be taken apart by; never a record
MOST_PARTS = 10
SMALLEST = 1e-4  # below, a number is written as <0.0001


def measures(x: Assessment, *, public: bool) -> dict[str, list[dict[str, Any]]]:
    """Every measure with a number as a row: risks with before and after, utilities with their value."""
    empty = {name for name, _ in _without_number(x)}
    risk = [_row(x, find(n), r, x.before.get(n), public=public) for n, r in x.after.items() if n not in empty]
    utility = [_row(x, find(n), r, None, public=public) for n, r in x.utility.items() if n not in empty]
    return {"risk": risk, "utility": utility}


def _without_number(x: Assessment) -> list[tuple[str, str]]:
    """Measures that came to no number in any file, and what they say of it."""
    results = {**x.after, **x.utility}
    return [
        (name, " ".join(result.notes) or "no number came out")
        for name, result in results.items()
        if isnan(result.value) and (name not in x.before or isnan(x.before[name].value))
    ]


def _row(x: Assessment, spec: Spec, after: Result, before: Result | None, *, public: bool) -> dict[str, Any]:
    sizes = x.original.height, x.protected[0].height
    row: dict[str, Any] = {
        "name": spec.name,
        "section": section_of(spec),
        "title": spec.title,
        "options": (told := _options(after, public=public)),
        "options_text": option_words(spec, told),
        "reading": spec.interpretation,
        "unit": spec.unit,
        "better": "lower is better" if spec.better is Better.LOW else "higher is better",
        "share": is_share(spec),
        "after": measured(spec, after.value, sizes[1], public=public),
        "before": measured(spec, before.value, sizes[0], public=public) if before else "",
        "change": "",
        "improved": None,
        # public: only the headline number, because nobody has checked what figures and notes give away
        "figures": [] if public else _figures(spec, before, after),
        "notes": [] if public else list(after.notes),
        "same": nothing_lost(spec, after),
        "bar": None,
        "numbers": {
            "before": _exact(spec, before, sizes[0], public=public),
            "after": _exact(spec, after, sizes[1], public=public),
        },
    }
    if before and _finite(before, after):
        pairs = list(zip((before, after), sizes, strict=True))
        row["bar"] = [drawable(spec, r.value, n, public=public) for r, n in pairs]
        if row["bar"] == [before.value, after.value]:
            row |= _change(spec, before.value, after.value)
            if _near_zero(spec, before.value, after.value):
                row |= {"bar": None, "change": "both near 0", "improved": None}
    return row


def nothing_lost(spec: Spec, result: Result) -> bool:
    """Whether a comparison of both files found them the same, so that there is nothing to explain."""
    return spec.kind is Kind.UTILITY and at_best(spec, result)


def at_best(spec: Spec, result: Result) -> bool:
    """Whether a measure is at its good end, so that there is nothing to draw."""
    return abs(result.value - spec.bounds[spec.better is Better.HIGH]) < 1e-9


def _finite(*results: Result) -> bool:
    return all(isfinite(r.value) for r in results)


def _change(spec: Spec, before: float, after: float) -> dict[str, Any]:
    if before == after:
        return {"change": "no change"}
    better = after < before if spec.better is Better.LOW else after > before
    if abs(before) < SMALLEST:  # a change in percent would be in millions
        return {"change": "from near 0" if before else "from 0", "improved": better}
    size = f"{'−' if after < before else '+'}{percent(abs(after / before - 1))}"
    return {"change": size, "improved": better}


def _near_zero(spec: Spec, before: float, after: float) -> bool:
    """Whether two numbers are both too small to be written, so that a change in percent says nothing."""
    return 0 < max(abs(before), abs(after)) < (1e-5 if is_share(spec) else 1e-4)


def _exact(spec: Spec, result: Result | None, records: int, *, public: bool) -> dict[str, Any] | None:
    """The number itself, to six figures; `at_most` where it is only an upper limit."""
    if result is None or not isfinite(result.value):
        return None
    shown = drawable(spec, result.value, records, public=public)
    return {"value": float(f"{shown:.6g}"), "at_most": shown > result.value}


def _options(result: Result, *, public: bool) -> dict[str, Any]:
    """The options that are numbers or words. For the public no words: a formula may quote the data."""
    kinds = (int, float) if public else (int, float, str)
    return {n: v for n, v in result.options.items() if isinstance(v, kinds) and v != ""}


def _figures(spec: Spec, before: Result | None, after: Result) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "label": figure_words(spec, name),
            "numbers": [_plain(before.figures.get(name) if before else None), _plain(value)],
            "before": _number(before.figures[name], share=figure_in_percent(spec, name))
            if before and name in before.figures
            else "",
            "after": _number(value, share=figure_in_percent(spec, name)),
        }
        for name, value in after.figures.items()
    ]


def _number(value: Any, *, share: bool) -> str:
    return display(float(value), share=share) if isinstance(value, int | float) else "–"


def _plain(value: Any) -> float | None:
    """A figure to six figures; None where it is no finite number."""
    return float(f"{value:.6g}") if isinstance(value, int | float) and isfinite(value) else None


def by_part(x: Assessment, *, public: bool) -> list[dict[str, Any]]:
    """Measures without a chart of their own, by variable or table: the largest parts, for bars.

    For the public without shares that fewer than 5 records may make up.
    """
    hidden = {*x.original.columns} - {*visible(x.original, *x.protected)}
    charts = []
    for name, result in x.utility.items():
        column = _part_column(result, name)
        if column is None or result.parts is None or find(name).chart is not None:
            continue
        by = result.parts.columns[0]
        rows = [
            (str(label), float(value))
            for label, value in result.parts.select(by, column).iter_rows()
            if value is not None and isfinite(value) and str(label) not in hidden
        ]
        spec = find(name)
        least = (
            FEW / x.protected[0].height if public and (column == "percent" or spec.bounds == (0, 1)) else 0.0
        )
        rows = [row for row in rows if not 0 < row[1] / (100 if column == "percent" else 1) < least]
        every = len(rows)
        largest = max((abs(value) for _, value in rows), default=0.0)
        rows = [row for row in rows if abs(row[1]) > 1e-9 * largest]
        if not rows:
            continue
        rows.sort(key=lambda row: row[1], reverse=spec.better is Better.LOW)
        share = column == "percent"
        charts.append(
            {
                "name": name,
                "section": section_of(spec),
                "title": f"{spec.title}, by {by}",
                "labels": [x.original.labels.name(label) for label, _ in rows[:MOST_PARTS]],
                "values": [value / 100 if share else value for _, value in rows[:MOST_PARTS]],
                "share": share or is_share(spec),
                "axis": "share of records" if share else spec.unit,
                "shown": min(len(rows), MOST_PARTS),
                "changed": len(rows),
                "zero": every - len(rows),
                "by": by,
            }
        )
    return charts


def _part_column(result: Result, name: str) -> str | None:
    """The column that makes up the headline number: named like the measure, or with it as mean or sum."""
    parts = result.parts
    if parts is None or not parts.columns or parts.columns[0] not in PER:
        return None
    floats = [c for c, kind in parts.schema.items() if kind.is_float()]
    named = next((c for c in (name, "value") if c in floats), None)
    return named or next((c for c in floats if _makes_up(parts[c], result.value)), None)


def _makes_up(column: pl.Series, value: float) -> bool:
    known = column.drop_nulls().drop_nans()
    if not known.len() or not isfinite(value) or value == 0:
        return False
    mean = float(known.sum()) / known.len()
    return any(isclose(v, value, rel_tol=1e-6) for v in (mean, mean / 100, mean * known.len()))


def left_out(x: Assessment, *, public: bool) -> list[dict[str, str]]:
    """What was not measured, and why. Reasons found in the data may quote values: not for the public."""
    rows = []
    for name, reason in [*((o.measure, o.reason) for o in x.omitted), *_without_number(x)]:
        spec = find(name)
        if public and reason != CLOSE and not spec.lacks(x.original, {}):
            reason = "does not apply to this file or this protection"
        rows.append({"title": spec.title, "name": spec.name, "kind": spec.kind.value, "reason": reason})
    return rows


def glossary(names: list[str], shown: Collection[str]) -> list[dict[str, Any]]:
    """What each number means; `shown` are the measures whose reading stands beside their number."""
    return [{**_entry(find(name)), "shown": name in shown} for name in names]


def _entry(spec: Spec) -> dict[str, Any]:
    low, high = spec.bounds
    limits = f"{number(low)} to {number(high)}" if not isinf(high) else f"{number(low)} and above"
    direction = "lower is better" if spec.better is Better.LOW else "higher is better"
    return {
        "title": spec.title,
        "name": spec.name,
        "kind": spec.kind.value,
        "about": spec.summary,
        "reading": spec.interpretation,
        "unit": spec.unit,
        "limits": limits,
        "bounds": [low, None if isinf(high) else high],
        "direction": direction,
        "better": spec.better.value,
        "reference": spec.reference,
    }
