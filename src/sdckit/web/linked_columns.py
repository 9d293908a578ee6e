"""Columns that follow a key: said once beside the roles, and carried out by the steps that suppress."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from sdckit._support.messages import join_names, require_known
from sdckit.choose.scenario import Step
from sdckit.data.roles import Role
from sdckit.errors import OptionError
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind
from sdckit.web.document import CardStep, Document, follower_option, links_of

Links = Mapping[str, Collection[str]]


def with_linked(document: Document, given: Links, columns: Collection[str]) -> Document:
    """Other columns that follow keys, in the document and in every step that can carry it out.

    >>> document = Document(roles={"region": ("keys",)}).with_step("A", Step("suppress", k=3))
    >>> with_linked(document, {"region": ["town"]}, ["region", "town"]).scenario("A")
    Scenario 'A': suppress(k=3, linked={'region': ['town']})
    """
    keys = _keys(document)
    require_known(given, keys, "Only a key can be followed.")
    followers = list(dict.fromkeys(c for names in given.values() for c in names))
    require_known(followers, columns, "The file has no such column.")
    if both := [c for c in followers if c in keys]:
        raise OptionError(
            "A key is suppressed on its own, and follows no other.",
            given=join_names(both),
            allowed="columns that are not keys",
        )
    linked = {key: tuple(dict.fromkeys(names)) for key, names in given.items() if names}
    return _with_steps(replace(document, linked=linked), lambda had: linked)


def with_links_of(document: Document, step: Step) -> Document:
    """The document that knows what a new step says of columns that follow a key."""
    found = links_of([step])
    return replace(document, linked={**document.linked, **found}) if found else document


def with_links_left(document: Document, columns: Collection[str]) -> Document:
    """The document without links of what is no key any more, became one, or is no longer in the file."""
    keys = _keys(document)

    def left(links: Links) -> Links:
        return {k: tuple(c for c in names if c in columns) for k, names in links.items() if k in columns}

    linked = _fitting(left(document.linked), keys)
    if linked == dict(document.linked):
        return document
    return _with_steps(replace(document, linked=linked), left)


def _with_steps(document: Document, links: Callable[[Links], Links]) -> Document:
    """Every step that suppresses with other links, as far as they are about its own keys."""
    keys = _keys(document)

    def changed(card: CardStep) -> CardStep:
        option = follower_option(card.step)
        if not option:
            return card
        fields = find(card.step.method, Kind.PROTECTION).form()
        own = next((f.name for f in fields if f.role == Role.KEYS), "")
        treated = card.step.options.get(own) or keys
        options: dict[str, Any] = {n: v for n, v in card.step.options.items() if n != option}
        fitting = _fitting(links(card.step.options.get(option) or {}), treated)
        if fitting:
            options[option] = {key: list(names) for key, names in fitting.items()}
        return replace(card, step=Step(card.step.method, **options).with_note(card.step.note))

    scenarios = {n: tuple(changed(card) for card in cards) for n, cards in document.scenarios.items()}
    return replace(document, scenarios=scenarios)


def _fitting(linked: Links, keys: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The links of these keys, without keys among those that follow."""
    found = {key: tuple(c for c in names if c not in keys) for key, names in linked.items() if key in keys}
    return {key: names for key, names in found.items() if names}


def _keys(document: Document) -> list[str]:
    return [c for c, roles in document.roles.items() if Role.KEYS in roles]
