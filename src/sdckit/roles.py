"""Roles: what each column of a microdata file is for."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sdckit.errors import RoleError, listing, nearest


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
        """Only the roles that are set, for scenario files and reports."""
        pairs = {role.value: getattr(self, role.value) for role in Role}
        return {
            name: list(v) if isinstance(v, tuple) else v for name, v in pairs.items() if v not in (None, ())
        }


def roles_of(**roles: Any) -> Roles:
    """Roles from what a user writes: a name, a list of names or nothing, checked for contradictions."""
    clean: dict[str, Any] = {}
    for name, value in roles.items():
        if name not in set(Role):
            raise RoleError(f"There is no role {name!r}.", allowed=listing(Role), hint=nearest(name, Role))
        if value is not None and not isinstance(value, str | list | tuple | set):
            raise RoleError(f"Role {name!r} takes column names.", given=repr(value))
        names = () if value is None else (value,) if isinstance(value, str) else tuple(value)
        if not all(isinstance(n, str) for n in names):
            raise RoleError(f"Role {name!r} takes column names.", given=names)
        if len(set(names)) < len(names):
            raise RoleError(f"Role {name!r} names a column twice.", given=listing(names))
        if isinstance(Roles.__dataclass_fields__[name].default, tuple):
            clean[name] = names
        elif len(names) > 1:
            raise RoleError(f"Role {name!r} takes one column.", given=listing(names))
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
