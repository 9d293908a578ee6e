"""Counts of true and released key combinations, delivered by DuckDB or Spark."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import PROTECTED, linkage_problem, match_records
from sdckit.engine import tables
from sdckit.errors import DataError
from sdckit.methods.recoding import apply_same_recoding
from sdckit.models.category_channel import CategoryChannel
from sdckit.models.key_pairs import KeyPairs
from sdckit.risk._kept_parts import with_kept_parts
from sdckit.risk._known_values import CountedPairs, KnownKeys, LinkedFiles, changed_like_numbers, coded

IN_FILE = f"{tables.OURS}in_file"
PERSONS = 100_000  # by whom is seen whether keys moved in a way that tells more


@dataclass(frozen=True, eq=False)
class EnginePairs:
    """Pairs of key combinations with the number of persons they stand for, and how keys were changed."""

    keys: tuple[str, ...]
    pairs: KeyPairs
    channels: tuple[CategoryChannel, ...]
    some_persons: Callable[[], LinkedFiles]  # both files in memory, with the keys of some persons

    @property
    def tells_more(self) -> bool:
        """Whether keys moved so that where they went tells more than how often: to numbers nearby, in blocks.

        Such keys are attacked record by record.
        """
        if not any(channel.moves or not channel.learnable for channel in self.channels):
            return False
        files = self.some_persons()
        known = KnownKeys.of(files, self.keys)
        counted = CountedPairs.of(files, known)
        nearby = changed_like_numbers(files, known, counted)
        return bool(nearby) or with_kept_parts(files, known, counted) is not None


def engine_pairs(original: Microdata, protected: Microdata, keys: Sequence[str]) -> EnginePairs | None:
    """The pairs of two files that stay out of memory; None where no id links their records.

    One join by id and one group-by on the engine; only distinct pairs come into memory.
    """
    name, weight = original.roles.id, original.roles.weight
    if name is None or name not in protected.columns:
        return None
    if not (original.is_unique(name) and protected.is_unique(name)):
        return None
    shown = [k for k in keys if k in protected.columns and k != name]
    if original.height == protected.height:
        if linkage_problem(original, protected):
            return None
        try:
            both = match_records(original, protected, shown).with_columns(nw.lit(1).alias(IN_FILE))
        except DataError:  # other ids
            return None
    else:  # some persons may have no record
        left = original.table.select(name, *dict.fromkeys([*shown, *([] if weight is None else [weight])]))
        right = protected.table.select(name, *shown).rename({k: k + PROTECTED for k in shown})
        both = left.join(right.with_columns(nw.lit(1).alias(IN_FILE)), on=name, how="left")
    table = tables.count_cells(both, [*shown, *(k + PROTECTED for k in shown), IN_FILE], weight)
    kept = table[IN_FILE].is_not_null().to_numpy()
    if int(table[tables.RECORDS].filter(kept).sum()) != protected.height:
        return None  # some released records belong to nobody
    alike = _recoded(original, protected, table.select(shown))
    columns = [coded(table[k], table[k + PROTECTED], alike[k]) for k in shown]
    counts, sums = (table[c].to_numpy().astype(np.float64) for c in (tables.RECORDS, tables.WEIGHT_SUM))
    weights = None if weight is None else np.where(kept, sums * (sums.sum() / sums[kept].sum()), 0.0)
    sizes = tuple(c[2] for c in columns)
    pairs = KeyPairs(_side(columns, 0, table), _side(columns, 1, table), sizes, counts, weights, kept)
    some = table.filter(kept).select(*shown, *(k + PROTECTED for k in shown), tables.RECORDS)
    channels = pairs.channels([c[3] for c in columns])
    return EnginePairs(tuple(shown), pairs, channels, partial(_some_persons, original, protected, some))


def _side(columns: Sequence[tuple[Ints, Ints, int, Ints | None]], which: int, table: pl.DataFrame) -> Ints:
    if not columns:
        return np.empty((table.height, 0), dtype=np.int64)
    return np.column_stack([np.asarray(column[which]) for column in columns])


def _recoded(original: Microdata, protected: Microdata, table: pl.DataFrame) -> pl.DataFrame:
    """The true values of the pairs in the released categories, as far as the log knows them."""
    if not table.width:
        return table
    alike, _ = apply_same_recoding(_in_memory(original, table), protected, table.columns)
    return pl.DataFrame(alike.frame)


def _some_persons(original: Microdata, protected: Microdata, cells: pl.DataFrame) -> LinkedFiles:
    """Both files with the keys of some persons in memory, of each pair in proportion.

    cells: the true keys, the released ones behind them, and the number of persons with a record.
    """
    *names, records = cells.columns
    n = len(names) // 2
    cells = cells.sort(names, nulls_last=True)
    last = cells[records].cum_sum().to_numpy()
    persons = min(int(last[-1]), PERSONS)
    places = ((np.arange(persons) + 0.5) * (last[-1] / persons)).astype(np.int64)
    some = cells[np.searchsorted(last, places, side="right")]
    shown = some.select(pl.col(names[n:]).name.map(lambda name: name.removesuffix(PROTECTED)))
    files = [_in_memory(original, some.select(names[:n])), _in_memory(protected, shown)]
    return LinkedFiles(files[0], files[1], np.arange(persons))


def _in_memory(data: Microdata, frame: pl.DataFrame) -> Microdata:
    """Some records of a file."""
    return replace(Microdata.of(frame, labels=data.labels), log=data.log)
