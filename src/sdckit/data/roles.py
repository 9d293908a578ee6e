"""Roles: what each column of a microdata file is for."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sdckit._support.messages import did_you_mean, join_names
from sdckit.errors import RoleError, preview


class Role(StrEnum):
    """What a column is for."""

    ID = "id"
    KEYS = "keys"
    NUMERIC = "numeric"
    SENSITIVE = "sensitive"
    WEIGHT = "weight"
    STRATA = "strata"
    CLUSTER = "cluster"
    HOUSEHOLD = "household"
    DIRECT = "direct"


# Pairs a column may hold together; every other pair is a contradiction.
COMPATIBLE = {
    frozenset({Role.KEYS, Role.STRATA}),
    frozenset({Role.SENSITIVE, Role.STRATA}),
    frozenset({Role.NUMERIC, Role.SENSITIVE}),
    frozenset({Role.HOUSEHOLD, Role.CLUSTER}),
}


@dataclass(frozen=True, slots=True)
class Roles:
    """Which columns are identifiers, keys, numbers, weights and so on."""

    id: str | None = None
    keys: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    weight: str | None = None
    strata: tuple[str, ...] = ()
    cluster: str | None = None
    household: str | None = None
    direct: tuple[str, ...] = ()

    def columns(self, role: Role) -> tuple[str, ...]:
        """The columns of one role, always as a tuple.

        >>> Roles(weight="w").columns(Role.WEIGHT)
        ('w',)
        """
        value = getattr(self, role.value)
        return value if isinstance(value, tuple) else () if value is None else (value,)

    def of(self, column: str) -> tuple[Role, ...]:
        """The roles of one column."""
        return tuple(role for role in Role if column in self.columns(role))

    def without(self, columns: tuple[str, ...]) -> "Roles":
        """The same roles with these columns gone."""
        kept = {r.value: tuple(c for c in self.columns(r) if c not in columns) for r in Role}
        return roles_of(**kept)

    def as_dict(self) -> dict[str, Any]:
        """Only the roles that are set, for plans and reports."""
        pairs = {role.value: getattr(self, role.value) for role in Role}
        return {
            name: list(v) if isinstance(v, tuple) else v for name, v in pairs.items() if v not in (None, ())
        }


def names_in(value: Any) -> tuple[Any, ...] | None:
    """What a user gave as names, one or any collection of them, sets in sorted order; None for a table.

    >>> names_in("sex"), names_in({"sex", "age"}), names_in(3)
    (('sex',), ('age', 'sex'), None)
    """
    if isinstance(value, str):
        return (str(value),)
    flat = getattr(value, "ndim", 1) == 1 and not hasattr(value, "columns")
    if not isinstance(value, Iterable) or isinstance(value, Mapping) or not flat:
        return None
    found = sorted(value, key=str) if isinstance(value, Set) else value
    return tuple(str(n) if isinstance(n, str) else n for n in found)  # NumPy has texts of its own


def roles_of(**roles: Any) -> Roles:
    """Roles from what a user writes: a name, a list of names or nothing, checked for contradictions."""
    clean: dict[str, Any] = {}
    for name, value in roles.items():
        if name not in set(Role):
            raise RoleError(
                f"There is no role {name!r}.", allowed=join_names(Role), hint=did_you_mean(name, Role)
            )
        names = () if value is None else names_in(value)
        if names is None or not all(isinstance(n, str) for n in names):
            raise RoleError(f"Role {name!r} takes column names.", given=preview(value))
        if len(set(names)) < len(names):
            raise RoleError(f"Role {name!r} names a column twice.", given=join_names(names))
        if isinstance(Roles.__dataclass_fields__[name].default, tuple):
            clean[name] = names
        elif len(names) > 1:
            raise RoleError(f"Role {name!r} takes one column.", given=join_names(names))
        else:
            clean[name] = names[0] if names else None
    result = Roles(**clean)
    for column in {c for role in Role for c in result.columns(role)}:
        held = result.of(column)
        clash = [
            (a, b) for i, a in enumerate(held) for b in held[i + 1 :] if frozenset({a, b}) not in COMPATIBLE
        ]
        if clash:
            raise RoleError(
                f"Column {column!r} has two conflicting roles.",
                given=" and ".join(clash[0]),
                hint="Give it one of them.",
            )
    return result
