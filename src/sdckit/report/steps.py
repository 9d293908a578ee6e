"""What was done: the steps with their options and results, and the plan."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from sdckit._support.number_text import number
from sdckit.choose.scenario import Scenario, Step
from sdckit.data.effects import Effects
from sdckit.data.history import LogEntry
from sdckit.data.intruder import intruders_of
from sdckit.data.microdata import Microdata
from sdckit.methods.processes import named_in
from sdckit.methods.registry import find, is_registered, specs
from sdckit.methods.spec import Kind, Spec
from sdckit.report.disclosure import in_words, visible

NOT_COVERED = (
    "The measures and pictures of this report look at the original file. They are not covered by the promise "
    "of differential privacy: who publishes them gives away more than the promise says."
)
LONG = 4  # columns that the table of scenarios names


def steps(original: Microdata, protected: Microdata) -> list[dict[str, Any]]:
    """One row a protection step: its title, options and what it did."""
    return [
        {
            **_method(entry),
            "note": entry.note,
            "options": _pairs(_meaningful(entry), entry.method),
            "did": _pairs(_new(entry), entry.method),
            "warnings": [*entry.warnings(protected.columns), *_not_covered(entry)],
        }
        for entry in protected.steps_since(original)
    ]


def preparations(original: Microdata) -> list[dict[str, Any]]:
    """One row for each preparation of the original: its title, options, what it did and a note."""
    return [
        {
            **_method(entry, Kind.PREPARATION),
            "options": _pairs(entry.options, entry.method, Kind.PREPARATION),
            "did": _pairs(
                {n: v for n, v in _new(entry).items() if n != "note"}, entry.method, Kind.PREPARATION
            ),
            "note": entry.figures.get("note", ""),
        }
        for entry in original.prepared
    ]


def public_preparations(original: Microdata) -> list[dict[str, Any]]:
    """The preparations for the public: which kinds, in their order; rules and values may tell of records."""
    return [
        {**_method(entry, Kind.PREPARATION), "options": [], "did": [], "note": ""}
        for entry in original.prepared
    ]


def public_steps(original: Microdata, protected: Microdata) -> list[dict[str, Any]]:
    """The steps for the public: which kinds, on which columns of the released file; no setting or note."""
    columns = [c for c in visible(original, protected) if c in protected.columns]
    return [
        {
            **_method(entry),
            "note": "",
            "options": _touched(entry.effects, columns),
            "did": [{"label": "Promise", "text": loss.guarantee} for loss in entry.effects.privacy],
            "warnings": _not_covered(entry),
        }
        for entry in protected.steps_since(original)
    ]


def _not_covered(entry: LogEntry) -> list[str]:
    """What a promise of differential privacy does not cover in a report."""
    return [NOT_COVERED] if entry.effects.privacy else []


def _spec(method: str, kind: Kind = Kind.PROTECTION) -> Spec | None:
    """What the registry knows of a step of this kind; a file may have been made where more is known."""
    if kind is Kind.PREPARATION:
        return next((spec for spec in specs(kind) if spec.name == method), None)
    return find(method) if method and is_registered(method) else None


def _method(entry: LogEntry, kind: Kind = Kind.PROTECTION) -> dict[str, str]:
    known = _spec(entry.method, kind)
    title = known.title if known is not None else in_words(entry.method) or "Changed"
    return {"method": entry.method, "title": title, "reference": known.reference if known else ""}


def _touched(effects: Effects, columns: Sequence[str]) -> list[dict[str, str]]:
    """The columns that a step changed, by what it did to them."""
    done = {
        "Coarser": tuple(effects.recodes),
        "Some values suppressed": effects.suppresses,
        "Values moved between records": effects.moves_values,
        "Changed at random": effects.randomises,
        "Drawn anew": effects.synthesises,
    }
    found = {label: [c for c in names if c in columns] for label, names in done.items()}
    return [{"label": label, "text": ", ".join(names)} for label, names in found.items() if names]


def _meaningful(entry: LogEntry) -> dict[str, Any]:
    """The options of a step without those that mean nothing beside another one's value."""
    known = _spec(entry.method)
    asked = {} if known is None else {f.name: f for f in known.form() if f.requires_values}
    return {
        name: value
        for name, value in entry.options.items()
        if name not in asked or entry.options.get(asked[name].requires) in asked[name].requires_values
    }


def _new(entry: LogEntry) -> dict[str, Any]:
    """What a step says it did, without what its options say already."""
    return {n: v for n, v in entry.figures.items() if n not in entry.options or entry.options[n] != v}


