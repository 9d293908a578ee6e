"""How a column enters a model: as numbers, or as categories that mean the same in every file."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit._support.messages import join_names
from sdckit.data.labels import Labels
from sdckit.data.microdata import Microdata
from sdckit.data.values import as_text, texts
from sdckit.engine import frames
from sdckit.errors import ColumnError, OptionError
from sdckit.estimate.categories import to_choose
from sdckit.estimate.midpoints import midpoints

MOST_LEVELS = 200
MOST_VALUES = 10_000  # different values of a category brought from an engine, intervals among them


class Reading(StrEnum):
    """What a column is in a model."""

    NUMBER = "number"
    MIDPOINT = "midpoint"  # of an interval
    CATEGORY = "category"
    OUTCOME = "outcome"  # one of two categories


class Asked(NamedTuple):
    """What a formula says of a column."""

    factor: bool  # it stands in C()
    response: bool  # it is the outcome as it stands
    binary: bool  # outcomes may be categories
    reference: str | None  # the category that was chosen


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a column of one file is read; `labels` stand for codes, `levels` are the categories in order."""

    reading: Reading
    levels: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)  # midpoints of intervals

    def values(self, series: pl.Series) -> Any:
        """Numbers with nan for missing, or pandas categories."""
        if self.reading is Reading.NUMBER:
            return _numbers(series)
        if self.reading is Reading.MIDPOINT:
            known = list(self.numbers), list(self.numbers.values())
            return _numbers(
                series.cast(pl.String).replace_strict(*known, default=None, return_dtype=pl.Float64)
            )
        codes = self._codes(series)
        if self.reading is Reading.OUTCOME:  # the second of two is 1
            return np.where(codes < 0, np.nan, codes.astype(np.float64))
        import pandas as pd

        return pd.Categorical.from_codes(codes, categories=list(self.levels))

    def _codes(self, series: pl.Series) -> Any:
        """[n] Places of the values among the levels, −1 for missing: made of the different values only."""
        distinct = series.drop_nulls().unique()
        codes = pl.Series(_codes(texts(distinct).replace(self.labels), self.levels), dtype=pl.Int64)
        if isinstance(series.dtype, pl.Enum | pl.Categorical) or not len(distinct):
            return _codes(texts(series).replace(self.labels), self.levels)
        found = series.replace_strict(distinct, codes, default=None, return_dtype=pl.Int64)
        return found.fill_null(-1).to_numpy()


def distinct_values(
    files: Sequence[Microdata], name: str, labels: Labels, *, factor: bool
) -> list[pl.Series]:
    """The column of every file; of files outside memory its different values, if they can be categories."""
    if all(data.engine == "polars" for data in files):
        return [data.frame[name] for data in files]
    numbers = all(frames.schema(data.frame)[name].is_numeric() for data in files)
    some = 1 if numbers and not factor and not labels.values.get(name) else MOST_VALUES + 1
    tables = [data.table.select(name) for data in files]
    found = [frames.gather((t.head(1) if some == 1 else t.unique()).head(some)) for t in tables]
    return [rows.to_series() for rows in found]


def aligned(
    name: str, values: Sequence[pl.Series], labels_of_file: Labels, asked: Asked, notes: list[str]
) -> list[Encoding]:
    """One column of every file, as numbers in all of them or as categories with the same levels in all.

    `values`: the different values of the column in each file, or all.
    """
    labels = _labels_of_all(name, values[0], labels_of_file)
    if not (asked.factor or labels) and values[0].dtype.is_numeric():
        if asked.reference is not None:
            raise OptionError(
                f"{name} holds numbers, which have no reference.",
                given=f"reference {asked.reference!r}",
                hint=f"Write C({name}) in the formula if its numbers are categories.",
            )
        found = _all_numbers(name, values, notes)
        if found is not None:
            return found
    levels = [list(dict.fromkeys(labels.get(level, level) for level in _levels(s))) for s in values]
    every = list(dict.fromkeys(level for some in levels for level in some))
    _check_number(name, len(every), asked)
    if asked.reference is not None:
        wanted = labels.get(asked.reference, asked.reference)
        kinds = [pl.String() if labels else s.dtype for s in values]
        _check_reference(name, wanted, levels[0], kinds)
        every.sort(key=lambda level: level != wanted)
    if asked.response:
        if values[0].dtype != pl.Boolean:
            notes.append(
                f"{name} counts as 1 where it is {every[1]} and as 0 where it is {every[0]}; the option "
                "reference names the category that is 0."
            )
        return [Encoding(Reading.OUTCOME, tuple(every), labels)] * len(values)
    every = _shared_first(name, every, levels, notes)
    return [Encoding(Reading.CATEGORY, tuple(every), labels)] * len(values)


