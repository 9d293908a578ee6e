"""Where small cells come from: for each code of each key, the records and combinations below k."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools
from sdckit.data.key_cells import KeyCells
from sdckit.data.values import texts

COLUMNS = {
    "size": pl.Int64,
    "variable": pl.String,
    "code": pl.String,
    "records": pl.Int64,
    "violations": pl.Int64,
    "combinations": pl.Int64,
}


def codes_below_k(
    cells: KeyCells,
    subsets: Sequence[tuple[str, ...]],
    below: Sequence[Bools],
    small: Sequence[KeyCells],
    k: int,
) -> pl.DataFrame:
    """One row for each number of keys (size), key and code that occurs.

    records: all with this code. violations: those among them that are in a cell below k of any subset of this
    size with the key in it. combinations: the cells below k of these subsets that have the code. A missing
    key is the code null.

    cells: of all keys. below: for each subset which of these are below k. small: the cells of the subset.
    """
    found = []
    for size in sorted({len(subset) for subset in subsets}):
        for key in dict.fromkeys(c for s in subsets if len(s) == size for c in s):
            at = [i for i, s in enumerate(subsets) if len(s) == size and key in s]
            hit = np.any([below[i] for i in at], axis=0)
            counted = _by_code(
                cells.combinations[key], records=cells.records, violations=np.where(hit, cells.records, 0)
            )
            rare = [_rare(small[i], subsets[i], k, key) for i in at]
            added = pl.concat(rare).group_by("code").agg(pl.col("combinations").sum())
            rows = counted.join(added, on="code", how="left", nulls_equal=True)
            rows = rows.with_columns(pl.col("combinations").fill_null(0)).sort("code", nulls_last=True)
            found.append(rows.with_columns(size=pl.lit(size), variable=pl.lit(key)))
    return pl.concat([rows.select(pl.col(n).cast(t) for n, t in COLUMNS.items()) for rows in found])


def _rare(cells: KeyCells, keys: tuple[str, ...], k: int, key: str) -> pl.DataFrame:
    """The combinations below k for each code of a key; cells that only their weights keep apart are one."""
    combinations = cells.combinations.filter(pl.Series(cells.sample < k)).select(keys).unique()
    return _by_code(combinations[key], combinations=np.ones(combinations.height))


def _by_code(codes: pl.Series, **counts: object) -> pl.DataFrame:
    """Counts added up for each code of a key."""
    table = pl.DataFrame({"code": texts(codes), **counts})
    return table.group_by("code").agg(pl.col(name).cast(pl.Int64).sum() for name in counts)
