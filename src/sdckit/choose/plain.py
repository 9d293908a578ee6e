"""Results as plain values, for JSON. Tables of records stay out: only numbers about a file are shown."""

from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

import numpy as np

from sdckit.choose.assessment import Assessment
from sdckit.choose.describe import ColumnSummary
from sdckit.choose.quantity import Quantity
from sdckit.choose.risk_utility_map import Point, RiskUtilityMap
from sdckit.data.microdata import LogEntry, Microdata
from sdckit.data.result import Result
from sdckit.methods.registry import find
from sdckit.methods.spec import STEPS, Spec


def clean(value: Any) -> Any:
    """Plain JSON values; nan and infinity, which JSON does not have, become null.

    >>> clean({"a": float("nan"), "b": (1, 2.5)})
    {'a': None, 'b': [1, 2.5]}
    """
    if isinstance(value, Mapping):
        return {str(k): clean(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [clean(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def assessment(done: Assessment) -> dict[str, Any]:
    """An assessment without its data."""
    return {
        "scenario": done.scenario,
        "records": done.original.height,
        "seed": done.seed,
        "max_risk": done.max_risk,
        "prepared": prepared(done.original),
        "verdict": done.verdict.as_dict(),
        "risk": {
            name: {"before": _result(done.before[name]) if name in done.before else None, "after": _result(r)}
            for name, r in done.after.items()
        },
        "utility": {name: _result(r) for name, r in done.utility.items()},
        "warnings": done.warnings,
        "omitted": [{"measure": o.measure, "reason": o.reason} for o in done.omitted],
        "seconds": done.seconds,
    }


def _result(result: Result) -> dict[str, Any]:
    spec = find(result.measure)
    return {
        "value": result.value,
        "figures": result.figures,
        "unit": spec.unit,
        "better": spec.better.value,
        "options": result.options,
        "notes": result.notes,
    }


def points(found: RiskUtilityMap) -> dict[str, Any]:
    """The points of a map alone: no file is made again for a verdict or a warning."""
    front = set(found.front["scenario"])
    return {
        "max_risk": found.max_risk,
        "risk_is_share": _is_share(found.risk),
        "loss_is_share": _is_share(found.utility),
        "original": _point(found.original),
        "scenarios": [
            {**_point(p), "on_front": p.name in front, "objection": found.objection(p)} for p in found.results
        ],
    }


def risk_utility_map(found: RiskUtilityMap) -> dict[str, Any]:
    """A map without its data."""
    return {
        **points(found),
        "risk": found.risk,
        "utility": found.utility,
        "seed": found.seed,
        "best": found.best.name if found.best else None,
        "reason": found.reason,
        "verdict": None if found.verdict is None else found.verdict.as_dict(),
        "warnings": found.warnings,
    }


def _is_share(axis: Mapping[str, float]) -> bool:
    """Whether the numbers of an axis are shares: those of a single measure that is one."""
    return len(axis) == 1 and Quantity.named(next(iter(axis))).is_share


def _point(point: Point) -> dict[str, Any]:
    return {
        "name": point.name,
        "risk": point.risk,
        "loss": point.loss,
        "risk_values": point.risk_values,
        "loss_values": point.loss_values,
        "extra": point.extra,
        "left_out": point.left_out,
        "warnings": point.warnings,
        "seconds": point.seconds,
        "error": point.error,
        "steps": point.scenario.as_list(),
        "estimates": [asdict(e) for e in point.estimates],
    }


def column(found: ColumnSummary) -> dict[str, Any]:
    """A column of a file, with the role it could have."""
    return {**asdict(found), "role": found.role.value if found.role else None}


def log(data: Microdata) -> list[dict[str, Any]]:
    """What each step did."""
    return [_entry(entry) for entry in data.log]


def prepared(data: Microdata) -> list[dict[str, Any]]:
    """What was done to the file before it became the original."""
    return [_entry(entry) for entry in data.prepared]


def _entry(entry: LogEntry) -> dict[str, Any]:
    told = {"method": entry.method, "options": entry.options, "figures": entry.figures}
    return {**told, "note": entry.note} if entry.note else told


def spec(found: Spec) -> dict[str, Any]:
    """What the registry knows of a protection or measure."""
    measure = found.kind not in STEPS
    return {
        "name": found.name,
        "kind": found.kind.value,
        "title": found.title,
        "family": found.family,
        "summary": found.summary,
        "better": found.better.value if measure else None,
        "bounds": found.bounds if measure else None,
        "unit": found.unit,
        "needs": [role.value for role in found.needs],
        "compares": found.compares.value if measure else None,
        "engines": found.engines,
        "interpretation": found.interpretation,
        "reference": found.reference,
        "figures": {name: asdict(figure) for name, figure in found.figures.items()},
        "options": found.json_schema,
        "form": [asdict(field) for field in found.form()],
    }
