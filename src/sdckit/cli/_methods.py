"""The registry in words: a catalogue, and one function with its options."""

import inspect
from collections.abc import Mapping, Sequence
from math import isinf
from typing import Any

from rich.markup import escape

from sdckit.cli._show import out, table
from sdckit.registry import WHERE, Kind, RoleColumns, Spec
from sdckit.result import show

BOUNDS = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
    "minItems": "at least {} of them",
}


def catalogue(found: Sequence[Spec]) -> None:
    """One table a kind."""
    console = out()
    for kind in (Kind.PROTECTION, Kind.RISK, Kind.UTILITY):
        mine = [spec for spec in found if spec.kind is kind]
        if not mine:
            continue
        measured = kind is not Kind.PROTECTION
        heads = ["name", "title", "what it does", *(["good", "range"] if measured else []), "needs"]
        title = {"protection": "Protections", "risk": "Risk measures", "utility": "Utility measures"}[kind]
        console.print(table(title, heads, [_row(spec, measured) for spec in mine]))
    console.print("More on one, with its options: sdckit methods NAME")


def _row(spec: Spec, measured: bool) -> list[str]:
    facts = [spec.better.value, _range(spec)] if measured else []
    return [spec.name, spec.title, spec.summary, *facts, ", ".join(r.value for r in spec.needs)]


def _range(spec: Spec) -> str:
    low, high = ("" if isinf(b) else show(b) for b in spec.bounds)
    return f"{low or '−∞'} to {high or '∞'}"


def explain(spec: Spec) -> None:
    """The docstring, the options and the reference of one function."""
    console = out()
    console.print(escape(f"{spec.name}: {spec.title} ({spec.kind.value})"), style="bold")
    console.print(escape("\n" + inspect.cleandoc(spec.function.__doc__ or "")))
    rows = [
        [name, kind(part, spec.json_schema), _default(name, spec)]
        for name, part in spec.json_schema.get("properties", {}).items()
    ]
    console.print(table("\nOptions" if rows else "\nNo options", ["option", "type", "default"], rows))
    facts = {
        "Good": spec.better.value if spec.kind is not Kind.PROTECTION else "",
        "Range": _range(spec) if spec.kind is not Kind.PROTECTION else "",
        "Unit": spec.unit,
        "Reading": spec.reading,
        "Looks at": spec.compares.value if spec.kind is not Kind.PROTECTION else "",
        "where": WHERE if "where" in spec.parameters else "",
        "Flags": f"records for the option where of protections: {spec.flags}" if spec.flags else "",
        "Needs": ", ".join(role.value for role in spec.needs),
        "Engines": ", ".join(spec.engines),
        "Reference": spec.reference,
    }
    for name, text in facts.items():
        if text:
            console.print(f"[bold]{name}:[/bold] {escape(text)}")


def kind(part: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """The type of an option in words, from its JSON schema.

    >>> kind({"type": "integer", "minimum": 2}, {})
    'integer ≥ 2'
    """
    if "$ref" in part:
        return kind(schema["$defs"][part["$ref"].rsplit("/", 1)[1]], schema)
    if part.get("format") in ("columns", "column", "measure", "file"):
        return str(part["format"])
    if "anyOf" in part:
        return " or ".join(dict.fromkeys(kind(p, schema) for p in part["anyOf"] if p.get("type") != "null"))
    if "enum" in part or "const" in part:
        return " | ".join(map(str, part.get("enum", [part.get("const")])))
    name = str(part.get("type", "any"))
    if name == "array" and part.get("items"):
        name = f"list of {kind(part['items'], schema)}"
    if name == "object" and isinstance(part.get("additionalProperties"), Mapping):
        name = f"name → {kind(part['additionalProperties'], schema)}"
    return " ".join([name, *(text.format(part[key]) for key, text in BOUNDS.items() if key in part)])


def _default(name: str, spec: Spec) -> str:
    field = spec.options.model_fields[name]
    if field.is_required():
        return "required"
    if isinstance(field.default, RoleColumns):
        return repr(field.default)
    return "none" if field.default in (None, ()) else str(field.default)
