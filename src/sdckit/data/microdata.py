"""Microdata: an immutable table with roles and labels."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from secrets import randbits
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit.data.history import LogEntry as LogEntry
from sdckit.data.labels import Labels
from sdckit.data.roles import Role, Roles, roles_of
from sdckit.data.values import instead_of_numbers
from sdckit.engine import frames
from sdckit.errors import ColumnError, DataError, OptionError, listing, nearest, refuse_repeated

T = TypeVar("T")


def require_microdata(data: Any, what: str) -> None:
    """Refuse anything that is not Microdata, such as a bare data frame."""
    if not isinstance(data, Microdata):
        raise OptionError(
            f"{what} takes Microdata.", given=type(data).__name__, hint="Use sdckit.read first."
        )


class _Frame:
    """The table of Microdata. A Polars frame is handed out as a copy that shares its values (about 1 µs).

    Who writes into the copy, data.frame[0, "age"] = 5, changes the copy alone.
    """

    def __get__(self, data: Any, owner: type) -> Any:
        if data is None:  # dataclass asks for a default
            raise AttributeError
        kept = data.__dict__["frame"]
        return kept.clone() if isinstance(kept, pl.DataFrame) else kept

    def __set__(self, data: Any, frame: Any) -> None:
        data.__dict__["frame"] = frame


@dataclass(frozen=True, eq=False)
class Microdata:
    """A table of records with the roles and labels of its columns. Never changes; methods return a new one.

    `frame` is a Polars DataFrame, or a DuckDB relation or Spark DataFrame for data that stay out of memory.

    >>> data = Microdata.of(pl.DataFrame({"sex": ["f", "m"], "w": [2.0, 3.0]}), keys=["sex"], weight="w")
    >>> data
    Microdata: 2 records × 2 columns (polars)
      keys: sex
      weight: w
    """

    frame: _Frame = _Frame()
    roles: Roles = field(default_factory=Roles)
    labels: Labels = field(default_factory=Labels)
    log: tuple[LogEntry, ...] = ()
    kind: str = "polars"
    nullable: Mapping[str, str] = field(default_factory=dict)  # pandas columns that came with NA
    dropped: tuple[str, ...] = ()  # direct identifiers that were left out on reading
    origin: int = field(default_factory=lambda: randbits(63))  # shared by all that was made from one reading

    def __post_init__(self) -> None:
        """Refuse what `read` and `of` would have made a table and roles of."""
        frame = self.__dict__["frame"]
        if not frames.is_kept(frame) or not isinstance(self.roles, Roles):
            raise OptionError(
                "Microdata are made with sdckit.read.",
                given=f"Microdata({type(frame).__name__}, …)",
                allowed='sdckit.read(frame or file, keys=["sex", …], …)',
            )

    @classmethod
    def of(cls, frame: Any, *, labels: Labels | None = None, **roles: Any) -> "Microdata":
        """Microdata from any data frame, with the roles checked against it."""
        native, kind = frames.accept(frame)
        nullable = frames.nullable(frame) if kind == "pandas" else {}
        data = cls(native, roles_of(**roles), labels or Labels(), (), kind, nullable)
        data._check(reading=True)
        return data

    @property
    def engine(self) -> str:
        """Where the table lives: polars, duckdb or spark."""
        return frames.engine_of(self.frame)

    @property
    def table(self) -> nw.LazyFrame[Any]:
        """The table in the one language every engine understands (narwhals, lazy)."""
        return frames.lazy(self.frame)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Column names in order."""
        return frames.columns(self.frame)

    @cached_property
    def height(self) -> int:
        """Number of records."""
        return frames.height(self.frame)

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """Intermediate results that several measures share; the data never change, so they stay true."""
        return {}

    def once(self, asked: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, kept under a name for the next that asks."""
        if asked not in self.kept:
            self.kept[asked] = make()
        found: T = self.kept[asked]
        return found

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: intermediate results are made again there."""
        return {name: value for name, value in self.__dict__.items() if name != "kept"}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the steps so far give reason to mind before the file is released, in words."""
        return tuple(text for entry in self.log for text in entry.warnings(self.columns))

    def steps_since(self, original: "Microdata") -> tuple[LogEntry, ...]:
        """The steps that the original has not gone through: all where the two logs begin differently."""
        shared = len(original.log)
        return self.log[shared:] if self.log[:shared] == original.log else self.log

    def __len__(self) -> int:
        return self.height

    def native(self) -> Any:
        """The table as the kind of data frame that went in: Polars, pandas or PyArrow.

        In pandas, columns that came with a nullable type (Int64, boolean, string) have one again. Records are
        numbered 0, 1, …: the index that came in is not kept, it might name persons or undo `shuffle_order`.
        """
        return frames.give_back(self.frame, self.kind, self.nullable)

    def collect(self) -> "Microdata":
        """The same microdata in memory (Polars)."""
        return replace(self, frame=frames.collect(self.frame), kind="polars")

    def with_frame(self, frame: Any, **did: Any) -> "Microdata":
        """Other values under the same roles and labels: how a protected file is made.

        Keyword arguments are what a protection did (`cells_suppressed=12`) and enter the log.
        """
        native, _ = frames.accept(frame)
        log = (*self.log, LogEntry("", {}, did)) if did else self.log
        data = replace(self, frame=native, log=log)
        data._check()
        return data

    def with_roles(self, **changes: Any) -> "Microdata":
        """Other roles for the same values."""
        now = {role.value: getattr(self.roles, role.value) for role in Role}
        data = replace(self, roles=roles_of(**{**now, **changes}))
        data._check()
        return data

    def without(self, columns: tuple[str, ...]) -> "Microdata":
        """The microdata with these columns, their roles and their labels gone."""
        kept = [c for c in self.columns if c not in columns]
        if not kept:
            raise DataError("No column would be left.", given=f"without {listing(columns)}")
        frame = nw.to_native(nw.from_native(self.frame).select(kept))
        return replace(
            self, frame=frame, roles=self.roles.without(columns), labels=self.labels.without(columns)
        )

    def ids(self, *, beside: Collection[str] = ()) -> pl.Series:
        """One id a record: the id column, or the row number (0, 1, …) under the name `record`.

        An id named like a column it is to stand beside is named `record`, too.
        """
        if self.roles.id is not None:
            ids = pl.Series(self.collect().frame[self.roles.id])
            return ids.alias("record") if ids.name in beside else ids
        return pl.Series("record", np.arange(self.height, dtype=np.int64))

    def is_unique(self, column: str) -> bool:
        """Whether a column names every record, and no two by the same value."""

        def count() -> bool:
            values = nw.col(column)
            counts = self.table.select(values.n_unique().alias("different"), values.count().alias("present"))
            return set(frames.gather(counts).row(0)) == {self.height}

        return self.once(("is_unique", column), count)

    def weights(self) -> Floats:
        """The survey weights; ones where there is no weight role."""
        if self.roles.weight is None:
            return np.ones(self.height)
        return np.asarray(self.collect().frame[self.roles.weight].cast(pl.Float64).to_numpy())

    def require(self, column: str) -> None:
        """Refuse a column that is not there."""
        if column not in self.columns:
            raise ColumnError(
                f"There is no column {column!r}.",
                allowed=listing(self.columns),
                hint=nearest(column, self.columns),
            )

    def require_categories(self, columns: Iterable[str]) -> None:
        """Refuse columns whose values cannot be categories: lists, structs and durations."""
        schema = frames.schema(self.frame)
        for column in columns:
            if schema[column].is_nested():
                raise ColumnError(f"Column {column!r} holds lists or structs.", given=str(schema[column]))
            if schema[column] == nw.Duration:
                raise ColumnError(
                    f"Column {column!r} holds durations, which cannot be categories.",
                    given=str(schema[column]),
                    hint="Make them numbers, for instance of days.",
                )

    def __repr__(self) -> str:
        size = f"{self.height:,} records × {len(self.columns)} columns ({self.engine})"
        roles = (f"  {name}: {listing(self.roles.columns(Role(name)))}" for name in self.roles.as_dict())
        steps = (f"  step {i}: {e.method or 'changed'}" for i, e in enumerate(self.log, 1))
        warnings = (f"  warning: {text}" for text in self.warnings)
        return "\n".join([f"Microdata: {size}", *roles, *steps, *warnings])

    def _check(self, *, reading: bool = False) -> None:
        refuse_repeated(self.columns)
        for role in Role:
            for column in self.roles.columns(role):
                if column not in self.columns:
                    raise ColumnError(
                        f"Role {role.value!r} names column {column!r}, which is not in the data.",
                        allowed=listing(self.columns),
                        hint=nearest(column, self.columns),
                    )
        self._check_types(reading=reading)
        if self.height == 0:
            raise DataError("The data have no records.", given="0 rows", allowed="1 or more")
        self._check_values()

    def _check_types(self, *, reading: bool) -> None:
        schema = frames.schema(self.frame)
        for role in (Role.NUMERIC, Role.WEIGHT):
            for column in self.roles.columns(role):
                if not schema[column].is_numeric():
                    raise ColumnError(
                        f"Role {role.value!r} needs numbers; column {column!r} does not hold numbers.",
                        given=instead_of_numbers(self.frame, column, schema[column], reading=reading),
                        allowed="a column of numbers",
                        hint="In a text file missing is empty, NA or NaN: write other codes for it so before "
                        "reading. Separators of thousands are not understood.",
                    )
        self.require_categories(self.roles.keys + self.roles.strata)

    def _check_values(self) -> None:
        facts = frames.facts(self.frame, self.roles.numeric, self.roles.weight, self.roles.keys)
        for column in self.roles.numeric:
            if facts[f"infinite_{column}"]:
                raise DataError(
                    f"Column {column!r} has infinite values.",
                    given=f"{facts[f'infinite_{column}']} of them",
                    allowed="finite numbers or missing",
                )
        if self.roles.weight is not None:
            for fault in ("missing", "zero", "negative", "infinite"):
                if facts[f"weight_{fault}"]:
                    raise DataError(
                        f"Weights in {self.roles.weight!r} must be positive numbers.",
                        given=f"{facts[f'weight_{fault}']} {fault}",
                        allowed="positive, finite, none missing",
                    )
        if self.roles.keys and all(facts[f"present_{k}"] == 0 for k in self.roles.keys):
            raise DataError(
                "Every key is missing in every record.",
                given=listing(self.roles.keys),
                allowed="keys with at least one value",
            )
