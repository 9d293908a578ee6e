"""A plan to begin with, made from the columns of a file."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from sdckit.choose.describe import ColumnSummary, is_age
from sdckit.choose.plan import Plan
from sdckit.choose.scenario import Scenario
from sdckit.data.roles import Role, Roles

RISK = 0.01
HEADER = """\
# A start, made by sdckit columns. Look at every role, change what is wrong, then run: sdckit compare {plan}
# keys: what an intruder may know; numeric: numbers to protect; sensitive: what must not become known
# direct: names, addresses and the like, dropped at reading; max_risk: the risk you accept (0.01 is 1 %)
"""
IDS_LATER = """\
# On {engine} scenarios are compared by the ids of the original, so that these keep them. To the scenario that
# makes the file to release add the step: new_ids
"""
SHARED_NUMBERS = """\
# Numbers that members of a household share are averaged in memory alone, so that these scenarios leave all
# numbers as they are. Rounding works here: - round_values: {variables: [...], base: ...}
"""


def starter(columns: Sequence[ColumnSummary], source: Mapping[str, str], plan: str) -> str:
    """The text of a plan with the suggested roles, and two ways to protect the file.

    source: the data file, its codebook and the engine, as entries of data.
    """
    several = [role for role in Role if isinstance(getattr(Roles(), role.value), tuple)]
    data: dict[str, Any] = dict(source)
    for role in Role:
        names = [c.name for c in columns if c.role is role]
        if names:
            data[role.value] = names if role in several else names[0]
    head = HEADER.format(plan=plan)
    free = [" ".join(c.name.split()) for c in columns if c.role is None]
    if free:
        head += f"# Without a role, so that no risk looks at them: {', '.join(free)}\n"
    head += "".join(f"# {line}\n" for line in may_be_missing(columns))
    engine = source.get("engine", "polars")
    away, there = engine != "polars", {c.role for c in columns}
    head += IDS_LATER.format(engine=engine) if away and Role.ID in there else ""
    head += SHARED_NUMBERS if away and {Role.HOUSEHOLD, Role.NUMERIC} <= there else ""
    scenarios = _scenarios(columns, in_memory=not away)
    content = yaml.safe_load(Plan(data, scenarios, _assess(columns)).to_yaml())
    # short lists in one line: people will change them
    return head + yaml.safe_dump(
        content, sort_keys=False, allow_unicode=True, width=100, default_flow_style=None
    )


def may_be_missing(columns: Sequence[ColumnSummary]) -> list[str]:
    """Which values may be codes for a missing answer, and the step that says so."""
    coded = [c for c in columns if c.missing_codes]
    if not coded:
        return []
    steps = [{"declare_missing": {"codes": list(c.missing_codes), "variables": [c.name]}} for c in coded]
    text = yaml.safe_dump(steps, sort_keys=False, allow_unicode=True, width=1000, default_flow_style=True)
    return ["May be codes for a missing answer. Where they are, add under data:", f"prepare: {text.strip()}"]


def _scenarios(columns: Sequence[ColumnSummary], *, in_memory: bool) -> tuple[Scenario, ...]:
    roles = {c.role for c in columns}
    ages = [c for c in columns if c.role is Role.KEYS and is_age(c.name)]
    age = next((c.name for c in ages if c.kind in ("whole number", "number")), None)
    averages = Role.NUMERIC in roles and (in_memory or Role.HOUSEHOLD not in roles)
    last: list[Any] = [{"microaggregate": {"k": 5}}] if averages else []
    if not roles & {Role.NUMERIC, Role.KEYS}:
        return ()
    if in_memory and roles & {Role.ID, Role.HOUSEHOLD}:
        last.append("new_ids")
    last.append("shuffle_order")  # the order of the rows tells who is who, and costs nothing to lose
    if Role.KEYS not in roles:
        return (Scenario("groups of 5", last),)
    dates = [c.name for c in columns if c.role is Role.KEYS and c.kind == "date"]
    years = [{"recode": {"variable": name, "to": "year"}} for name in dates]
    if age is None:
        return tuple(Scenario(f"k {k}", [*years, {"suppress": {"k": k}}, *last]) for k in (3, 5))
    return tuple(
        Scenario(
            f"age by {width}, k 3",
            [*years, {"recode": {"variable": age, "width": width}}, {"suppress": {"k": 3}}, *last],
        )
        for width in (5, 10)
    )


def _assess(columns: Sequence[ColumnSummary]) -> dict[str, Any]:
    return {"max_risk": RISK} if any(c.role in (Role.KEYS, Role.NUMERIC) for c in columns) else {}
