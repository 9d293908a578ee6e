"""Two files on top of each other: the distinct records, and how much of each file they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Codes, Floats, Ints
from sdckit._support.messages import join_names
from sdckit.data.common_columns import is_amount, is_continuous, lost_columns, role_variables
from sdckit.data.microdata import Microdata
from sdckit.data.values import in_one_column
from sdckit.errors import ColumnError, DataError

MOST_LEVELS = 200


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable over the distinct records: standardised `values` and `missing`, or `codes` < `levels`."""

    name: str
    values: Floats | None = None
    missing: Bools | None = None
    codes: Codes | None = None
    levels: int = 0


@dataclass(frozen=True, slots=True)
class Stack:
    """Both files as their distinct records, in an order that depends on the values alone.

    original, protected: the weight of a distinct record in each file; they add up to n and m.
    place, second, weight: for every record its distinct record, whether it is protected, and its weight.
    """

    variables: tuple[Variable, ...]
    original: Floats
    protected: Floats
    place: Ints
    second: Bools
    weight: Floats
    notes: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def share(self) -> float:
        """c, the share of protected records: m/(n+m)."""
        return float(self.second.mean())


def stacked(
    original: Microdata, protected: Microdata, variables: Sequence[str], *, ordered: bool = False
) -> Stack:
    """The two files stacked.

    Numeric are columns in the numeric role, columns with fractions that are not keys, dates, and number
    columns with more than 200 values. `ordered` is for who looks at the order of numbers, as trees and
    distances do: then more than 20 values without value labels are enough. Numbers are standardised over both
    files and missing values filled with the mean. All others are categorical over the categories of both
    files, missing a category; of more than 200 the 199 most frequent stay and the others are one. A variable
    that is numbers in one file and text in the other is left out with a note. Weights: each file's own,
    adding up to its number of records.
    """
    chosen = tuple(variables) or role_variables(original, protected)
    absent = [c for c in chosen if c not in protected.columns]
    if absent:
        raise ColumnError(
            f"The protected file has no column {absent[0]!r}.", allowed=join_names(protected.columns)
        )
    notes: list[str] = []
    raw = []
    lost = [*lost_columns(original, protected, variables or role_variables(original))]
    for name in chosen:
        both = in_one_column([original.frame[name], protected.frame[name]])
        if both is None:
            notes.append(f"{name} is coded differently in the two files and left out.")
            lost.append(name)
        else:
            text = isinstance(both.dtype, pl.Enum)
            raw.append(_raw(both.cast(pl.String) if text else both, original, notes, ordered=ordered))
    second = np.repeat([False, True], [original.height, protected.height])
    weight = np.concatenate([_to_count(original.weights()), _to_count(protected.weights())])
    keys = [k for v in raw for k in (v.values, v.missing, v.codes) if k is not None]
    order = np.lexsort([weight, second, *keys])
    starts = np.zeros(len(order), dtype=np.bool_)
    starts[0] = True
    for key in keys:
        starts[1:] |= key[order[1:]] != key[order[:-1]]
    second, weight, place = second[order], weight[order], np.cumsum(starts) - 1
    masses = [sums(place, weight * side) for side in (~second, second)]
    first = order[starts]
    done = tuple(_distinct(v, first, masses[0] + masses[1]) for v in raw)
    return Stack(done, masses[0], masses[1], place, second, weight, tuple(notes), tuple(lost))


def sums(places: Any, mass: Floats, size: int = 0) -> Floats:
    """The mass at each place."""
    return np.bincount(places, mass, size).astype(np.float64)


def _to_count(weights: Floats) -> Floats:
    return weights * (len(weights) / fsum(weights))


def _raw(both: pl.Series, data: Microdata, notes: list[str], *, ordered: bool) -> Variable:
    name = both.name
    if both.dtype.is_temporal():
        return _number(both.to_physical())
    levels = both.drop_nulls().n_unique()
    if both.dtype.is_numeric() and is_amount(data, name):
        return _number(both)
    many = levels > MOST_LEVELS or (ordered and is_continuous(data.frame[name], data))
    if both.dtype.is_numeric() and many:
        notes.append(f"{name} has {levels:,} values and is taken as numeric.")
        return _number(both)
    codes = both.rank("dense").fill_null(levels + 1).to_numpy().astype(np.int32) - 1
    levels += int(both.null_count() > 0)
    if levels > MOST_LEVELS:
        notes.append(
            f"{name} has {levels:,} categories: all but the {MOST_LEVELS - 1} most frequent are one."
        )
        ranked = np.argsort(-np.bincount(codes, minlength=levels), kind="stable")
        new = np.full(levels, MOST_LEVELS - 1, dtype=np.int32)
        new[ranked[: MOST_LEVELS - 1]] = np.arange(MOST_LEVELS - 1)
        codes, levels = new[codes], MOST_LEVELS
    return Variable(name, codes=codes, levels=levels)


def _number(both: pl.Series) -> Variable:
    missing = both.is_null().to_numpy()
    values = both.cast(pl.Float64).fill_null(0.0).to_numpy().copy()
    if not np.isfinite(values).all():
        raise DataError(f"Column {both.name!r} has infinite values.", allowed="finite numbers or missing")
    return Variable(both.name, values, missing if missing.any() else None)


def _distinct(v: Variable, first: Ints, mass: Floats) -> Variable:
    """The variable over the distinct records, numbers standardised."""
    if v.values is None:
        return Variable(v.name, codes=v.codes[first] if v.codes is not None else None, levels=v.levels)
    values = v.values[first]
    missing = None if v.missing is None else v.missing[first]
    there = np.ones(len(values), dtype=np.bool_) if missing is None else ~missing
    z = np.zeros(len(values))
    if there.any():
        low, high = values[there].min() / 2, values[there].max() / 2  # halves: no overflow
        if high > low:
            z[there] = (values[there] / 2 - low) / (high - low)
            w = mass[there] / mass[there].sum()
            z[there] -= np.sum(w * z[there])
            z[there] /= np.sqrt(np.sum(w * z[there] ** 2))
    return Variable(v.name, z, missing)
