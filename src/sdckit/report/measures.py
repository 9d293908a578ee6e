"""Measures as rows of a report: any registered measure shows up with title, unit, direction and reading."""

from collections.abc import Collection, Mapping
from math import isfinite, isinf, isnan
from typing import Any

from sdckit._support.number_text import display, number, percent
from sdckit.choose.assessment import Assessment
from sdckit.data.result import Result
from sdckit.methods.form import FormField
from sdckit.methods.registry import find
from sdckit.methods.spec import Better, Kind, Spec
from sdckit.report.file_risks import FileRisks

SMALLEST = 1e-4  # below, a number is written as <0.0001
WORDS = {Better.LOW: "lower is better", Better.HIGH: "higher is better", Better.NEITHER: "neither is better"}


def measures(x: Assessment) -> dict[str, list[dict[str, Any]]]:
    """Every measure with a number as a row: risks with before and after, utilities with their value."""
    empty = {name for name, _ in _without_number(x)}
    about = FileRisks.of(x)
    risk = [_row(find(n), r, x.before.get(n), about, x) for n, r in x.after.items() if n not in empty]
    utility = [_row(find(n), r, None, about, x) for n, r in x.utility.items() if n not in empty]
    return {"risk": risk, "utility": utility}


def _without_number(x: Assessment) -> list[tuple[str, str]]:
    """Measures that came to no number in any file, and what they say of it."""
    results = {**x.after, **x.utility}
    return [
        (name, " ".join(result.notes) or "no number came out")
        for name, result in results.items()
        if isnan(result.value) and (name not in x.before or isnan(x.before[name].value))
    ]


def _row(spec: Spec, after: Result, before: Result | None, about: FileRisks, x: Assessment) -> dict[str, Any]:
    sound = about.sound(spec, after, x.protected[0].height)
    value = after.value if sound is None else sound.value
    row: dict[str, Any] = {
        "name": spec.name,
        "section": about.section(spec),
        "title": spec.title,
        "options": (told := _options(after)),
        "options_text": option_words(spec, told),
        "reading": spec.interpretation,
        "unit": spec.unit,
        "better": WORDS[spec.better],
        "share": spec.share,
        "after": display(value, share=spec.share),
        "before": display(before.value, share=spec.share) if before else "",
        "change": "",
        "improved": None,
        "figures": _figures(spec, before, after),
        "notes": [*about.notes(spec, sound), *after.notes],
        "same": nothing_lost(spec, after),
        "bar": None,
        "numbers": {"before": _exact(before), "after": _exact(after)},
    }
    if before and isfinite(before.value) and isfinite(value) and not about.artificial(spec):
        row["bar"] = [before.value, value]
        row |= _change(spec, before.value, value)
        if _near_zero(spec, before.value, value):
            row |= {"bar": None, "change": "both near 0", "improved": None}
    return row


def nothing_lost(spec: Spec, result: Result) -> bool:
    """Whether a comparison of both files found them the same, so that there is nothing to explain."""
    return spec.kind is Kind.UTILITY and at_best(spec, result)


def at_best(spec: Spec, result: Result) -> bool:
    """Whether a measure is at its good end, so that there is nothing to draw."""
    return abs(result.value - spec.bounds[spec.better is Better.HIGH]) < 1e-9


def _change(spec: Spec, before: float, after: float) -> dict[str, Any]:
    if before == after:
        return {"change": "no change"}
    better = after > before if spec.better is Better.HIGH else after < before
    if abs(before) < SMALLEST:  # a change in percent would be in millions
        return {"change": "from near 0" if before else "from 0", "improved": better}
    size = f"{'−' if after < before else '+'}{percent(abs(after / before - 1))}"
    return {"change": size, "improved": better}


def _near_zero(spec: Spec, before: float, after: float) -> bool:
    """Whether two numbers are both too small to be written, so that a change in percent says nothing."""
    return 0 < max(abs(before), abs(after)) < (1e-5 if spec.share else 1e-4)


def _exact(result: Result | None) -> dict[str, Any] | None:
    """The number itself, to six figures."""
    if result is None or not isfinite(result.value):
        return None
    return {"value": float(f"{result.value:.6g}"), "at_most": False}


def _options(result: Result) -> dict[str, Any]:
    """The options that are numbers or words."""
    return {n: v for n, v in result.options.items() if isinstance(v, int | float | str) and v != ""}


def option_words(spec: Spec, options: Mapping[str, Any]) -> str:
    """The options in one line: the basic ones, and those that are not as they are by default.

    >>> option_words(find("k_anonymity"), {"k": 5, "missing": "wildcard", "missing_weight": 1.0})
    'k: 5 records'
    """
    fields = [f for f in spec.form() if f.name in options]
    shown = [f for f in fields if f.basic or options[f.name] != f.default]
    return "; ".join(f"{f.label}: {_option(f, options[f.name])}" for f in shown)


def _option(field: FormField, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if str(value) in field.choices:
        return field.choices[str(value)] or str(value)
    text = number(value) if isinstance(value, int | float) else str(value)
    return f"{text} {field.unit}".rstrip()


def _figures(spec: Spec, before: Result | None, after: Result) -> list[dict[str, Any]]:
    rows = []
    for name, value in after.figures.items():
        figure = spec.figure(name)
        old = before.figures.get(name) if before else None
        rows.append(
            {
                "name": name,
                "label": figure.label,
                "numbers": [_plain(old), _plain(value)],
                "before": "" if old is None else _number(old, share=figure.share),
                "after": _number(value, share=figure.share),
            }
        )
    return rows


def _number(value: Any, *, share: bool) -> str:
    return display(float(value), share=share) if isinstance(value, int | float) else "–"


def _plain(value: Any) -> float | None:
    """A figure to six figures; None where it is no finite number."""
    return float(f"{value:.6g}") if isinstance(value, int | float) and isfinite(value) else None


def left_out(x: Assessment) -> list[dict[str, str]]:
    """What was not measured, and why."""
    found = [*((o.measure, o.reason) for o in x.omitted), *_without_number(x)]
    named = [(find(name), reason) for name, reason in found]
    return [
        {"title": spec.title, "name": spec.name, "kind": spec.kind.value, "reason": reason}
        for spec, reason in named
    ]


def glossary(names: list[str], shown: Collection[str]) -> list[dict[str, Any]]:
    """What each number means; `shown` are the measures whose reading stands beside their number."""
    return [{**_entry(find(name)), "shown": name in shown} for name in names]


def _entry(spec: Spec) -> dict[str, Any]:
    low, high = spec.bounds
    limits = f"{number(low)} to {number(high)}" if not isinf(high) else f"{number(low)} and above"
    return {
        "title": spec.title,
        "name": spec.name,
        "kind": spec.kind.value,
        "about": spec.summary,
        "reading": spec.interpretation,
        "unit": spec.unit,
        "limits": limits,
        "bounds": [None if isinf(low) else low, None if isinf(high) else high],
        "direction": WORDS[spec.better],
        "better": spec.better.value,
        "reference": spec.reference,
    }
