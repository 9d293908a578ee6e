"""The changes of a document, by name: each gives what was done, in words, and the new document."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sdckit.choose.preparation import preparations_of
from sdckit.choose.scenario import Scenario, Step
from sdckit.errors import OptionError, preview
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind
from sdckit.web.document import Document, with_written_seed
from sdckit.web.linked_columns import with_linked, with_links_left, with_links_of
from sdckit.web.reset import without_variable

SHORT = 40  # characters of an option in the history
Change = Callable[[Document, set[str], Mapping[str, Any]], tuple[str, Document]]


def _roles(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    for column in asked["roles"]:
        if column not in columns:
            raise OptionError("The file has no such column.", given=preview(column))
    document = with_links_left(with_roles(document, asked["roles"]), columns)
    given = list(asked["roles"].items())
    names = ", ".join(
        f"{c} {' and '.join(document.roles.get(c, ())) or 'without a role'}" for c, _ in given[:3]
    )
    return f"roles: {names}{f' and {len(given) - 3} more' if len(given) > 3 else ''}", document


def _linked(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    document = with_linked(document, asked["linked"], columns)
    words = [f"{', '.join(names)} follow {key}" for key, names in document.linked.items()]
    return f"linked: {_short('; '.join(words))}" if words else "no linked variables", document


def with_roles(document: Document, given: Mapping[str, Any]) -> Document:
    """Other roles for some columns: {column: role, roles or nothing}."""
    for column, roles in given.items():
        document = document.with_role(column, tuple([roles] if isinstance(roles, str) else roles or ()))
    return document


def said(step: Step) -> str:
    """A step in words for the history, without what was drawn in secret.

    >>> said(Step("suppress", k=3, seed=5))
    'Local suppression (k 3)'
    """
    spec = find(step.method, step.kind)
    secret = {f.name for f in spec.form() if f.secret}
    words = [f"{n} {_short(v)}" for n, v in step.options.items() if n not in secret]
    return f"{spec.title} ({', '.join(words)})" if words else spec.title


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"


def _step_of_plan(step: Mapping[str, Any]) -> Step:
    """A step as a map writes it, with what it would draw in secret written down."""
    return with_written_seed(Scenario("new", [step]).steps[0])


def step_of(asked: Mapping[str, Any]) -> Step:
    """The step that is asked for, checked, with what it would draw in secret written down."""
    spec = find(str(asked["method"]), Kind.PROTECTION)
    return with_written_seed(Step(spec.name, **asked.get("options", {})))


def _add_step(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    step = step_of(asked)
    document = with_links_of(document.with_step(asked["scenario"], step, asked.get("at")), step)
    return f"{asked['scenario']}: {said(step)}", document


def _change_step(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    step = step_of(asked)
    document = with_links_of(document.with_options(asked["scenario"], asked["at"], step), step)
    return f"{asked['scenario']}: step {asked['at'] + 1} is {said(step)}", document


def _move_step(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    document = document.with_step_moved(asked["scenario"], asked["at"], asked["to"])
    return f"{asked['scenario']}: step {asked['at'] + 1} moved", document


def _switch_step(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    document = document.with_step_switched(asked["scenario"], asked["at"], bool(asked["on"]))
    return f"{asked['scenario']}: step {asked['at'] + 1} {'on' if asked['on'] else 'off'}", document


def _remove_step(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    document = document.without_step(asked["scenario"], asked["at"])
    return f"{asked['scenario']}: step {asked['at'] + 1} taken out", document


def _note_step(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    document = document.with_note(asked["scenario"], asked["at"], asked["note"])
    done = f"note: {_short(asked['note'])}" if asked["note"] else "without a note"
    return f"{asked['scenario']}: step {asked['at'] + 1} {done}", document


def _reset_variable(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    return f"{asked['scenario']}: {asked['column']} reset", without_variable(
        document, asked["scenario"], asked["column"]
    )


def _reset_scenario(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    document.steps_of(asked["scenario"])
    return f"{asked['scenario']}: all steps taken out", document.with_cards(asked["scenario"], [])


def _add_scenario(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    document = document.with_scenario(asked["name"], asked.get("like"))
    for step in asked.get("steps", ()):
        document = document.with_step(asked["name"], _step_of_plan(step))
    return f"scenario {asked['name']}", document


def _rename_scenario(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    document = document.with_scenario_renamed(asked["name"], asked["new"])
    return f"scenario {asked['name']} is called {asked['new']}", document


def _drop_scenario(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    return f"scenario {asked['name']} taken out", document.without_scenario(asked["name"])


def _intruders(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    return "intruders", document.with_intruders(asked["intruders"])


def _criteria(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    before, document = document, document.with_criteria(asked.get("max_risk"), asked.get("accept") or {})
    done, ceiling = [], document.max_risk
    if ceiling != before.max_risk:
        done.append("no accepted risk" if ceiling is None else f"accepted risk {100 * ceiling:.4g} %")
    for entry in dict.fromkeys((*document.accept, *before.accept)):
        now, was = document.accept.get(entry), before.accept.get(entry)
        if now != was:
            done.append(
                f"accepted: {_accepted(entry, now)}" if now else f"no longer accepted: {_words(entry)}"
            )
    return "; ".join(done) or "what is accepted", document


def _accepted(entry: str, value: Any) -> str:
    """An entry of what is accepted, with its columns or its number.

    >>> _accepted("missing_keys", True), _accepted("columns", ["a", "b"])
    ('missing keys', 'columns a, b')
    """
    return _words(entry) if value is True else f"{_words(entry)} {_short(value)}"


def _words(entry: str) -> str:
    return entry.replace("_", " ")


def _measure_options(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    spec = find(str(asked["measure"]))
    given = asked["options"]
    if spec.kind is Kind.PROTECTION or not isinstance(given, Mapping):
        raise OptionError("These are no options of a measure.", given=preview(given))
    if given:
        spec.validate(given)
    others = {name: value for name, value in document.assess.items() if name != spec.name}
    said_so = "with other options" if given else "with its usual options"
    return f"{spec.title} {said_so}", replace(
        document, assess={**others, spec.name: dict(given)} if given else others
    )


def _seed(document: Document, columns: set[str], asked: Mapping[str, Any]) -> tuple[str, Document]:
    return f"seed {asked['seed']}", document.with_seed(asked["seed"])


def read_otherwise(document: Document, asked: Mapping[str, Any]) -> tuple[Document, str]:
    """The document with its file read or prepared another way, and what was done in words."""
    if "prepare" in asked:
        before = preparations_of(document.source.get("prepare"))
        document = document.with_preparation(asked["prepare"])
        steps = preparations_of(document.source.get("prepare"))
        new = [step for step in steps if step not in before]
        return document, f"prepared: {said(new[-1])}" if new else f"preparation of {len(steps)} steps"
    options = asked.get("options")
    given = {"encoding": asked.get("encoding") or None} if options is None else options
    document = document.with_reading(given)
    shown = {**given, **({"codebook": Path(str(given["codebook"])).name} if given.get("codebook") else {})}
    told = [f"{name} {_short(value)}" for name, value in shown.items() if value is not None]
    return document, f"read again, {', '.join(told)}" if told else "read again"


CHANGES: dict[str, Change] = {
    "roles": _roles,
    "linked": _linked,
    "add_step": _add_step,
    "change_step": _change_step,
    "move_step": _move_step,
    "switch_step": _switch_step,
    "remove_step": _remove_step,
    "note_step": _note_step,
    "reset_variable": _reset_variable,
    "reset_scenario": _reset_scenario,
    "add_scenario": _add_scenario,
    "rename_scenario": _rename_scenario,
    "drop_scenario": _drop_scenario,
    "intruders": _intruders,
    "criteria": _criteria,
    "measure_options": _measure_options,
    "seed": _seed,
}
