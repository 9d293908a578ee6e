"""Counts of true and released key combinations, delivered by DuckDB or Spark."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from sdckit.risk._known_values import coded

IN_FILE = f"{tables.OURS}in_file"


@dataclass(frozen=True, eq=False)
class EnginePairs:
    """Pairs of key combinations with the number of persons they stand for, and how keys were changed."""

    keys: tuple[str, ...]
    pairs: KeyPairs
    channels: tuple[CategoryChannel, ...]


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
    return EnginePairs(tuple(shown), pairs, pairs.channels([c[3] for c in columns]))


def _side(columns: Sequence[tuple[Ints, Ints, int, Ints | None]], which: int, table: pl.DataFrame) -> Ints:
    if not columns:
        return np.empty((table.height, 0), dtype=np.int64)
    return np.column_stack([np.asarray(column[which]) for column in columns])


def _recoded(original: Microdata, protected: Microdata, table: pl.DataFrame) -> pl.DataFrame:
    """The true values of the pairs in the released categories, as far as the log knows them."""
    small = replace(Microdata.of(table, labels=original.labels), log=original.log) if table.width else None
    if small is None:
        return table
    alike, _ = apply_same_recoding(small, protected, table.columns)
    return pl.DataFrame(alike.frame)
