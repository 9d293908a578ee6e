"""In which order the rows of a file stand, and what it tells."""

from math import sqrt

import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.choose.row_agreement import SURE
from sdckit.data.microdata import Microdata
from sdckit.data.naming import FEWEST
from sdckit.kernels.hashing import distinct_rows

LARGEST = 2**62  # whole numbers that are safe in 64 bits
LAGS = range(1, 9)  # rows apart whose distances in the original are compared
REGULAR = 0.2  # share of pairs of rows that may be equally far apart: far above chance in all but tiny files,
FEWEST_ALIKE = 6  # pairs, which may be so by chance in files of some twenty rows
FEW_SURE = 3.0  # standard errors from a random order, in a handful of rows
MIN_HOMES = 10  # households, from which on their order is looked at, not that of their members


def told_by_order(data: Microdata) -> list[str]:
    """What the order of the rows of a file in memory tells: columns it follows, names dropped on reading."""
    found = [c for c in data.columns if data.column_fact("order", c, _follows)]
    return found + [f"{c} (dropped on reading)" for c in data.dropped]


def direct_that_tell(original: Microdata, rows: Ints) -> list[str]:
    """The direct identifiers of the original whose order such rows of it follow."""
    names = [c for c in original.roles.direct if c in original.columns]
    return [c for c in names if _follows(original.frame[c].gather(rows))]


def _follows(column: pl.Series) -> bool:
    """Whether neighbouring rows are more alike than by chance: the column is sorted, or in blocks."""
    if column.dtype.is_nested() or column.dtype == pl.Object:
        return False
    n = len(column)
    places = column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum, pl.Boolean) else column
    if n < 2 * FEWEST:  # too few for errors of means, so that it may simply be sorted
        known = places.drop_nulls()
        if known.n_unique() > 1 and (known.is_sorted() or known.is_sorted(descending=True)):
            return True
    if n < FEWEST:
        return False
    codes, counts, missing = _in_order(places)
    if len(counts) < 2:
        return False
    ranks = np.append(np.cumsum(counts) - (counts - 1) / 2, 0.0)[codes]
    spread = float(ranks.std())
    alike = float(np.corrcoef(ranks[:-1], ranks[1:])[0, 1]) if spread > 0 and n > 2 else 0.0
    chance = float(((np.append(counts, missing) / n) ** 2).sum())
    same = float((codes[:-1] == codes[1:]).mean())
    error = np.sqrt(max(chance * (1 - chance), 1e-12) / (n - 1))
    return bool(abs(alike) * np.sqrt(n - 1) > SURE or (same - chance) / error > SURE)


def _in_order(column: pl.Series) -> tuple[Ints, Ints, int]:
    """Codes 0, 1, … in the order of the values, the last where missing; counts; how many are missing."""
    present, missing = column.drop_nulls(), column.null_count()
    if column.dtype.is_integer() and len(present) and abs(present).max() < LARGEST:  # type: ignore[operator]
        ordered = distinct_rows([present.cast(pl.Int64).to_numpy()])[1]
    else:
        ordered = present.rank("dense").cast(pl.Int64).to_numpy() - 1
    counts = np.bincount(ordered)
    if not missing:
        return ordered, counts, 0
    codes = np.full(len(column), len(counts), dtype=np.int64)
    codes[column.is_not_null().to_numpy()] = ordered
    return codes, counts, missing


def is_random_order(rows: Ints, homes: Ints | None = None) -> bool:
    """Whether rows stand in an order that follows neither that of the original nor its reverse.

    Of two neighbours in random order the first comes first in the original half of the time, and hardly any
    two pairs of rows, neighbours or a few rows apart, are as far apart as each other: in halves that were
    put into each other like cards, or every seventh row in turn, most are.

    homes: a number for each row's household. Members who stand together always are few rows apart, in any
    order; then households must stand in random order, and the members of each.
    """
    places = rows.astype(np.int64)
    together = None if homes is None else _together(places, homes)
    return _is_random(places) if together is None else together


def _together(places: Ints, homes: Ints) -> bool | None:
    """Whether households, and members within them, are in random order; None where none stand together."""
    new = np.append([True], np.diff(homes) != 0)
    if int(new.sum()) != len(np.unique(homes)) or new.all() or int(new.sum()) < MIN_HOMES:
        return None
    first = np.minimum.reduceat(places, np.flatnonzero(new))
    rising = np.diff(places)[~new[1:]] > 0
    away = abs(float(rising.mean()) - 0.5)
    return _is_random(np.argsort(np.argsort(first))) and away <= SURE * 0.5 / sqrt(len(rising))


def _is_random(places: Ints) -> bool:
    """Whether numbers that are all different stand in random order."""
    n, rising = len(places), float((np.diff(places) > 0).mean())
    few = n <= FEWEST  # of these an order is suspected sooner: to shuffle it once more costs nothing
    error = (FEW_SURE if few else SURE) * np.sqrt((n + 1) / 12) / (n - 1)
    if rising == 1.0 or (rising == 0.0 and n > 3) or abs(rising - 0.5) > error:
        return False
    return few or all(
        _most_common(places[lag:] - places[:-lag]) <= max(REGULAR * (n - lag), FEWEST_ALIKE)
        for lag in LAGS
        if lag < n // 2
    )


def _most_common(steps: Ints) -> int:
    """How often the most frequent of some numbers is there."""
    return int(np.unique(steps, return_counts=True)[1].max())
