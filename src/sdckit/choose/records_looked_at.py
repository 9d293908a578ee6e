"""The records that a description looks at: all of a file in memory, a sample of one that stays outside."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import polars as pl

from sdckit.data.files_unchanged import require_unchanged
from sdckit.data.keyed_sample import DRAWN, SEED
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random
from sdckit.engine.tables import native_module

MOST = 200_000  # records of a sample, about; files with fewer are looked at whole
FEW = 0.005  # share of the sample with a value: where it is less, values are looked for in the whole file


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
    rare = [_with_rare_values(data, sample[c]) for c in data.columns if missing[c] < data.height]
    require_unchanged([data])
    return RecordsLookedAt(sample.with_columns(rare), missing, data.height)


def _sample(data: Microdata, share: float) -> pl.DataFrame:
    id = data.roles.id
    if id is None:
        return frames.collect(native_module(data.table).sample_rows(data.frame, share))
    drawn = random.uniform(data.table, id=id, seed=SEED, step=0, name=DRAWN)
    return frames.gather(drawn.filter(nw.col(DRAWN) <= share).select(*data.columns))


def _with_rare_values(data: Microdata, sample: pl.Series) -> pl.Series:
    """The values of a column in the sample, a part of them exchanged for rare ones if it has hardly any."""
    there, name = sample.drop_nulls(), sample.name
    if sample.dtype.is_nested():
        return sample
    usual: Any = None
    wanted = ~nw.col(name).is_null()
    if len(there) >= FEW * len(sample):
        comparable = sample.dtype.is_numeric() or sample.dtype in (pl.String, pl.Boolean, pl.Date)
        if not comparable or there.n_unique() > 1:
            return sample
        usual = there[0]
        wanted = wanted & (nw.col(name) != usual)
    rare = frames.gather(data.table.select(name).filter(wanted).head(len(sample) // 3))[name]
    rest = pl.Series(name, [usual], dtype=sample.dtype).new_from_index(0, len(sample) - len(rare))
    return pl.concat([rare.cast(sample.dtype), rest]) if len(rare) else sample
