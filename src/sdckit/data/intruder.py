"""Intruder: who might attack a released file, what they know of a person, and how exactly."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from sdckit._support.messages import did_you_mean, join_names
from sdckit._support.written_share import written_share
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role, Roles
from sdckit.engine import frames
from sdckit.errors import OptionError, preview

WITHIN = 0.1  # relative error with which numbers are known where nothing else is said


class Unit(StrEnum):
    """Whom an intruder looks for."""

    PERSON = "person"
    HOUSEHOLD = "household"


class Known(NamedTuple):
    """What an intruder knows, in columns of one file."""

    keys: tuple[str, ...]
    numbers: Mapping[str, float]


@dataclass(frozen=True, slots=True, init=False)
class Intruder:
    """A scenario of disclosure: what somebody knows of a person who may be in the file.

    knows: columns known exactly; the words `keys` and `numeric` stand for the columns of these roles.
    numbers: numbers, and the relative error with which each is known (0: exactly). Both may be written as one
    list, `knows=["keys", {"income": "10%"}]`. in_file: the intruder knows that the person is in the file
    (a prosecutor); else survey weights say how many people of the population look alike (a journalist).
    unit: `household` for an intruder who knows the keys of all members together. max_risk: an accepted
    risk of its own. on_axis: whether the risk-utility map is about this intruder.

    >>> Intruder("neighbour", knows=["keys", {"income": "10%"}])
    Intruder 'neighbour': knows the keys, income to within 10 %, and that the person is in the file
    """

    name: str
    knows: tuple[str, ...] = (Role.KEYS.value,)
    numbers: Mapping[str, float] = field(default_factory=dict, hash=False)
    in_file: bool = True
    unit: Unit = Unit.PERSON
    max_risk: float | None = None
    on_axis: bool = True

    def __init__(
        self,
        name: str,
        knows: str | Sequence[Any] = (Role.KEYS.value,),
        numbers: Mapping[str, Any] | None = None,
        in_file: bool = True,
        unit: str = Unit.PERSON,
        max_risk: Any = None,
        on_axis: bool = True,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise OptionError("An intruder needs a name.", given=preview(name))
        for option, value in (("in_file", in_file), ("on_axis", on_axis)):
            if not isinstance(value, bool):
                raise OptionError(
                    f"{option} of intruder {name!r} is true or false.",
                    given=preview(value),
                    allowed="true or false",
                )
        if unit not in set(Unit):
            raise OptionError(
                f"The unit of intruder {name!r} is not valid.", given=preview(unit), allowed=join_names(Unit)
            )
        columns, known = _listed(name, knows, numbers or {})
        if not columns and not known:
            raise OptionError(f"Intruder {name!r} knows nothing.", allowed="columns, keys, or numbers")
        ceiling = None if max_risk is None else _share(name, "max_risk of", max_risk)
        values = (name, columns, known, in_file, Unit(unit), ceiling, on_axis)
        for attribute, content in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, attribute, content)

    def known(self, data: Microdata) -> Known:
        """What the intruder knows, in columns of these data; unknown columns are refused."""
        keys: list[str] = []
        numbers: dict[str, float] = {}
        for column in self.knows:  # a column may be called as a role: then both are known
            if column == Role.KEYS:
                keys += data.roles.keys
            elif column == Role.NUMERIC:
                numbers |= dict.fromkeys(known_numbers(data), WITHIN)
            elif column not in data.columns:
                self._require(data, column)
            if column in data.columns:
                keys.append(column)
        for column, error in self.numbers.items():
            if column == Role.NUMERIC and column not in data.columns:
                numbers |= dict.fromkeys(known_numbers(data), error)
            else:
                self._require(data, column)
                self._refuse_inexact_date(data, column, error)
                numbers[column] = error
        return Known(tuple(k for k in dict.fromkeys(keys) if k not in numbers), numbers)

    def _require(self, data: Microdata, column: str) -> None:
        if column not in data.columns:
            raise OptionError(
                f"Intruder {self.name!r} knows a column that the data do not have: {column!r}.",
                allowed=join_names(data.columns),
                hint=did_you_mean(column, data.columns),
            )

    def _refuse_inexact_date(self, data: Microdata, column: str, error: float) -> None:
        """A part of a date means nothing: dates have no 0."""
        if error and frames.schema(data.frame)[column].is_temporal():
            raise OptionError(
                f"Intruder {self.name!r} knows a date with a relative error, which dates cannot have.",
                given=f"{column}: {100 * error:g} %",
                allowed=f"{column} under knows, or an error of 0",
            )

    def as_dict(self) -> dict[str, Any]:
        """The intruder as a plan has it."""
        content: dict[str, Any] = {"knows": [*self.knows, *({c: e} for c, e in self.numbers.items())]}
        content["in_file"] = self.in_file
        if self.unit is not Unit.PERSON:
            content["unit"] = self.unit.value
        if self.max_risk is not None:
            content["max_risk"] = self.max_risk
        if not self.on_axis:
            content["on_axis"] = False
        return content

    def describe(self) -> str:
        """What the intruder knows, in words."""
        words = {"keys": "the keys", "numeric": f"the numbers to within {100 * WITHIN:g} %"}
        parts = [words.get(c, c) for c in self.knows]
        named = {"the numbers" if c == "numeric" else c: e for c, e in self.numbers.items()}
        parts += [f"{c} exactly" if not e else f"{c} to within {100 * e:g} %" for c, e in named.items()]
        household = self.unit is Unit.HOUSEHOLD
        of = " of all members of a household" if household else ""
        whom = "household" if household else "person"
        where = f"and that the {whom} is in the file" if self.in_file else "but not who is in the file"
        return f"knows {join_names(parts)}{of}, {where}"

    def __repr__(self) -> str:
        return f"Intruder {self.name!r}: {self.describe()}"


def known_numbers(data: Microdata) -> tuple[str, ...]:
    """Numbers that an intruder may know: those of the role numeric that are not sensitive themselves."""
    return _not_sensitive(data.roles)


def _not_sensitive(roles: Roles) -> tuple[str, ...]:
    return tuple(c for c in roles.numeric if c not in roles.sensitive)


def default_intruders(roles: Roles) -> tuple[Intruder, ...]:
    """Who is taken to attack where nobody else is named.

    neighbour: knows the keys; not that the person is in the file where there are weights. insider: knows the
    keys, every number to within 10 %, and that the person is in the file. register: the same, but knows the
    numbers exactly. household: knows the keys of all members of a household, and that it is in the file.
    """
    found = []
    weighted, numbers = roles.weight is not None, _not_sensitive(roles)
    if roles.keys:
        found.append(Intruder("neighbour", in_file=not weighted))
    if numbers or (roles.keys and weighted):
        knows = [*(["keys"] if roles.keys else []), *(["numeric"] if numbers else [])]
        found.append(Intruder("insider", knows=knows, on_axis=not roles.keys))
    if numbers:
        exactly = {"numeric": 0.0}
        knows = ["keys"] if roles.keys else []
        found.append(Intruder("register", knows=knows, numbers=exactly, on_axis=not roles.keys))
    if roles.household is not None and roles.keys:
        found.append(Intruder("household", unit=Unit.HOUSEHOLD, on_axis=False))
    return tuple(found)


def intruders_of(given: Any) -> tuple[Intruder, ...]:
    """Intruders from what a user wrote: objects, or {name: {knows: […], in_file: …}} as in a plan."""
    if isinstance(given, Intruder):
        return (given,)
    if isinstance(given, Mapping):
        found = [_from_mapping(str(name), content) for name, content in given.items()]
    elif isinstance(given, Iterable) and not isinstance(given, str):
        found = list(given)
    else:
        found = [given]
    if not found or not all(isinstance(one, Intruder) for one in found):
        raise OptionError(
            "intruders are not valid.",
            given=preview(given),
            allowed="Intruder objects, or {name: {knows: [keys, {income: 10%}], in_file: true}}",
        )
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        raise OptionError("Names of intruders must differ.", given=join_names(names))
    return tuple(found)


def _from_mapping(name: str, content: Any) -> Intruder:
    if content is None:
        content = {}
    if isinstance(content, Intruder):
        return content
    allowed = tuple(n for n in Intruder.__dataclass_fields__ if n != "name")
    if not isinstance(content, Mapping):
        raise OptionError(
            f"Intruder {name!r} is not valid.", given=preview(content), allowed=join_names(allowed)
        )
    for entry in content:
        if entry not in allowed:
            raise OptionError(
                f"Intruder {name!r} has no entry {entry!r}.",
                allowed=join_names(allowed),
                hint=did_you_mean(entry, allowed),
            )
    return Intruder(name, **content)


def _listed(
    name: str, knows: str | Sequence[Any], numbers: Mapping[str, Any]
) -> tuple[tuple[str, ...], dict[str, float]]:
    """Columns known exactly, and numbers with their relative errors."""
    columns: list[str] = []
    known = dict(numbers) if isinstance(numbers, Mapping) else None
    entries = [knows] if isinstance(knows, str | Mapping) else knows
    if known is None or not isinstance(entries, Iterable):
        given = numbers if known is None else knows
        raise OptionError(f"What intruder {name!r} knows is not valid.", given=preview(given))
    for entry in entries:
        if isinstance(entry, Mapping):
            known |= entry
        elif isinstance(entry, str):
            columns.append(entry)
        else:
            raise OptionError(
                f"What intruder {name!r} knows is not valid.",
                given=preview(entry),
                allowed="names of columns, keys, numeric, {number: error}",
            )
    errors = {str(c): _share(name, f"The error of {c!r} of", e, most=10.0) for c, e in known.items()}
    return tuple(dict.fromkeys(c for c in columns if c not in errors)), errors


def _share(name: str, what: str, given: Any, most: float = 1.0) -> float:
    """A share as people write it: 0.1 or 10%."""
    value = written_share(given)
    if not 0 <= value <= most:  # nan neither
        raise OptionError(
            f"{what} intruder {name!r} is not valid.",
            given=preview(given),
            allowed="0 or more, as 0.1 or 10%",
        )
    return value
