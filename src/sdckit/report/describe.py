"""The data in words: variables, roles, labels, missing values."""

from collections.abc import Sequence
from typing import Any

from sdckit._support.number_text import number, percent
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.engine import frames, tables
from sdckit.report.disclosure import visible
from sdckit.report.public_numbers import PublicNumber, public_count, public_share

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
RECORDS, POPULATION = "shares of the records", "shares of the population (weighted)"


def describe(original: Microdata, protected: Microdata | None) -> dict[str, Any]:
    """Size, design, and every variable that may be named with its label, role and type."""
    seen = visible(original, *([protected] if protected is not None else []))
    variables = _variables(original, protected, seen)
    return {
        "records": number(original.height),
        "released_records": number(protected.height) if protected is not None else "",
        "direct": len(original.columns) - len(variables),
        "weighted": original.roles.weight is not None,
        "counted": _counted(original, protected),
        "weights_lost": original.roles.weight is not None
        and protected is not None
        and protected.roles.weight is None,
        "facts": _facts(original, protected),
        "variables": variables,
    }


def _counted(original: Microdata, protected: Microdata | None) -> str:
    """What the shares in pictures of both files are of: a file may have lost its weights on the way."""
    weights = [data.roles.weight is not None for data in (original, protected) if data is not None]
    words = [POPULATION if weighted else RECORDS for weighted in weights]
    if len(set(words)) == 1:
        return words[0]
    first, second = (" (weighted)" if weighted else ", which has no weights" for weighted in weights)
    names = ["the population" if weighted else "the records" for weighted in weights]
    return f"shares of {names[0]} in the original{first}, and of {names[1]} in the protected file{second}"


def public_data(original: Microdata, protected: Microdata | None) -> dict[str, Any]:
    """The data for the public: how many records, rounded, and the variables that are released."""
    seen = visible(original, *([protected] if protected is not None else []))
    released = [c for c in seen if protected is None or c in protected.columns]
    records = str(public_count(original.height))
    made = str(public_count(protected.height)) if protected is not None else ""
    facts = {"Records, rounded": records}
    if made and made != records:
        facts["Records in the protected file, rounded"] = made
    return {
        "records": records,
        "released_records": made,
        "direct": 0,
        "weighted": False,  # public pictures count records
        "counted": RECORDS,
        "weights_lost": False,
        "facts": [{"label": label, "text": text} for label, text in facts.items()],
        "variables": _variables(original, protected, released),
    }


def _variables(
    original: Microdata, protected: Microdata | None, names: Sequence[str]
) -> list[dict[str, Any]]:
    types = frames.schema(original.frame)
    found: list[dict[str, Any]] = [
        {
            "name": column,
            "label": original.labels.variables.get(column, ""),
            "roles": (roles := [ROLE_WORDS[role] for role in original.roles.of(column)]),
            "kind": (kind := _kind(original, column, types)),
            "words": ", ".join([*roles, kind]),
            "released": protected is None or column in protected.columns,
        }
        for column in names
    ]
    return sorted(found, key=lambda v: ("key" not in v["roles"], not v["roles"]))


def _facts(original: Microdata, protected: Microdata | None) -> list[dict[str, str]]:
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
            facts[name] = number(count)
    if roles.strata:
        strata = tables.count_cells(original.table, list(roles.strata), None).height
        facts["Strata"] = number(strata)
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


def missing(original: Microdata, protected: Microdata) -> dict[str, Any]:
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
            "before": percent(before[column] / original.height),
            "after": percent(after[column] / protected.height),
            "counts": f"{number(before[column])} → {number(after[column])}",
        }
        for column in some
    ]
    return {
        "rows": rows[:MOST_MISSING],
        "more": max(len(rows) - MOST_MISSING, 0),
        "none": len(columns) - len(some),
    }


def public_missing(original: Microdata, protected: Microdata) -> dict[str, Any]:
    """Missing values per variable for the public: shares in steps of at least 5 records, most new ones first.

    The order follows from the shares that are shown, so that it tells no more than they do.
    """
    columns = [c for c in visible(original, protected) if c in protected.columns]
    files = [(tables.missing_counts(d.table, columns), d.height) for d in (original, protected)]
    shares = {c: [public_share(counts[c] / n, n) for counts, n in files] for c in columns}
    some = [c for c in columns if any(s is not None and s.value for s in shares[c])]
    some.sort(key=lambda c: _value(shares[c][0]) - _value(shares[c][1]))
    rows = [
        {
            "name": column,
            "label": original.labels.variables.get(column, ""),
            "new": _value(shares[column][1]) > _value(shares[column][0]),
            "before": str(shares[column][0] or "–"),
            "after": str(shares[column][1] or "–"),
            "counts": "",
        }
        for column in some
    ]
    return {
        "rows": rows[:MOST_MISSING],
        "more": max(len(rows) - MOST_MISSING, 0),
        "none": len(columns) - len(some),
    }


def _value(shown: PublicNumber | None) -> float:
    return 0.0 if shown is None else shown.value
