"""Options of methods: what a form and a message say of them, and which of them go together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, get_args, get_origin

from pydantic import BeforeValidator, Field

from sdckit._support.messages import join_names
from sdckit.data.key_cells import Missing
from sdckit.data.roles import Role, names_in
from sdckit.errors import OptionError


@dataclass(frozen=True, slots=True)
class Option:
    """What people are told of an option: written into its annotation.

    label: a few words. help: a sentence. basic: among the first that a form shows. unit: of a number.
    choices: what each allowed value means. absent: what it means where nothing is given. secret: a seed that
    is drawn in secret where none is given; whoever wants the same file again must write one down. shape: what
    a mapping is of, where a form has something better for it than text: see `Shape`.
    """

    label: str
    help: str = ""
    basic: bool = False
    unit: str = ""
    choices: Mapping[str, str] = field(default_factory=dict, hash=False)
    absent: str = ""
    secret: bool = False
    shape: "Shape | None" = None


class Shape(StrEnum):
    """What a mapping or a list is of.

    {new: [old, …]}, {key: level}, {old: {new: probability}}, {column: [value, …]}, [{when: …, then: {…}}], a
    list of expressions, in which commas may stand, [[column, …], …], or {key: [column, …]}.
    """

    MERGED = "merged categories"
    LEVELS = "level of each key"
    MATRIX = "transition matrix"
    LISTS = "values of each column"
    RULES = "rules"
    EXPRESSIONS = "expressions"
    COLUMN_LISTS = "lists of columns"
    FOLLOWERS = "columns that follow each key"


class RoleColumns(tuple[str, ...]):
    """A default for a `Columns` option: the columns of a role, looked up in the data.

    The method gets the columns still marked as those of the role: it may leave out one that a file lacks,
    but not one that the user named.
    """

    role: Role

    def __new__(cls, role: Role, names: Iterable[str] = ()) -> "RoleColumns":
        """A tuple that remembers its role, empty until the data are known."""
        new = super().__new__(cls, names)
        new.role = role
        return new

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.role, tuple(self)

    def __repr__(self) -> str:
        return f"the {self.role.value} columns"


KEYS, NUMERIC = RoleColumns(Role.KEYS), RoleColumns(Role.NUMERIC)
SENSITIVE, STRATA = RoleColumns(Role.SENSITIVE), RoleColumns(Role.STRATA)


class ColumnName:
    """Marks an option that names columns, so that they are checked against the data."""


def as_names(value: Any) -> Any:
    """A collection of names of any kind as a tuple; anything else, and a single name, unchanged."""
    names = None if isinstance(value, str | RoleColumns | list) else names_in(value)
    return value if names is None else names


def as_tuple(value: Any) -> Any:
    """The same, with a single name as a tuple of one."""
    return (value,) if isinstance(value, str) else as_names(value)


Columns = Annotated[
    Sequence[str], BeforeValidator(as_tuple), ColumnName(), Field(json_schema_extra={"format": "columns"})
]
Column = Annotated[str, ColumnName(), Field(json_schema_extra={"format": "column"})]

# Options that many methods have, with one meaning.
KeyColumns = Annotated[
    Columns, Option("Keys", "The categorical quasi-identifiers: what an intruder may know of a person.")
]
NumericColumns = Annotated[Columns, Option("Variables", "The numbers to look at.", basic=True)]
ComparedColumns = Annotated[
    Columns,
    Option(
        "Variables", "The variables to compare.", basic=True, absent="keys, numeric and sensitive columns"
    ),
]
NumberClasses = Annotated[
    int,
    Field(ge=2, le=100),
    Option("Classes of a number", "Numbers are cut into about so many classes of equal size."),
]
SensitiveColumns = Annotated[
    Columns, Option("Sensitive variables", "What an intruder wants to learn of a person.", basic=True)
]
By = Annotated[
    Columns,
    Option("Within strata of", "Each group of these columns is treated on its own.", absent="the whole file"),
]
MissingKeys = Annotated[
    Missing,
    Option(
        "Missing keys",
        "What a missing or suppressed key value means when records are counted.",
        choices={
            "wildcard": "a missing value matches any value",
            "category": "missing is a value of its own",
            "nothing": "a record with a missing key matches only itself",
        },
    ),
]
MissingKeyWeight = Annotated[
    float,
    Field(ge=0, le=1),
    Option(
        "Weight of a match by a missing value",
        "Under the wildcard rule: how much a record with missing keys adds to the counts of other records.",
    ),
]


class MissingValues(StrEnum):
    """What a missing value is in a table of counts: left out with its record, or a category of its own."""

    DROP = "drop"
    CATEGORY = "category"


@dataclass(frozen=True, slots=True)
class OneOf:
    """Options of which at most one is given; with `required` exactly one."""

    names: tuple[str, ...]
    required: bool = False

    def check(self, method: str, options: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        """Refuse two of them, and none where one is required."""
        given = [n for n in self.names if options[n] != defaults[n]]
        if len(given) > 1:
            raise OptionError(f"{method} takes either {_either(self.names)}.", given=join_names(given))
        if self.required and not given:
            raise OptionError(f"{method} needs {_either(self.names)}.", given="neither")


@dataclass(frozen=True, slots=True)
class Requires:
    """An option that means something only where another is given (or has one of some values)."""

    name: str
    other: str
    values: tuple[Any, ...] = ()

    def check(self, method: str, options: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        """Refuse the option without the other."""
        if options[self.name] == defaults[self.name]:
            return
        other = options[self.other]
        fits = other in self.values if self.values else other != defaults[self.other]
        if not fits:
            raise OptionError(
                f"Option {self.name!r} of {method} means nothing without {self.other!r}.",
                given=f"{self.name} without {self.other}" if not self.values else f"{self.other}: {other}",
                allowed=f"{self.name} with {self.other}"
                + (f": {join_names(self.values)}" if self.values else ""),
            )


def _either(names: Sequence[str]) -> str:
    return " or ".join(map(repr, names))


def annotation(hint: Any) -> Option | None:
    """What the annotation of an option says of it, on the outside first, then of its alternatives."""
    if get_origin(hint) is Annotated:
        found = [a for a in get_args(hint)[1:] if isinstance(a, Option)]
        return found[-1] if found else None
    return next((said for part in get_args(hint) if (said := annotation(part)) is not None), None)


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
