"""The records that a description looks at: all of a file in memory, a sample of one that stays outside."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import polars as pl

from sdckit.data.files_unchanged import require_unchanged
from sdckit.data.keyed_sample import DRAWN, SEED
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random, tables
from sdckit.engine.tables import native_module

MOST = 200_000  # records of a sample, about; files with fewer are looked at whole
FEW = 0.005  # share of the sample with a value: where it is less, values are looked for in the whole file
PART = 3  # of the sample at most every third value is exchanged for a rare one


@dataclass(frozen=True, slots=True)
class RecordsLookedAt:
    """A table in memory, how many values of each column are missing in the whole file, and its records."""

    frame: pl.DataFrame
    missing: Mapping[str, int]
    records: int

    @property
    def is_sample(self) -> bool:
        """Whether there are records that nobody looked at."""
        return self.frame.height != self.records


def records_looked_at(data: Microdata) -> RecordsLookedAt:
    """What a description looks at, and what the engine counts of all records.

    A sample is drawn by the ids, and is then the same each time; without the role id it is the engine's own.
    A column that has hardly any values in it, or one and the same, is shown with others that the file has:
    a remark that one record in a million has is still a remark.
    """
    if data.engine == "polars" or data.height <= MOST:
        frame = data.collect().frame
        return RecordsLookedAt(frame, {c: frame[c].null_count() for c in frame.columns}, frame.height)
    missing = frames.missing_values(data.frame, data.columns)
    sample = _sample(data, MOST / data.height)
    present = {c: data.height - missing[c] for c in data.columns}
    sought = {c: rare for c in data.columns if (rare := _rare_values(sample[c], present[c])) is not None}
    found = tables.values_where(data.table, {c: rare.wanted for c, rare in sought.items()})
    shown = [_with_rare_values(sample[c], found[c], rare.usual) for c, rare in sought.items()]
    require_unchanged([data])
    return RecordsLookedAt(sample.with_columns(shown), missing, data.height)


def _sample(data: Microdata, share: float) -> pl.DataFrame:
    id = data.roles.id
    if id is None:
        return frames.collect(native_module(data.table).sample_rows(data.frame, share))
    drawn = random.uniform(data.table, id=id, seed=SEED, step=0, name=DRAWN)
    return frames.gather(drawn.filter(nw.col(DRAWN) <= share).select(*data.columns))


class _RareValues(NamedTuple):
    """Values that few records have: which they are, and what all others have instead."""

    wanted: nw.Expr
    usual: Any


def _rare_values(sample: pl.Series, present: int) -> _RareValues | None:
    """What to look for in the whole file where a column has hardly any values in the sample, or only one."""
    there, column = sample.drop_nulls(), nw.col(sample.name)
    if not present or sample.dtype.is_nested():
        return None
    if len(there) < FEW * len(sample) and present <= len(sample) // PART:
        return _RareValues(~column.is_null(), None)
    comparable = sample.dtype.is_numeric() or sample.dtype in (pl.String, pl.Boolean, pl.Date)
    if comparable and there.n_unique() == 1:
        return _RareValues(column != there[0], there[0])
    return None


def _with_rare_values(sample: pl.Series, rare: pl.Series, usual: Any) -> pl.Series:
    """A column of the sample, a part of it exchanged for the rare values that the file has."""
    rare = rare.head(len(sample) // PART).cast(sample.dtype)
    rest = pl.Series(sample.name, [usual], dtype=sample.dtype).new_from_index(0, len(sample) - len(rare))
    return pl.concat([rare, rest]) if len(rare) else sample
