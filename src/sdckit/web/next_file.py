"""Decisions and another file: which roles its columns have, and how it differs from the file before."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sdckit._support.messages import join_names
from sdckit.web.document import SINGLE, Document
from sdckit.web.linked_columns import with_links_left

Facts = Mapping[str, Any]
SHOWN = 6  # columns, or codes, in a note


def with_columns_of(document: Document, facts: Facts) -> Document:
    """The document with the roles of the columns that are there; the others' wait for a file that has them.

    A role of one column that another has by now does not come back.

    >>> def file(*names): return {"columns": [{"name": name} for name in names]}
    >>> document = Document(roles={"sex": ("keys",), "job": ("keys",)})
    >>> without = with_columns_of(document, file("sex"))
    >>> dict(without.roles), dict(with_columns_of(without, file("job", "sex")).roles)
    ({'sex': ('keys',)}, {'sex': ('keys',), 'job': ('keys',)})
    """
    there = set(_names(facts))
    roles = {c: had for c, had in document.roles.items() if c in there}
    for column, had in document.waiting.items():
        taken = {role for others in roles.values() for role in others if role in SINGLE}
        if column in there and column not in roles and not taken & set(had):
            roles[column] = had
    waiting = {c: had for c, had in {**document.waiting, **document.roles}.items() if c not in there}
    return with_links_left(replace(document, roles=roles, waiting=waiting), there)


def notes_on(document: Document, facts: Facts, before: Facts | None = None) -> list[str]:
    """What to look at in a file that is opened under the decisions of another; before: what that one held."""
    notes = []
    there = set(_names(facts))
    if lost := [c for c in document.roles if c not in there]:
        notes.append(
            f"The file lacks columns that have a role: {join_names(lost)}. Steps that name one "
            "cannot be done: “Reset a variable” on the screen Protect takes it out of them."
        )
    if not before:
        return notes
    if new := [c for c in _names(facts) if c not in _names(before) and c not in document.roles]:
        notes.append(f"The file before did not have: {join_names(new, SHOWN)}. They have no role yet.")
    had = {c["name"]: c["value_labels"] for c in before["columns"]}
    other = [
        f"{c['name']} {code} (“{had[c['name']][code]}”, now “{text}”)"
        for c in facts["columns"]
        for code, text in c["value_labels"].items()
        if had.get(c["name"], {}).get(code, text) != text
    ]
    if other:
        notes.append(
            f"Codes have another label than in the file before: {join_names(other, SHOWN)}. "
            "Look at the steps that name these codes."
        )
    held = {c["name"]: {*c["codes"]} for c in before["columns"] if c["codes"]}
    codes = [
        f"{c['name']} {code}"
        for c in facts["columns"]
        for code in c["codes"]
        if c["name"] in held and code not in held[c["name"]]
    ]
    if codes:
        notes.append(
            f"Codes that hardly any record of the file before had: {join_names(codes, SHOWN)}. "
            "Look at the steps that merge codes of these columns."
        )
    return notes


def _names(facts: Facts) -> Sequence[str]:
    return [column["name"] for column in facts["columns"]]
