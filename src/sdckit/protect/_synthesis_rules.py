"""What must hold of a synthetic file: rules, requirements, computed columns, and pairs that never occur.

Conditions are SQL expressions of columns. They are parsed by Polars and never evaluated as Python.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import BaseModel, ConfigDict

from sdckit._support.arrays import Bools, Codes
from sdckit._support.messages import did_you_mean, join_names
from sdckit.data.key_cells import combinations_of
from sdckit.data.microdata import Microdata
from sdckit.engine.tables import RECORDS
from sdckit.errors import ColumnError, DataError, OptionError, preview
from sdckit.models.column_codes import ColumnCodes
from sdckit.protect._synthesis_draft import Draft
from sdckit.protect._synthesis_level import Check

EXPECTED = 5  # records that a pair of categories would have by chance, so that its absence means something
MIXING = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no information is lost
MOST_LEVELS = 100  # of a column whose pairs are looked at


Hashes = npt.NDArray[np.uint64]


class Rule(BaseModel):
    """Records for which `when` holds get the values in `then`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    when: str
    then: dict[str, str | int | float | bool | None]


def parsed(text: str, data: Microdata, option: str) -> pl.Expr:
    """An SQL expression of columns of the data."""
    try:
        expression = pl.sql_expr(text)
        names = expression.meta.root_names()
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise OptionError(
            f"An expression in {option} cannot be read.",
            given=preview(text),
            allowed="an SQL expression of columns: age < 15 AND sex = 'f'",
            hint=str(error).split("\n")[0],
        ) from None
    if not names:
        raise OptionError(f"An expression in {option} names no column.", given=preview(text))
    for name in names:
        if name not in data.columns:
            raise ColumnError(
                f"There is no column {name!r}, which an expression in {option} names.",
                given=preview(text),
                allowed=join_names(data.columns),
                hint=did_you_mean(name, data.columns),
            )
        if name in (data.roles.id, *data.roles.direct):
            raise ColumnError(
                f"An expression in {option} uses a column that names records.", given=preview(text)
            )
    return expression


def holds(expression: pl.Expr, frame: pl.DataFrame, text: str, option: str, *, unknown: bool) -> Bools:
    """For which records a condition holds; `unknown` where it is neither true nor false."""
    try:
        found = frame.select(expression.alias("holds")).to_series()
    except pl.exceptions.PolarsError as error:
        hint = str(error).split("\n")[0]
        raise OptionError(f"An expression in {option} fails.", given=preview(text), hint=hint) from None
    if found.dtype != pl.Boolean or len(found) != frame.height:
        raise OptionError(
            f"An expression in {option} is not true or false.", given=preview(text), allowed="age < 15"
        )
    return np.asarray(found.fill_null(unknown).to_numpy(), dtype=bool)


