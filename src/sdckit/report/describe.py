"""The data in words: variables, roles, labels, missing values."""

from typing import Any

from sdckit._support.number_text import number
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.engine import frames, tables
from sdckit.report.disclosure import counted, records_share, visible

ROLE_WORDS = {
    Role.ID: "record number",
    Role.KEYS: "key",
    Role.NUMERIC: "number",
    Role.SENSITIVE: "sensitive",
    Role.WEIGHT: "survey weight",
    Role.STRATA: "stratum",
    Role.CLUSTER: "cluster",
    Role.HOUSEHOLD: "household",
}
MOST_MISSING = 25


def describe(original: Microdata, protected: Microdata | None, *, public: bool) -> dict[str, Any]:
    """Size, design, and every variable that may be named with its label, role and type."""
    types = frames.schema(original.frame)
    variables: list[dict[str, Any]] = [
        {
            "name": column,
            "label": original.labels.variables.get(column, ""),
            "roles": (roles := [ROLE_WORDS[role] for role in original.roles.of(column)]),
            "kind": (kind := _kind(original, column, types)),
            "words": ", ".join([*roles, kind]),
            "released": protected is None or column in protected.columns,
        }
        for column in visible(original, *([protected] if protected is not None else []))
    ]
    variables.sort(key=lambda v: ("key" not in v["roles"], not v["roles"]))
    return {
        "records": number(original.height),
        "released_records": number(protected.height) if protected is not None else "",
        "direct": len(original.columns) - len(variables),
        "weighted": original.roles.weight is not None,
        "facts": _facts(original, protected, public=public),
        "variables": variables,
    }


def _facts(original: Microdata, protected: Microdata | None, *, public: bool) -> list[dict[str, str]]:
    """How large the file is: records, the population they stand for, and the groups of its design."""
    facts = {"Records": number(original.height)}
    if protected is not None and protected.height != original.height:
        facts["Records in the protected file"] = number(protected.height)
    roles = original.roles
    if roles.weight is not None:
        total = tables.count_cells(original.table, [], roles.weight)[tables.WEIGHT_SUM][0]
        facts["Population (sum of the weights)"] = number(round(total or 0.0))
    groups = (("Households", roles.household), ("Clusters", roles.cluster))
    for name, column in groups:
        if column is not None:
            count = tables.count_cells(original.table, [column], None).height
            facts[name] = counted(count, public=public)
    if roles.strata:
        strata = tables.count_cells(original.table, list(roles.strata), None).height
        facts["Strata"] = counted(strata, public=public)
    return [{"label": label, "text": text} for label, text in facts.items()]


def _kind(data: Microdata, column: str, types: Any) -> str:
    if data.labels.values.get(column):
        return "categories"
    kind = types[column]
    if kind.is_numeric():
        return "whole numbers" if kind.is_integer() else "numbers"
    if kind.is_temporal():
        return "dates"
    return "true or false" if str(kind) == "Boolean" else "categories or text"


def missing(original: Microdata, protected: Microdata, *, public: bool) -> dict[str, Any]:
    """Missing values per variable before and after, most new ones first."""
    columns = [c for c in visible(original, protected) if c in protected.columns]
    before = tables.missing_counts(original.table, columns)
    after = tables.missing_counts(protected.table, columns)
    some = [c for c in columns if before[c] or after[c]]
    some.sort(key=lambda c: before[c] / original.height - after[c] / protected.height)
    rows = [
        {
            "name": column,
            "label": original.labels.variables.get(column, ""),
            "new": after[column] / protected.height > before[column] / original.height,
            "before": records_share(before[column], original.height, public=public),
            "after": records_share(after[column], protected.height, public=public),
            "counts": ""
            if public
            else f"{counted(before[column], public=False)} → {counted(after[column], public=False)}",
        }
        for column in some
    ]
    return {
        "rows": rows[:MOST_MISSING],
        "more": max(len(rows) - MOST_MISSING, 0),
        "none": len(columns) - len(some),
    }