def describe_scenario(scenario: Scenario) -> str:
    """The steps of a scenario in one line: of each the columns and single settings; the plan has the rest."""
    words = []
    for method, same in groupby(scenario.steps, key=lambda step: step.method):
        steps = list(same)
        told = "; ".join(text for step in steps if (text := _told(step, alone=len(steps) == 1)))
        words.append(f"{_title(method)} ({told})" if told else _title(method))
    return ", then ".join(words) or "no protection"


def _told(step: Step, *, alone: bool) -> str:
    """The columns that a step is given, and, where it stands alone, its settings that are numbers."""
    named, numbers = [], []
    for field in find(step.method).form():
        value = step.options.get(field.name)
        if field.kind in ("column", "columns") and field.name not in ("by", "keys") and value:
            columns = [value] if isinstance(value, str) else list(value)
            named.append(", ".join(columns) if len(columns) <= LONG else f"{len(columns)} columns")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers.append(f"{field.label.lower()} {number(value)}")
    return ", ".join([*named, *(numbers if alone else [])])


def kinds_of_steps(scenario: Scenario) -> str:
    """The steps of a scenario by their titles alone."""
    titles = list(dict.fromkeys(_title(step.method) for step in scenario.steps))
    return ", ".join(titles) or "no protection"


def _title(method: str) -> str:
    return find(method).title if is_registered(method) else method


def _pairs(
    content: Mapping[str, Any], method: str = "", kind: Kind = Kind.PROTECTION
) -> list[dict[str, str]]:
    known = _spec(method, kind) if method else None
    labels = {}
    if known is not None:
        labels = {name: figure.label for name, figure in known.figures.items()}
        labels |= {f.name: f.label for f in known.form()}
    return [
        {"label": labels.get(name, in_words(name)), "text": text}
        for name, value in content.items()
        if value is not None and value not in ([], {}, ()) and (text := _text(value))
    ]


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


FILE = "put the path of the original file here"  # a report does not know where the data came from
TABLE = "put the path of the file here"  # of a register or a holdout: its records are not for a report


def scenario_file(
    original: Microdata,
    scenarios: Mapping[str, Sequence[Any]],
    seed: int | None,
    assess: Mapping[str, Any] | None = None,
) -> str:
    """The plan as YAML: roles, steps, what was measured, and the seed.

    Direct identifiers are named in it: without their role they would be released when it is done again.
    """
    data: dict[str, Any] = {"file": FILE, **original.roles.as_dict()}
    if original.prepared:
        files = {
            spec.name: [f.name for f in spec.form() if f.kind == "file"] for spec in specs(Kind.PREPARATION)
        }
        data["prepare"] = [
            {
                e.method: {
                    n: TABLE if n in files.get(e.method, ()) else v
                    for n, v in e.options.items()
                    if v not in (None, [])
                }
            }
            for e in original.prepared
        ]
    if original.roles.direct or original.dropped:
        data["direct"] = [*original.roles.direct, *original.dropped]
    content: dict[str, Any] = {"data": data, "scenarios": scenarios}
    if assess:
        intruders, measured = _named_intruders(assess)
        content |= {"intruders": intruders} if intruders else {}
        content["assess"] = measured
    if seed is not None:
        content["seed"] = seed
    simple = json.loads(json.dumps(content, default=_written))
    text = yaml.safe_dump(simple, sort_keys=False, allow_unicode=True, width=100, default_flow_style=None)
    return named_in(text) + text


def _named_intruders(assess: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Intruders by name as a plan has them, and the section `assess`.

    The section of intruders is for all measures that have any; where only some were given intruders, or not
    the same, they stay with their measures.
    """
    measured = {
        name: {**own, "intruders": {one.name: one.as_dict() for one in intruders_of(own["intruders"])}}
        if isinstance(own, Mapping) and own.get("intruders") is not None
        else own
        for name, own in assess.items()
    }
    with_any = [spec.name for spec in specs(Kind.RISK) if "intruders" in spec.options.model_fields]
    given = [measured[name].get("intruders") if name in measured else None for name in with_any]
    if not given[0] or any(one != given[0] for one in given):
        return {}, measured
    for name in with_any:
        rest = {option: value for option, value in measured.pop(name).items() if option != "intruders"}
        measured |= {name: rest} if rest else {}
    return given[0], measured


def _written(value: Any) -> Any:
    """What JSON does not have as a plan has it; of tables no value, of other things their type."""
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
    """The steps in a file's log as a plan has them."""
    return [
        {
            e.method: {n: v for n, v in e.options.items() if v is not None},
            **({"note": e.note} if e.note else {}),
        }
        for e in protected.steps_since(original)
    ]
