"""The options of a method as fields of a form: for the command line, the reference pages and the web page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Any

from sdckit.methods.options import OneOf, Option, Requires, annotation

LIMITS = {"minimum": "least", "exclusiveMinimum": "above", "maximum": "most", "exclusiveMaximum": "below"}


@dataclass(frozen=True, slots=True)
class FormField:
    """One option as a form shows it.

    kind: number, integer, flag, choice, text, column, columns, measure, file, mapping or list. role: the
    columns of this role are the default. limits: least, most, above, below. choices: value and meaning.
    excludes: options that cannot be given together with it. requires: the option it needs, and in
    requires_values the values of that option with which it means something; none: any that is not the
    default. secret: a seed that is drawn in secret where none is given. shape: what a mapping or list is of.
    """

    name: str
    label: str
    help: str
    kind: str
    required: bool
    default: Any = None
    role: str = ""
    limits: Mapping[str, float] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    unit: str = ""
    basic: bool = False
    absent: str = ""
    optional: bool = False
    excludes: tuple[str, ...] = ()
    requires: str = ""
    secret: bool = False
    shape: str = ""
    requires_values: tuple[Any, ...] = ()


def form_of(
    schema: Mapping[str, Any],
    hints: Mapping[str, Any],
    parameters: Mapping[str, Parameter],
    rules: Sequence[OneOf | Requires],
) -> list[FormField]:
    """The fields of a form from the JSON schema of the options and what their annotations say."""
    required = set(schema.get("required", ()))
    needed = {rule.name: rule for rule in reversed(rules) if isinstance(rule, Requires)}
    fields = []
    for name, whole in schema.get("properties", {}).items():
        option = annotation(hints[name]) or Option(name.replace("_", " ").capitalize())
        part = _first(whole, schema)
        texts = {str(v): option.choices.get(str(v), "") for v in part.get("enum", ())} or option.choices
        default = parameters[name].default
        fields.append(
            FormField(
                name,
                option.label,
                option.help,
                _kind(part),
                name in required,
                None if default is Parameter.empty else whole.get("default"),
                whole.get("default_role", ""),
                {word: part[key] for key, word in LIMITS.items() if key in part},
                texts,
                option.unit,
                option.basic or name in required,
                option.absent,
                any(other.get("type") == "null" for other in whole.get("anyOf", ())),
                tuple(
                    n for r in rules if isinstance(r, OneOf) and name in r.names for n in r.names if n != name
                ),
                needed[name].other if name in needed else "",
                option.secret,
                option.shape or "",
                needed[name].values if name in needed else (),
            )
        )
    return fields


def _first(part: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first alternative of an option that is something, with references looked up."""
    for one in part.get("anyOf", [part]):
        found = {**schema["$defs"][one["$ref"].rsplit("/", 1)[-1]], **one} if "$ref" in one else dict(one)
        if found.get("type") != "null":
            return found
    return part


def _kind(part: Mapping[str, Any]) -> str:
    if part.get("format") in ("column", "columns", "measure", "file"):
        return str(part["format"])
    if "enum" in part or "const" in part:
        return "choice"
    names = {"boolean": "flag", "string": "text", "object": "mapping", "array": "list"}
    kind = str(part.get("type", "text"))
    return names.get(kind, kind)