class Rules:
    """Rules by the variable whose values they give."""

    def __init__(self, data: Microdata, rules: Sequence[Rule]) -> None:
        self._original = data.frame
        self._rules: dict[str, list[tuple[str, pl.Expr, Any]]] = {}
        for rule in rules:
            expression = parsed(rule.when, data, "rules")
            for name, value in rule.then.items():
                data.require(name)
                if value is not None and _as(value, data.frame[name]).is_null()[0]:
                    raise OptionError(
                        f"A rule gives {name!r} a value it cannot hold.",
                        given=preview(value),
                        allowed=str(data.frame.schema[name]),
                    )
                self._rules.setdefault(name, []).append((rule.when, expression, value))

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables with rules."""
        return tuple(self._rules)

    def conditions(self) -> dict[str, list[str]]:
        """The columns that the rules of each variable ask about."""
        return {c: [n for _, e, _ in rules for n in e.meta.root_names()] for c, rules in self._rules.items()}

    def free(self, name: str, rows: Codes) -> Bools | None:
        """The records of the original that take part in the trees of a variable; None where all do."""
        bound = np.zeros(len(rows), dtype=bool)
        for text, expression, _ in self._rules.get(name, ()):
            frame = self._original.select(set(expression.meta.root_names()))
            bound |= holds(expression, frame, text, "rules", unknown=False)[rows]
        return None if not bound.any() or bound.all() else ~bound

    def give(self, name: str, draft: Draft) -> tuple[Bools, list[tuple[Bools, object]]]:
        """Which records get their value from a rule, the first that applies, and values no donor has."""
        bound = np.zeros(draft.size, dtype=bool)
        new: list[tuple[Bools, object]] = []
        for text, expression, value in self._rules.get(name, ()):
            frame = draft.frame(expression.meta.root_names())
            mask = holds(expression, frame, text, "rules", unknown=False) & ~bound
            bound |= mask
            column = self._original[name]
            same = column.is_null() if value is None else (column == _as(value, column)[0]).fill_null(False)
            donor = same.arg_max() if same.any() else None
            rows = np.flatnonzero(mask)
            numbers = np.full(len(rows), np.nan) if name in draft.numbers else None
            draft.put(name, rows, np.full(len(rows), donor or 0, dtype=np.int32), numbers)
            if donor is None:
                new.append((mask, value))
        return bound, new


def _as(value: Any, column: pl.Series) -> pl.Series:
    """A value in the type of a column, missing where it has none."""
    try:
        return pl.Series([value]).cast(column.dtype, strict=False)
    except pl.exceptions.PolarsError:
        return pl.Series([None], dtype=column.dtype)


def requirements(
    data: Microdata, require: Sequence[str], order: Sequence[str], derive: Mapping[str, pl.Expr]
) -> list[Check]:
    """What is asked of every record, checked after the last of its variables is drawn."""
    checks = []
    for text in require:
        expression = parsed(text, data, "require")
        holds(expression, data.frame, text, "require", unknown=True)
        names = expression.meta.root_names()
        asked = {n for c in names for n in ([c] if c not in derive else derive[c].meta.root_names())}
        drawn = [c for c in order if c in asked]
        if not drawn:
            raise OptionError(
                "require names no column that is drawn.", given=preview(text), allowed=join_names(order)
            )

        def broken(
            draft: Draft, e: pl.Expr = expression, names: list[str] = names, text: str = text
        ) -> Bools:
            return ~holds(e, draft.frame(names), text, "require", unknown=True)

        checks.append(Check(drawn[-1], broken, strict=True, text=text, kind="by_requirements"))
    return checks


def absent_pairs(
    coding: Mapping[str, ColumnCodes], known: Sequence[str], order: Sequence[str], rows: Codes
) -> list[Check]:
    """Pairs of categories that never occur although at least five records are expected: one check a variable.

    known: columns that stay, of which pairs with those drawn are looked at.
    """
    checks = []
    columns = [c for c in (*known, *order) if not coding[c].is_number and coding[c].levels <= MOST_LEVELS]
    for place, name in enumerate(columns):
        if name not in order:
            continue
        tables = {}
        mine = coding[name]
        for other in columns[:place]:
            theirs = coding[other]
            cell = theirs.classes[rows].astype(np.int64) * mine.levels + mine.classes[rows]
            count = np.bincount(cell, minlength=theirs.levels * mine.levels).reshape(theirs.levels, -1)
            expected = count.sum(axis=1, keepdims=True) * count.sum(axis=0, keepdims=True) / len(rows)
            absent = (count == 0) & (expected >= EXPECTED)
            if absent.any():
                tables[other] = absent
        if tables:
            checks.append(_pairs_check(name, tables, coding))
    return checks


def _pairs_check(name: str, tables: Mapping[str, Bools], coding: Mapping[str, ColumnCodes]) -> Check:
    levels = coding[name].levels
    flat = {other: absent.ravel() for other, absent in tables.items()}

    def broken(draft: Draft) -> Bools:
        found = np.zeros(draft.size, dtype=bool)
        mine = coding[name].classes.take(draft.donors[name])
        for other, absent in flat.items():
            if other in draft.donors:
                theirs = coding[other].classes.take(draft.donors[other])
                found |= absent.take(theirs * np.int32(levels) + mine)
        return found

    pairs = sum(int(absent.sum()) for absent in tables.values())
    return Check(name, broken, strict=False, text=str(pairs), kind="by_absent_pairs")


def unique_keys(data: Microdata, keys: Sequence[str]) -> Hashes:
    """Numbers for the combinations of keys that one record of a file has, on any engine."""
    cells = combinations_of(data, keys)
    return _hashed(cells.filter(pl.col(RECORDS) == 1).select(keys))


def copied_uniques(unique: Hashes, keys: Sequence[str], order: Sequence[str]) -> list[Check]:
    """Synthetic records that are equal in all keys to an original that is unique on them."""
    drawn = [c for c in order if c in keys]
    if not drawn:
        return []

    def broken(draft: Draft) -> Bools:
        return np.isin(_hashed(draft.frame(list(keys))), unique)

    return [Check(drawn[-1], broken, strict=False, text="", kind="as_copies")]


def _hashed(keys: pl.DataFrame) -> Hashes:
    """One number for the keys of each record; equal keys give equal ones, whatever their type."""
    total = np.zeros(keys.height, dtype=np.uint64)
    for column in keys:
        if column.dtype.is_numeric() or column.dtype.is_temporal():
            values = column.to_physical().cast(pl.Float64).fill_null(np.inf).to_numpy()
            part = (values + 0.0).view(np.uint64)
        else:
            part = column.cast(pl.String).hash(0).to_numpy()
        total = (total ^ part) * MIXING
        total ^= total >> np.uint64(29)
    return total


def refuse_breaches(broken: Mapping[str, int]) -> None:
    """An error that says which requirements could not be met, and by how many records."""
    if broken:
        told = [f"{preview(text)}: {left:,} records" for text, left in broken.items()]
        raise DataError(
            "Some requirements could not be met, even with donors from the whole file.",
            given="; ".join(told),
            hint="Look whether the original meets them; draw a column later (order), or use rules or derive.",
        )
