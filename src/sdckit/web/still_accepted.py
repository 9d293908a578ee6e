"""What stays accepted when the open file is read or prepared another way."""

from collections.abc import Mapping
from typing import Any

COLUMNS = ("columns", "numbers", "prepared")  # what is accepted of columns


def still_accepted(
    accept: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, Any]:
    """What is accepted of the columns that are still there, and of changes that are the same as before.

    Whoever accepted that preparation changed a column has looked at these changes, not at others; a column
    that comes later under the name of one that was found harmless was not looked at. before, after: what the
    page knows of the file, with its columns and what each preparation did.

    >>> done = {"method": "declare_missing", "figures": {"values_changed": {"a": 3}}}
    >>> facts = {"columns": [{"name": "a"}], "prepared": [done]}
    >>> still_accepted({"prepared": ["a"], "columns": ["b"], "order": True}, facts, facts)
    {'prepared': ['a'], 'order': True}
    >>> still_accepted({"prepared": ["a"]}, facts, {**facts, "prepared": []})
    {}
    """
    both = _names(before) & _names(after)
    kept: dict[str, Any] = {}
    for name, value in accept.items():
        if name not in COLUMNS:
            kept[name] = value
            continue
        named = [c for c in ([value] if isinstance(value, str) else value) if c in both]
        if name == "prepared":
            named = [c for c in named if _changes(before, c) == _changes(after, c)]
        if named:
            kept[name] = named
    return kept


def _names(facts: Mapping[str, Any]) -> set[str]:
    return {column["name"] for column in facts["columns"]}


def _changes(facts: Mapping[str, Any], column: str) -> list[Mapping[str, Any]]:
    """The preparations that changed values of a column, or of one that it was made from."""
    steps = facts["prepared"]
    parts = {column}
    for step in steps:
        parts.update(step["figures"].get("made_from", {}).get(column, ()))
    return [step for step in steps if parts & set(step["figures"].get("values_changed", ()))]
