"""The registry in words: a catalogue, and one function with its options."""

import inspect
import re
from collections.abc import Sequence
from math import isinf

from rich.markup import escape

from sdckit._support.messages import join_names
from sdckit.cli._example import example
from sdckit.cli._show import out, table
from sdckit.data.result import show
from sdckit.methods.form import FormField
from sdckit.methods.spec import STEPS, Kind, Spec
from sdckit.methods.where import WHERE

TITLES = {
    Kind.PREPARATION: "Preparations",
    Kind.PROTECTION: "Protections",
    Kind.RISK: "Risk measures",
    Kind.UTILITY: "Utility measures",
}
LIMITS = {"least": "≥ {}", "above": "> {}", "most": "≤ {}", "below": "< {}"}
KINDS = {"integer": "whole number", "flag": "yes or no", "columns": "columns", "mapping": "name: value, …"}
EXAMPLES = re.compile(r"(?:^[^\n>]+:\n\n)?^>>> .*\Z", re.MULTILINE | re.DOTALL)  # they come last
FORMULA = re.compile(r"^\.\. math::.*\n(?:(?: +.*)?\n)*", re.MULTILINE)


def catalogue(found: Sequence[Spec]) -> None:
    """One table a kind."""
    console = out()
    for kind in Kind:
        mine = sorted((spec for spec in found if spec.kind is kind), key=lambda spec: spec.name)
        if not mine:
            continue
        measured = kind not in STEPS
        heads = ["name", "title", "what it does", *(["good", "range"] if measured else []), "needs"]
        title = TITLES[kind]
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
    measured = spec.kind not in STEPS
    console.print(f"[bold]{where}:[/bold]", escape(example(spec)), soft_wrap=True)
    rows = [[field.name, about(field), values(field), default(field)] for field in spec.form()]
    heads = ["option", "what it is", "values", "default"]
    console.print(table("\nOptions" if rows else "\nNo options", heads, rows))
    facts = {
        "Good": spec.better.value if measured else "",
        "Range": _range(spec) if measured else "",
        "Unit": spec.unit,
        "How to read it": spec.interpretation,
        "Looks at": spec.compares.value if measured else "",
        "where": WHERE if "where" in spec.parameters and spec.kind is Kind.PROTECTION else "",
        "Flags": f"records for the option where of protections: {spec.flags}" if spec.flags else "",
        "Needs": ", ".join(role.value for role in spec.needs),
        "Engines": ", ".join(spec.engines),
        "Reference": spec.reference,
    }
    for name, text in facts.items():
        if text:
            console.print(f"[bold]{name}:[/bold] {escape(text)}")
    figures = [[name, figure.label, figure.unit] for name, figure in spec.figures.items()]
    if figures:
        console.print(table("\nFurther figures", ["figure", "what it is", "unit"], figures))


def in_words(spec: Spec) -> str:
    """The docstring without its examples in Python, with a pointer where a formula stands.

    >>> from sdckit.methods.registry import find
    >>> ">>>" in in_words(find("suppress")), "math::" in in_words(find("il1s"))
    (False, False)
    """
    text = EXAMPLES.sub("", inspect.cleandoc(spec.function.__doc__ or "") + "\n")
    page = f"reference/{spec.kind.value}/{spec.name}"
    return FORMULA.sub(f"    [the formula is on the page {page} of the documentation]\n\n", text).strip()


def about(field: FormField) -> str:
    """What an option is, and with which others it goes."""
    rules = [f"Not together with {join_names(field.excludes)}."] if field.excludes else []
    needed = " ".join([field.requires, " or ".join(map(str, field.requires_values))]).strip()
    rules += [f"Only with {needed}."] if field.requires else []
    label = field.label if field.label.endswith(".") else f"{field.label}."
    return " ".join([label, *([field.help] if field.help else []), *rules])


def values(field: FormField) -> str:
    """What an option may be: its kind and limits, or its choices with their meaning.

    >>> values(FormField("k", "k", "", "integer", False, limits={"least": 2}, unit="records"))
    'whole number ≥ 2, records'
    """
    if field.choices:
        return "\n".join(f"{name}: {words}" if words else name for name, words in field.choices.items())
    limits = [LIMITS[name].format(show(limit)) for name, limit in field.limits.items()]
    words = " ".join([KINDS.get(field.kind, field.kind), *limits])
    return f"{words}, {field.unit}" if field.unit else words


def default(field: FormField) -> str:
    """What an option is when it is not given, in words."""
    if field.required:
        return "required"
    if field.role:
        return f"the columns with the role {field.role}"
    if field.default in (None, [], (), {}):
        return field.absent or "none"
    if isinstance(field.default, bool):
        return "yes" if field.default else "no"
    several = isinstance(field.default, list | tuple)
    return ", ".join(map(str, field.default)) if several else str(field.default)