def _labels_of_all(name: str, series: pl.Series, given: Labels) -> dict[str, str]:
    """The value labels of a column, where all its values have one; otherwise none.

    A merged category is text, and those left unmerged are known by their labels: all files go by label then.
    """
    labels = {as_text(k): text for k, text in given.values.get(name, {}).items()}
    return labels if all(as_text(v) in labels for v in series.drop_nulls().unique()) else {}


def _all_numbers(name: str, series: Sequence[pl.Series], notes: list[str]) -> list[Encoding] | None:
    """Numbers, and midpoints where a file has intervals; None where a file has other categories."""
    grouped = [s for s in series if not s.dtype.is_numeric()]
    if any(midpoints(_levels(s)) is None for s in grouped):
        notes.append(f"{name} is a number in the original and a category in the protected file.")
        return None
    if grouped:
        notes.append(f"{name} is in intervals in the protected file; their midpoints stand for them.")
    return [
        Encoding(Reading.NUMBER)
        if s.dtype.is_numeric()
        else Encoding(Reading.MIDPOINT, numbers=midpoints(_levels(s)) or {})
        for s in series
    ]


def _check_reference(name: str, wanted: str, levels: Sequence[str], kinds: Sequence[Any]) -> None:
    """Refuse a reference that the original does not have."""
    if wanted not in levels:
        allowed, hint = to_choose(wanted, levels, kinds)
        raise OptionError(
            f"The original has no category {wanted!r} of {name} to be the reference.",
            allowed=allowed,
            hint=hint,
        )


def _shared_first(
    name: str, every: Sequence[str], levels: Sequence[Sequence[str]], notes: list[str]
) -> list[str]:
    """The categories with the reference in front: the first one that all files have."""
    shared = [level for level in every if all(level in some for some in levels)]
    if shared and shared[0] != every[0]:
        notes.append(f"The reference of {name} is {shared[0]}: not all files have {every[0]}.")
    gone = [level for level in every if level not in shared]
    if gone:
        notes.append(f"Categories of {name} that not all files have: {join_names(gone, 6)}.")
    return list(dict.fromkeys([*shared[:1], *every]))


def _check_number(name: str, levels: int, asked: Asked) -> None:
    """Refuse a column with more categories than the model can have."""
    if asked.response and (not asked.binary or levels != 2):
        raise ColumnError(
            f"The outcome {name!r} is a category.",
            given=f"{levels} categories",
            allowed="numbers, or two categories with family='logit'",
        )
    if levels > MOST_LEVELS:
        raise OptionError(
            f"{name} has too many categories for a regression.", given=levels, allowed=MOST_LEVELS
        )


def _levels(series: pl.Series) -> list[str]:
    """The categories that occur, in order, as text."""
    present = series.drop_nulls().unique()
    if isinstance(series.dtype, pl.Enum):
        there = set(present.cast(pl.String))
        return [c for c in series.dtype.categories if c in there]
    if not series.dtype.is_numeric():
        return sorted(present.cast(pl.String))
    return texts(present.sort()).to_list()


def _numbers(series: pl.Series) -> Floats:
    return np.asarray(series.cast(pl.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)


def _codes(series: pl.Series, levels: Sequence[str]) -> Any:
    place = {level: i for i, level in enumerate(levels)}
    codes = texts(series).replace_strict(
        list(place), list(place.values()), default=None, return_dtype=pl.Int64
    )
    return codes.fill_null(-1).to_numpy()
