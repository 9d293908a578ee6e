"""The registry in words: a catalogue, and one function with its options."""

import inspect
import re
from collections.abc import Mapping, Sequence
from math import isinf
from typing import Any

from rich.markup import escape

from sdckit.cli._example import example
from sdckit.cli._show import out, table
from sdckit.data.result import show
from sdckit.methods.options import RoleColumns
from sdckit.methods.spec import Kind, Spec
from sdckit.methods.where import WHERE

BOUNDS = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
    "minItems": "at least {} of them",
}
ROLES = "keys, numeric and sensitive columns"
# What an option means that is not given, by its name alone or with that of the function before it.
NOT_GIVEN = {
    "by": "the whole file",
    "code": "strata are not collapsed",
    "distance": "by the kind of the columns",
    "fpc": "no correction",
    "matrix": "from stay",
    "max_size": "any size",
    "ordinal": "no column more",
    "subsets": "all keys together",
    "variables": ROLES,
    "where": "all records",
    "contingency_tables.tables": "all pairs of keys",
    "entropy.variables": "keys and categorical sensitive columns",
    "entropy_loss.variables": "keys and categorical sensitive columns",
    "group.rest": "other values stay",
    "indicators.by": "no domains",
    "indicators.margins": "by, or the strata",
    "indicators.variables": "the numeric columns",
    "k_map.count": "a row is a person",
    "population_uniques.population_size": "the sum of the weights",
    "pram.invariant": "true unless there is a matrix",
    "recode.labels": "made from the limits",
    "regression.reference": "the first category",
    "shuffle.predictors": "no predictors",
    "suppress.importance": "all keys alike",
    "swap_records.k": "risk does not matter",
}
EXAMPLES = re.compile(r"(?:^[^\n>]+:\n\n)?^>>> .*\Z", re.MULTILINE | re.DOTALL)  # they come last
FORMULA = re.compile(r"^\.\. math::.*\n(?:(?: +.*)?\n)*", re.MULTILINE)


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
    """The docstring, a line for a plan, the options and the reference of one function."""
    console = out()
    console.print(escape(f"{spec.name}: {spec.title} ({spec.kind.value})"), style="bold")
    console.print(escape("\n" + in_words(spec) + "\n"))
    where = "In a plan, as a step of a scenario" if spec.kind is Kind.PROTECTION else "In a plan"
    console.print(f"[bold]{where}:[/bold]", escape(example(spec)), soft_wrap=True)
    rows = [
        [name, kind(part, spec.json_schema), default(name, spec)]
        for name, part in spec.json_schema.get("properties", {}).items()
    ]
    console.print(table("\nOptions" if rows else "\nNo options", ["option", "type", "default"], rows))
    facts = {
        "Good": spec.better.value if spec.kind is not Kind.PROTECTION else "",
        "Range": _range(spec) if spec.kind is not Kind.PROTECTION else "",
        "Unit": spec.unit,
        "Reading": spec.interpretation,
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


def in_words(spec: Spec) -> str:
    """The docstring without its examples in Python, with a pointer where a formula stands.

    >>> from sdckit.methods.registry import find
    >>> ">>>" in in_words(find("suppress")), "math::" in in_words(find("il1s"))
    (False, False)
    """
    text = EXAMPLES.sub("", inspect.cleandoc(spec.function.__doc__ or "") + "\n")
    page = f"reference/{spec.kind.value}/{spec.name}"
    return FORMULA.sub(f"    [the formula is on the page {page} of the documentation]\n\n", text).strip()


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


def default(name: str, spec: Spec) -> str:
    """What an option is when it is not given, in words."""
    field = spec.options.model_fields[name]
    if field.is_required():
        return "required"
    if isinstance(field.default, RoleColumns):
        return repr(field.default)
    if field.default in (None, ()):
        return NOT_GIVEN.get(f"{spec.name}.{name}", NOT_GIVEN.get(name, "none"))
    several = isinstance(field.default, list | tuple)
    return ", ".join(map(str, field.default)) if several else str(field.default)
