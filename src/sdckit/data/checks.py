"""What microdata must be: checked whenever a table or its roles are new."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from sdckit._support.messages import did_you_mean, join_names, require_unique
from sdckit.data.roles import Role, Roles
from sdckit.data.values import instead_of_numbers
from sdckit.engine import frames
from sdckit.errors import ColumnError, DataError, RoleError

if TYPE_CHECKING:
    from sdckit.data.microdata import Microdata

LESS = "Where a step made them so, let it round or code weights less strongly."


def check(data: "Microdata", *, reading: bool = False, changed: Collection[str] | None = None) -> None:
    """Refuse repeated names, roles of columns that are not there or of the wrong type, and no records.

    changed: only these columns have values that have not been looked at.
    """
    require_unique(data.columns)
    check_names(data.roles, data.columns)
    _check_made_from(data)
    _check_types(data, reading=reading)
    if data.height == 0:
        raise DataError("The data have no records.", given="0 rows", allowed="1 or more")
    _check_values(data, changed, reading=reading)


def check_names(roles: Roles, columns: Sequence[str]) -> None:
    """Refuse roles of columns that are not there."""
    for role in Role:
        for column in roles.columns(role):
            if column not in columns:
                raise ColumnError(
                    f"Role {role.value!r} names column {column!r}, which is not in the data.",
                    allowed=join_names(columns),
                    hint=did_you_mean(column, columns),
                )


def _check_made_from(data: "Microdata") -> None:
    """Refuse a column that preparation made from a direct identifier: a name under another name."""
    direct = {*data.roles.direct, *data.dropped}
    for entry in data.prepared:
        for column, parts in entry.figures.get("made_from", {}).items():
            named = [part for part in parts if part in direct]
            if named and column in data.columns and column not in direct:
                raise RoleError(
                    f"Column {column!r} was made from {join_names(named)}, a direct identifier.",
                    hint=f"Make it from other columns, or give {column!r} the role direct.",
                )


def _check_types(data: "Microdata", *, reading: bool) -> None:
    schema = frames.schema(data.frame)
    for role in (Role.NUMERIC, Role.WEIGHT):
        for column in data.roles.columns(role):
            if not schema[column].is_numeric():
                raise ColumnError(
                    f"Role {role.value!r} needs numbers; column {column!r} does not hold numbers.",
                    given=instead_of_numbers(data.frame, column, schema[column], reading=reading),
                    allowed="a column of numbers",
                    hint="In a text file missing is empty, NA or NaN: write other codes for it so before "
                    "reading. Separators of thousands are not understood.",
                )
    data.require_categories(data.roles.keys + data.roles.strata)


def _weight_hint(weight: str, fault: str) -> str:
    """What to do about weights of a file that is read: who has none stands for nobody."""
    if fault not in ("missing", "zero"):
        return ""
    rule = f"`{weight}` > 0"
    return f'Leave these records out, in a plan by prepare: [{{keep_records: {{where: "{rule}"}}}}].'


def _check_values(data: "Microdata", changed: Collection[str] | None, *, reading: bool) -> None:
    new = set(data.columns if changed is None else changed)
    numeric = [c for c in data.roles.numeric if c in new]
    weight = data.roles.weight if data.roles.weight in new else None
    keys = data.roles.keys if new.intersection(data.roles.keys) else ()
    if not (numeric or weight or keys):
        return
    facts = frames.facts(data.frame, numeric, weight, keys)
    for column in numeric:
        if facts[f"infinite_{column}"]:
            raise DataError(
                f"Column {column!r} has infinite values.",
                given=f"{facts[f'infinite_{column}']} of them",
                allowed="finite numbers or missing",
            )
    if weight is not None:
        for fault in ("missing", "zero", "negative", "infinite"):
            if facts[f"weight_{fault}"]:
                raise DataError(
                    f"Weights in {weight!r} must be positive numbers.",
                    given=f"{facts[f'weight_{fault}']} {fault}",
                    allowed="positive, finite, none missing",
                    hint=_weight_hint(weight, fault) if reading else LESS,
                )
    if keys and all(facts[f"present_{k}"] == 0 for k in keys):
        raise DataError(
            "Every key is missing in every record.",
            given=join_names(keys),
            allowed="keys with at least one value",
        )
