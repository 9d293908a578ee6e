"""Options that name columns: their types, and defaults that are the columns of a role."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, get_args, get_origin

from pydantic import BeforeValidator, Field

from sdckit.data.roles import Role, names_in


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


def as_names(value: Any) -> Any:
    """A collection of names of any kind as a tuple; anything else, and a single name, as it is."""
    names = None if isinstance(value, str | RoleColumns | list) else names_in(value)
    return value if names is None else names


def _as_tuple(value: Any) -> Any:
    return (value,) if isinstance(value, str) else as_names(value)


Columns = Annotated[
    Sequence[str], BeforeValidator(_as_tuple), ColumnName(), Field(json_schema_extra={"format": "columns"})
]
Column = Annotated[str, ColumnName(), Field(json_schema_extra={"format": "column"})]


def is_columns(hint: Any) -> bool:
    """Whether an option of this type is the name of a column or a list of such names, and nothing else."""
    return get_origin(hint) is Annotated and any(isinstance(a, ColumnName) for a in get_args(hint)[1:])


def names_columns(hint: Any) -> bool:
    """Whether an option of this type names columns, or holds something that does."""
    return is_columns(hint) or any(names_columns(part) for part in get_args(hint) if part is not hint)


def column_names(value: Any) -> Iterable[str]:
    """All names in the value of such an option."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
    elif isinstance(value, Iterable):
        for part in value:
            yield from column_names(part)
