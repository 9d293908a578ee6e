"""What was done: the steps with their options and results, and the scenario file."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from sdckit._support.number_text import number
from sdckit.choose.scenario import Scenario
from sdckit.data.microdata import LogEntry, Microdata
from sdckit.methods.processes import named_in
from sdckit.methods.registry import find, is_registered
from sdckit.report.disclosure import EXTREME, counted, in_words, visible

WEAK = "values_told"  # how many blanked values can be found: not for those who may look for them
LONG = 3  # values of an option that the table of scenarios only counts; the scenario file has them


def steps(original: Microdata, protected: Microdata, *, public: bool) -> list[dict[str, Any]]:
    """One row a protection step: its title, options and what it did."""
    columns = visible(original, protected)
    return [
        {
            "method": entry.method,
            "title": find(entry.method).title
            if is_registered(entry.method)
            else in_words(entry.method) or "Changed",
            "reference": find(entry.method).reference if is_registered(entry.method) else "",
            "options": _pairs(entry.options, columns, public=public, records=False),
            "did": _pairs(_new(entry), columns, public=public, records=True),
            "warnings": [] if public else entry.warnings(protected.columns),
        }
        for entry in protected.steps_since(original)
    ]


def _new(entry: LogEntry) -> dict[str, Any]:
    """What a step says it did, without what its options say already."""
    return {n: v for n, v in entry.figures.items() if n not in entry.options or entry.options[n] != v}


def describe_scenario(scenario: Scenario, columns: Sequence[str], *, public: bool) -> str:
    """The steps of a scenario in one line: of long lists of values only how many, for the public of all."""
    words = []
    for step in scenario.steps:
        options = {name: _shortened(value, columns) for name, value in step.options.items()}
        pairs = _pairs(step.options if public else options, columns, public=public, records=False)
        told = ", ".join(f"{p['label'].lower()} {p['text']}" for p in pairs)
        title = find(step.method).title if is_registered(step.method) else step.method
        words.append(f"{title} ({told})" if told else title)
    return ", then ".join(words) or "no protection"


def _shortened(value: Any, columns: Sequence[str]) -> Any:
    values = list(value) if isinstance(value, list | tuple) else []
    return value if len(values) < LONG or all(v in columns for v in values) else f"{len(values)} values"


def _pairs(
    content: Mapping[str, Any], columns: Sequence[str], *, public: bool, records: bool
) -> list[dict[str, str]]:
    pairs = []
    for name, value in content.items():
        if value is None or value == [] or value == {}:
            continue
        text = _public(name, value, columns, records=records) if public else _text(value)
        if text:
            pairs.append({"label": in_words(name), "text": text})
    return pairs


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    if isinstance(value, Mapping):
        return ", ".join(
            f"{k} ({_text(v)})" if isinstance(v, Mapping) else f"{k}: {_text(v)}" for k, v in value.items()
        )
    return str(value)


def _public(name: str, value: Any, columns: Sequence[str], *, records: bool) -> str:
    """Names of columns and single numbers; a list of values or a text may quote the data."""
    if EXTREME.search(name) or (records and name == WEAK):
        return ""
    if isinstance(value, bool):
        return _text(value)
    if isinstance(value, int):
        return counted(value, public=records)
    if isinstance(value, float):
        return "" if records else number(value)
    if isinstance(value, str):
        return value if value in columns else ""
    if isinstance(value, list | tuple) and all(v in columns for v in value if isinstance(v, str)):
        return _text(value) if all(isinstance(v, str) for v in value) else f"{len(value)} values"
    return ""


FILE = "put the path of the original file here"  # a report does not know where the data came from
TABLE = "put the path of the file here"  # of a register or a holdout: its records are not for a report


def scenario_file(
    original: Microdata,
    scenarios: Mapping[str, Sequence[Any]],
    seed: int | None,
    assess: Mapping[str, Any] | None = None,
) -> str:
    """The scenario file as YAML: roles, steps, what was measured, and the seed.

    Direct identifiers are named in it: without their role they would be released when it is done again.
    """
    data: dict[str, Any] = {"file": FILE, **original.roles.as_dict()}
    if original.roles.direct or original.dropped:
        data["direct"] = [*original.roles.direct, *original.dropped]
    content: dict[str, Any] = {"data": data, "scenarios": scenarios}
    if assess:
        content["assess"] = assess
    if seed is not None:
        content["seed"] = seed
    simple = json.loads(json.dumps(content, default=_written))
    text = yaml.safe_dump(simple, sort_keys=False, allow_unicode=True, width=100, default_flow_style=None)
    return named_in(text) + text


def _written(value: Any) -> Any:
    """What JSON does not have as a scenario file has it; of tables no value, of other things their type."""
    if isinstance(value, Path | date):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Microdata) or hasattr(value, "shape") or hasattr(value, "columns"):
        return TABLE
    return type(value).__name__


def logged(original: Microdata, protected: Microdata) -> list[dict[str, Any]]:
    """The steps in a file's log as a scenario file has them."""
    return [
        {e.method: {n: v for n, v in e.options.items() if v is not None}}
        for e in protected.steps_since(original)
    ]
