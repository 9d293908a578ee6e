"""Which measures apply to two files, and why others do not."""

from collections.abc import Mapping, Sequence
from typing import Any

from sdckit._support.messages import join_names
from sdckit.choose.quantity import Quantity
from sdckit.choose.scenario import Scenario
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import linkage_problem
from sdckit.methods.options import column_names, names_columns
from sdckit.methods.spec import Compares, Kind, Spec


def unlinked_reason(original: Microdata, sets: Sequence[Microdata], linked: bool | None) -> str:
    """Why records cannot be compared one by one; empty where they can."""
    if linked is False:
        return "the records are not the same people"
    return next((reason for data in sets if (reason := linkage_problem(original, data))), "")


def unlinked_by_a_step(data: Microdata, scenario: Scenario, specs: Sequence[Spec]) -> str:
    """Why these measures cannot say anything of a scenario, before any work is done; empty where they can."""
    step = next((step.method for step in scenario.steps if step.breaks_links(data)), "")
    linked = [spec.name for spec in specs if spec.compares in (Compares.RECORDS, Compares.PERSONS)]
    if not step or not linked:
        return ""
    return (
        f"After {step} nothing tells on {data.engine} which record was whose, and {linked[0]} compares each "
        f"with its own. Compare without {step}, and add it to the scenario that makes the file."
    )


def unjudged_anywhere(data: Microdata, risks: Mapping[str, float]) -> dict[str, float]:
    """The risks of the original that have a number of every scenario or of none.

    An engine that cannot count who has which record of a file as it was can do so after no step.
    """
    persons = {n for n in risks if Quantity.named(n).spec.compares is Compares.PERSONS}
    return {n: value for n, value in risks.items() if n in persons and data.engine != "polars"}


def not_applicable(
    spec: Spec,
    files: Sequence[Microdata],
    unlinked: str,
    options: Mapping[str, Any],
    *,
    asked: bool,
    same_people: bool,
) -> str:
    """Why a measure is left out; empty where it applies.

    asked: somebody named it, or the files are synthetic. same_people: each record is made from one person.
    """
    original, *protected = files
    given = options.get(spec.name, {})
    missing = spec.lacks(original, given)
    if missing:
        return f"no column has the role {join_names(r.value for r in missing)}"
    gone = {role for data in protected for role in spec.lacks(data, given)}
    if gone and spec.compares is Compares.ONE_FILE:
        return f"the protected file has no column left with the role {join_names(sorted(gone))}"
    dropped = _dropped(spec, given, original, protected)
    if dropped and spec.compares is Compares.ONE_FILE:
        return f"needs {join_names(dropped)}, and the protected file has no such column"
    if original.engine not in spec.engines:
        return f"needs the records in memory, and they are on {original.engine}"
    required = [n for n, f in spec.options.model_fields.items() if f.is_required()]
    absent = [n for n in required if n not in given]
    if absent:
        example = f"assess: {{{spec.name}: {{{absent[0]}: …}}}}"
        return f"needs to be told {join_names(absent)}, in a plan: {example}"
    if spec.compares is Compares.RECORDS and unlinked:
        return f"compares {spec.compares}, and {unlinked}"
    if spec.compares is Compares.PERSONS and not same_people and "linked" not in spec.options.model_fields:
        return f"compares {spec.compares}, and {unlinked or 'there are several synthetic files'}"
    if spec.kind is Kind.RISK and "synthetic" in spec.file_names and not asked:
        return "is about synthetic files: say so (linked: false), or ask for it by name"
    return ""


def _dropped(
    spec: Spec, given: Mapping[str, Any], original: Microdata, protected: Sequence[Microdata]
) -> list[str]:
    """The columns named in the options that the original has and a protected file does not."""
    asked = (v for name, v in given.items() if name in spec.hints and names_columns(spec.hints[name]))
    named = {c for value in asked for c in column_names(value)} & set(original.columns)
    return sorted(c for c in named if any(c not in data.columns for data in protected))
