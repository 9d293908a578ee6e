"""Place: where a criterion is mended, as data that a page can lead to."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sdckit.data.roles import Role


class PlaceKind(StrEnum):
    """What is decided at a place."""

    ROLE = "role"
    STEP = "step"
    ACCEPT = "accept"
    INTRUDERS = "intruders"
    PREPARATION = "preparation"
    OPTIONS = "options"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is decided that would mend a criterion.

    kind: a role, a step of the scenario, what is accepted, the intruders, a preparation, the options of a
    measure, or how the file is read. name: the role, the method, the entry of accept (`max_risk` among
    them) or the measure. columns: those it is about.

    >>> Place.step("drop", ["name"]).as_dict()
    {'kind': 'step', 'name': 'drop', 'columns': ['name']}
    """

    kind: PlaceKind
    name: str = ""
    columns: tuple[str, ...] = ()

    @classmethod
    def role(cls, role: Role, columns: Any = ()) -> "Place":
        """The role that some columns have or lack; without columns, that of any."""
        return cls(PlaceKind.ROLE, role.value, tuple(columns))

    @classmethod
    def step(cls, method: str, columns: Any = ()) -> "Place":
        """A step that protects these columns."""
        return cls(PlaceKind.STEP, method, tuple(columns))

    @classmethod
    def accept(cls, entry: str, columns: Any = ()) -> "Place":
        """An entry of what the data holder accepts."""
        return cls(PlaceKind.ACCEPT, entry, tuple(columns))

    @classmethod
    def preparation(cls, method: str = "") -> "Place":
        """What is done to the file before it is the original."""
        return cls(PlaceKind.PREPARATION, method)

    @classmethod
    def options(cls, measure: str) -> "Place":
        """The options with which a measure is taken."""
        return cls(PlaceKind.OPTIONS, measure)

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"kind": self.kind.value, "name": self.name, "columns": list(self.columns)}


INTRUDERS, FILE = Place(PlaceKind.INTRUDERS), Place(PlaceKind.FILE)


def at(*places: Place) -> tuple[Place, ...]:
    """These places."""
    return places
