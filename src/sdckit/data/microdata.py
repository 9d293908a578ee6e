"""Microdata: an immutable table with roles and labels."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from secrets import randbits
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit._support.html_text import bullets, paragraph, table
from sdckit._support.messages import did_you_mean, join_names
from sdckit.data.checks import check
from sdckit.data.effects import Effects as Effects
from sdckit.data.history import LogEntry as LogEntry
from sdckit.data.labels import Labels
from sdckit.data.reading import Reading
from sdckit.data.roles import Role, Roles, roles_of
from sdckit.engine import frames
from sdckit.engine.different_ids import tells_apart
from sdckit.engine.pandas_columns import Categories, special_columns
from sdckit.errors import ColumnError, DataError, OptionError

T = TypeVar("T")

UNIQUE = "is_unique"


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
    special: Mapping[str, str | Categories] = field(
        default_factory=dict
    )  # types of pandas that Polars has not
    dropped: tuple[str, ...] = ()  # direct identifiers that were left out on reading
    origin: int = field(default_factory=lambda: randbits(63))  # shared by all that was made from one reading
    reading: Reading = field(default_factory=Reading, repr=False)
    prepared: tuple[LogEntry, ...] = ()  # what was done to the file before it became the original

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
        special = special_columns(frame) if kind == "pandas" else {}
        data = cls(native, roles_of(**roles), labels or Labels(), (), kind, special)
        check(data, reading=True)
        return data.as_read()

    def as_read(self, **known: Any) -> "Microdata":
        """The microdata as the beginning of what is made from them; known: what else is of the reading."""
        kept = self.__dict__["frame"]
        return replace(self, reading=Reading(frame=kept if isinstance(kept, pl.DataFrame) else None, **known))

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
    def cache(self) -> dict[Hashable, Any]:
        """Intermediate results that several measures share; the data never change, so they stay true."""
        return {}

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, kept under this key for the next that asks."""
        if key not in self.cache:
            self.cache[key] = make()
        found: T = self.cache[key]
        return found

    @cached_property
    def column_facts(self) -> dict[str, dict[str, Any]]:
        """What was found out about the values of each column, whatever its roles.

        Handed on only where the very same values are handed on: to the same table under other roles, or with
        fewer columns.
        """
        return {}

    def column_fact(self, what: str, column: str, find: Callable[[pl.Series], T]) -> T:
        """What `find` says of the values of a column in memory, kept for the next that asks."""
        facts = self.column_facts.setdefault(column, {})
        if what not in facts:
            facts[what] = find(self.frame[column])
        found: T = facts[what]
        return found

    @cached_property
    def column_marks(self) -> dict[str, object]:
        """A mark of each column that was asked about: files that share it have the same values in it.

        Record by record, that is: a step hands on the marks of the columns it did not change.
        """
        return {}

    def has_values_of(self, other: "Microdata", columns: Iterable[str]) -> bool:
        """Whether columns are known to have the values they have in another file, record by record.

        Known from the steps, without a look at the values: a file that was read has marks of its own.
        """
        marks = self.column_marks, other.column_marks
        return self is other or all(c in marks[0] and marks[0][c] is marks[1].get(c) for c in columns)

    @cached_property
    def table_facts(self) -> dict[str, Any]:
        """What was found out about all values together; handed on to the same table under other roles."""
        return {}

    def table_fact(self, what: str, find: Callable[[pl.DataFrame], T]) -> T:
        """What `find` says of the table in memory, kept for the next that asks."""
        if what not in self.table_facts:
            self.table_facts[what] = find(self.frame)
        found: T = self.table_facts[what]
        return found

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: intermediate results are made again there.

        A protected file that is handed on must not carry the original along, so the reading stays here. Nor
        does it carry the number from which secret draws were made, another one follows from it, nor which
        record of the original each row was, where a step changed their order.
        """
        made = ("cache", "column_facts", "column_marks", "table_facts")
        kept = {name: value for name, value in self.__dict__.items() if name not in made}
        digest = sha256(f"handed on/{self.origin}".encode()).digest()
        origin = int.from_bytes(digest[:8], "big") >> 1 if self.log else self.origin
        reading = Reading(steps_before_table=self.reading.steps_before_table)
        logs = {name: tuple(entry.without_rows() for entry in kept[name]) for name in ("log", "prepared")}
        return {**kept, **logs, "origin": origin, "reading": reading}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings that follow from the steps so far: what to look at before the file is released."""
        return tuple(text for entry in self.log for text in entry.warnings(self.columns))

    def steps_since(self, original: "Microdata") -> tuple[LogEntry, ...]:
        """The steps that the original has not gone through: all where the two logs begin differently."""
        shared = len(original.log)
        return self.log[shared:] if self.log[:shared] == original.log else self.log

    def __len__(self) -> int:
        return self.height

    def native(self) -> Any:
        """The table as the kind of data frame that went in: Polars, pandas or PyArrow.

        In pandas, columns that came with a nullable type (Int64, boolean, string) have one again, and those
        with categories, numbers or texts, have these in their order, without any that records had and no
        record has any more. Records are numbered 0, 1, …: the index that came in is not kept, it might name
        persons or undo `shuffle_order`.
        """
        return frames.give_back(self.frame, self.kind, self.special)

    def collect(self) -> "Microdata":
        """The same microdata in memory (Polars)."""
        return replace(self, frame=frames.collect(self.frame), kind="polars")

    def with_frame(
        self,
        frame: Any,
        *,
        effects: Effects | None = None,
        changed: Collection[str] | None = None,
        **figures: Any,
    ) -> "Microdata":
        """Other values under the same roles and labels: how a protected file is made.

        A protection says what it did: as `effects`, which measures go by, and in figures for people
        (`cells_suppressed=12`). Both enter the log. changed: the columns with other values, where all records
        stay. What is known of the others stays true and is not found out again, which outside memory means
        a pass over the file.
        """
        native, _ = frames.accept(frame, changed)
        entry = LogEntry("", {}, figures, effects or Effects())
        logged = bool(figures) or effects is not None
        log = (*self.log, entry) if logged else self.log
        reading = self.reading if logged else self.reading.of_other_rows(len(self.log))
        data = replace(self, frame=native, log=log, reading=reading)
        if changed is not None:
            data._take_over(self, [c for c in data.columns if c in self.columns and c not in changed])
        check(data, changed=changed)
        return data

    def but(self, **fields: Any) -> "Microdata":
        """The very same table with another log, other labels or fewer roles."""
        data = replace(self, **fields)
        data._take_over(self, self.columns)
        return data

    def _take_over(self, other: "Microdata", columns: Iterable[str]) -> None:
        """What is known of the records, and of those columns, of another file with the same."""
        columns = list(columns)
        if "height" in other.__dict__:
            self.__dict__["height"] = other.height
        self.column_marks.update((c, other.column_marks.setdefault(c, object())) for c in columns)
        self.cache.update(
            {(UNIQUE, c): other.cache[UNIQUE, c] for c in columns if (UNIQUE, c) in other.cache}
        )

    def with_roles(self, **changes: Any) -> "Microdata":
        """Other roles for the same values."""
        now = {role.value: getattr(self.roles, role.value) for role in Role}
        data = replace(self, roles=roles_of(**{**now, **changes}))
        check(data)
        data.__dict__["column_facts"] = self.column_facts
        data.__dict__["table_facts"] = self.table_facts
        data._take_over(self, self.columns)
        return data

    def without(self, columns: tuple[str, ...], *, direct: bool = False) -> "Microdata":
        """The microdata with these columns, their roles and their labels gone.

        direct: they are direct identifiers, and `dropped` names them from now on.
        """
        kept = [c for c in self.columns if c not in columns]
        if not kept:
            raise DataError("No column would be left.", given=f"without {join_names(columns)}")
        frame = nw.to_native(nw.from_native(self.frame).select(kept))
        data = replace(
            self,
            frame=frame,
            roles=self.roles.without(columns),
            labels=self.labels.without(columns),
            dropped=columns if direct else self.dropped,
            reading=self.reading.without(columns),
        )
        data.__dict__["column_facts"] = {c: self.column_facts.setdefault(c, {}) for c in kept}
        data._take_over(self, kept)
        return data

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

        return self.cached((UNIQUE, column), lambda: tells_apart(self.table, column, self.height))

    def weights(self) -> Floats:
        """The survey weights; ones where there is no weight role."""
        if self.roles.weight is None:
            return np.ones(self.height)
        column = frames.gather(self.table.select(nw.col(self.roles.weight).cast(nw.Float64)))
        return np.asarray(column.to_series().to_numpy())

    def weight_total(self) -> float:
        """The sum of the weights, found where the records are; their number where there is no weight role."""
        if self.roles.weight is None or self.engine == "polars":
            return float(self.weights().sum()) if self.roles.weight is not None else float(self.height)
        total = self.table.select(nw.col(self.roles.weight).cast(nw.Float64).sum())
        return float(frames.gather(total).item() or 0)

    def require(self, column: str) -> None:
        """Refuse a column that is not there."""
        if column not in self.columns:
            raise ColumnError(
                f"There is no column {column!r}.",
                allowed=join_names(self.columns),
                hint=did_you_mean(column, self.columns),
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
        roles = (f"  {name}: {join_names(self.roles.columns(Role(name)))}" for name in self.roles.as_dict())
        before = (f"  prepared {i}: {e.method}" for i, e in enumerate(self.prepared, 1))
        steps = (f"  step {i}: {e.method or 'changed'}" for i, e in enumerate(self.log, 1))
        warnings = (f"  warning: {text}" for text in self.warnings)
        return "\n".join([f"Microdata: {size}", *roles, *before, *steps, *warnings])

    def _repr_html_(self) -> str:
        """Size, roles, sum of the weights, steps and warnings; no value of any record."""
        size = f"{self.height:,} records × {len(self.columns)} columns ({self.engine})"
        roles = [(name, join_names(self.roles.columns(Role(name)), 12)) for name in self.roles.as_dict()]
        if self.roles.weight is not None:
            roles.append(("sum of weights", f"{self.weight_total():,.0f}"))
        parts = [
            paragraph(f"Microdata: {size}", strong=True),
            table(["role", "columns"], roles),
            bullets((entry.summary() for entry in self.prepared), "Prepared before"),
            bullets((f"step {i}: {entry.summary()}" for i, entry in enumerate(self.log, 1)), "Steps"),
            bullets(self.warnings, "Warnings"),
        ]
        return f"<div>{''.join(parts)}</div>"
