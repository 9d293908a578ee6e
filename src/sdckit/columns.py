"""Options that name columns: their types, and defaults that are the columns of a role."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, get_args, get_origin

from pydantic import BeforeValidator, Field

from sdckit.roles import Role


class RoleColumns(tuple[str, ...]):
    """A default for a `Columns` option: the columns of a role, looked up in the data."""

    role: Role

    def __new__(cls, role: Role) -> "RoleColumns":
        """An empty tuple that remembers its role."""
        new = super().__new__(cls)
        new.role = role
        return new

    def __repr__(self) -> str:
        return f"the {self.role.value} columns"


KEYS, NUMERIC = RoleColumns(Role.KEYS), RoleColumns(Role.NUMERIC)
SENSITIVE, STRATA = RoleColumns(Role.SENSITIVE), RoleColumns(Role.STRATA)


class ColumnName:
    """Marks an option that names columns, so that they are checked against the data."""


def _as_tuple(value: Any) -> Any:
    if isinstance(value, RoleColumns):
        return value
    return (value,) if isinstance(value, str) else value


Columns = Annotated[
    Sequence[str], BeforeValidator(_as_tuple), ColumnName(), Field(json_schema_extra={"format": "columns"})
]
Column = Annotated[str, ColumnName(), Field(json_schema_extra={"format": "column"})]


def names_columns(hint: Any) -> bool:
    """Whether an option of this type names columns, or holds something that does."""
    if get_origin(hint) is Annotated and any(isinstance(a, ColumnName) for a in get_args(hint)[1:]):
        return True
    return any(names_columns(part) for part in get_args(hint) if part is not hint)


def column_names(value: Any) -> Iterable[str]:
    """All names in the value of such an option."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
    elif isinstance(value, Iterable):
        for part in value:
            yield from column_names(part)
