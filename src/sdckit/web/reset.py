"""One variable as it was: taken out of the steps that name it."""

from dataclasses import replace
from typing import Any

from sdckit._support.messages import join_names
from sdckit.choose.scenario import Step
from sdckit.errors import OptionError, preview
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind
from sdckit.web.document import CardStep, Document


def without_variable(document: Document, scenario: str, column: Any) -> Document:
    """The scenario without what its steps say of a variable.

    A step that is about this variable alone goes; one that lists it among others keeps the others. Steps that
    treat it because of its role do not name it, and stay.

    >>> document = Document().with_step("A", Step("recode", variable="age", width=5))
    >>> document = document.with_step("A", Step("round_values", variables=["age", "income"], base=10))
    >>> without_variable(document, "A", "age").scenario("A")
    Scenario 'A': round_values(variables=['income'], base=10)
    """
    cards = document.steps_of(scenario)
    kept = [card for card in (_without(card, column) for card in cards) if card is not None]
    if kept == list(cards):
        treated = join_names(sorted({find(card.step.method).title for card in cards}))
        raise OptionError(
            "No step names this variable.",
            given=preview(column),
            hint=f"{treated} may treat it because of its role: change these steps." if cards else "",
        )
    return document.with_cards(scenario, kept)


def _without(card: CardStep, column: Any) -> CardStep | None:
    options = dict(card.step.options)
    fields = [f for f in find(card.step.method, Kind.PROTECTION).form() if f.kind in ("column", "columns")]
    for field in fields:
        named = options.get(field.name)
        if column not in ([named] if isinstance(named, str) else named or ()):
            continue
        left = [name for name in named if name != column] if isinstance(named, list | tuple) else []
        if not left and (field is fields[0] or field.required):
            return None  # the step is about this variable
        options[field.name] = left
        if not left:
            del options[field.name]
    if options == dict(card.step.options):
        return card
    return replace(card, step=Step(card.step.method, **options).with_note(card.step.note))
