"""A synthetic file while it is made: for every column the donors, and the numbers that differ from theirs."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Codes, Floats, Ints
from sdckit.engine.tables import OURS
from sdckit.errors import OptionError, preview
from sdckit.models.column_codes import ColumnCodes

DAY = 24 * 3_600 * 10**9  # nanoseconds


@dataclass(slots=True)
class Draft:
    """k records. donors: rows of the original by column. numbers: by column, nan where the donor's is taken.

    given: values that a rule gives to some records; expressions: columns that are computed of others.
    """

    original: pl.DataFrame
    size: int
    donors: dict[str, Codes] = field(default_factory=dict)
    numbers: dict[str, Floats] = field(default_factory=dict)
    given: dict[str, list[tuple[Bools, Any]]] = field(default_factory=dict)
    expressions: dict[str, pl.Expr] = field(default_factory=dict)

    def put(self, name: str, rows: Ints, donors: Codes, numbers: Floats | None) -> None:
        """Donors of a column for these records, and their numbers where it has any."""
        if name not in self.donors:
            self.donors[name] = np.zeros(self.size, dtype=np.int32)
        self.donors[name][rows] = donors
        if numbers is not None:
            if name not in self.numbers:
                self.numbers[name] = np.full(self.size, np.nan)
            self.numbers[name][rows] = numbers

    def take(self, other: "Draft", rows: Ints) -> None:
        """All columns of a draft of some records, for these records of this one."""
        for name, donors in other.donors.items():
            self.put(name, rows, donors, other.numbers.get(name))
        for name, given in other.given.items():
            for mask, value in given:
                mine = np.zeros(self.size, dtype=bool)
                mine[rows[mask]] = True
                self.given.setdefault(name, []).append((mine, value))

    def some(self, rows: Ints) -> "Draft":
        """A draft of these records."""
        given = {c: [(mask[rows], value) for mask, value in all_] for c, all_ in self.given.items()}
        return Draft(
            self.original,
            len(rows),
            {c: donors[rows] for c, donors in self.donors.items()},
            {c: numbers[rows] for c, numbers in self.numbers.items()},
            given,
            self.expressions,
        )

    def only(self, names: Collection[str]) -> "Draft":
        """A draft of these columns."""
        return Draft(
            self.original,
            self.size,
            {c: donors for c, donors in self.donors.items() if c in names},
            {c: numbers for c, numbers in self.numbers.items() if c in names},
            {c: given for c, given in self.given.items() if c in names},
            self.expressions,
        )

    def column(self, name: str) -> pl.Series:
        """The values of a column."""
        if name in self.expressions:
            return self.computed(name)
        column = self.original[name][self.donors[name]]
        if name in self.numbers:
            column = _with_numbers(column, self.numbers[name])
        for mask, value in self.given.get(name, ()):
            same = pl.Series([value], dtype=column.dtype, strict=False).new_from_index(0, len(column))
            column = pl.select(pl.when(pl.Series(mask)).then(same).otherwise(column)).to_series()
        return column.alias(name)

    def computed(self, name: str) -> pl.Series:
        """A column that is computed of others, in the type of the original's."""
        expression = self.expressions[name]
        found = computed_values(expression, self.frame(expression.meta.root_names()), name).alias(name)
        kind = self.original.schema[name]
        if kind.is_integer() and found.dtype.is_float():
            found = found.round(0)
        return found.cast(kind, strict=False)

    def frame(self, names: list[str]) -> pl.DataFrame:
        """Some columns as a table, each once: an expression may name a column several times."""
        return pl.DataFrame([self.column(c) for c in dict.fromkeys(names)])

    def codes(self, name: str, coding: ColumnCodes) -> np.ndarray[Any, np.dtype[np.uint16]]:
        """The codes of a column, as its donors have them."""
        return coding.codes[self.donors[name]]


def computed_values(expression: pl.Expr, frame: pl.DataFrame, said: str) -> pl.Series:
    """What is computed of each record of a table; an expression that fails, or is no column, is refused."""
    try:
        found = frame.select(expression.alias(OURS)).to_series()
    except pl.exceptions.PolarsError as error:
        hint = str(error).split("\n")[0]
        raise OptionError("An expression in derive fails.", given=preview(said), hint=hint) from None
    if len(found) != frame.height:
        raise OptionError(
            "An expression in derive gives one value for the whole file, and none for each record.",
            given=preview(said),
        )
    return found


def _with_numbers(column: pl.Series, numbers: Floats) -> pl.Series:
    """The column with these numbers where they are not nan, in its own type."""
    new = pl.Series(numbers).fill_nan(None)
    kind = column.dtype
    if kind.is_integer() or kind.is_temporal():
        whole = new.round(0)
        if kind.is_integer():
            bounds = np.iinfo(pl.Series([], dtype=kind).to_numpy().dtype)
            whole = whole.clip(float(bounds.min), float(bounds.max))
        elif kind == pl.Time:
            whole = whole.clip(0, DAY - 1)
        new = whole.cast(column.to_physical().dtype, strict=False).cast(kind)
    else:
        new = new.cast(kind, strict=False)
    return pl.select(pl.coalesce(new, column)).to_series()
