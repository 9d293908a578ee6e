"""A line of a plan that uses a protection or measure."""

import ast
import doctest
import inspect
from collections.abc import Mapping
from typing import Any

import yaml

from sdckit.methods.spec import Kind, Spec

# Stand-ins for what only the user knows, by the type of the option.
STAND_INS = {"column": "COLUMN", "columns": ["COLUMN"], "file": "FILE.csv", "measure": "MEASURE"}
NOT_IN_PLANS = ("rng", "progress")


def example(spec: Spec) -> str:
    """How the function stands in a plan, with the options of its first documented call or its first default.

    >>> from sdckit.methods.registry import find
    >>> example(find("suppress"))
    '- suppress: {k: 2}'
    """
    options = _required(spec) | (_documented(spec) or _first_default(spec))
    if spec.kind is Kind.PROTECTION:
        return f"- {spec.name}: {_flow(options)}" if options else f"- {spec.name}"
    if spec.kind is Kind.PREPARATION:
        return f"data: {_flow({'prepare': [{spec.name: options}] if options else [spec.name]})}"
    named: dict[str, Any] = {spec.kind.value: spec.name}
    return f"assess: {_flow(named | ({spec.name: options} if options else {}))}"


def _documented(spec: Spec) -> dict[str, Any]:
    """The options that are written out in the first such call of the docstring, whose examples are tested."""
    made: dict[str, Any] = {}  # by name, what earlier lines of the example write out
    for tried in doctest.DocTestParser().get_examples(inspect.getdoc(spec.function) or ""):
        for node in ast.walk(ast.parse(tried.source)):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                made[node.targets[0].id] = _literal(node.value, made)
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(f".{spec.name}"):
                left_out = NOT_IN_PLANS if spec.kind is Kind.PREPARATION else (*NOT_IN_PLANS, "where")
                found = {k.arg: _literal(k.value, made) for k in node.keywords if k.arg not in left_out}
                options = {name: value for name, value in found.items() if name and value is not None}
                if options:
                    return options
    return {}


def _literal(value: ast.expr, made: Mapping[str, Any]) -> Any:
    if isinstance(value, ast.Name):
        return made.get(value.id)
    try:
        return ast.literal_eval(value)
    except ValueError:  # something that a plan cannot hold
        return None


def _required(spec: Spec) -> dict[str, Any]:
    schema = spec.json_schema.get("properties", {})
    needed = [name for name, field in spec.options.model_fields.items() if field.is_required()]
    return {name: STAND_INS.get(_format(schema[name]), "…") for name in needed}


def _format(part: Mapping[str, Any]) -> str:
    """The format of an option, or of the first of its alternatives that has one."""
    parts = [part, *part.get("anyOf", [])]
    return next((str(p["format"]) for p in parts if "format" in p), "")


def _first_default(spec: Spec) -> dict[str, Any]:
    """The first option with a number for its default."""
    for name, field in spec.options.model_fields.items():
        number = isinstance(field.default, int | float) and not isinstance(field.default, bool)
        if number and name != "missing_weight":
            return {name: field.default}
    return {}


def _flow(options: Mapping[str, Any]) -> str:
    text = yaml.safe_dump(
        dict(options), default_flow_style=True, sort_keys=False, allow_unicode=True, width=10_000
    )
    return text.strip()
