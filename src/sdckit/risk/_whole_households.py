"""Files of new records: whether whole households come back, known by the composition of their members."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.risk._in_some_columns import InSomeColumns

Codes = npt.NDArray[np.uint64]

HOW = "as whole households"
ERRORS = 3.0  # standard errors that the excess must be above 0: the best of many sets of columns is taken
CLASSES = 5  # of a number, in which a household is still known where its numbers have noise
FEWEST = 20  # households, below which nothing can be said


@dataclass(frozen=True, eq=False)
class Homes:
    """The household of each record, 0, 1, …, in the original, the released file and people held back."""

    people: Ints
    records: Ints
    others: Ints  # none where nobody was held back, or without their households

    @classmethod
    def of(cls, frames: Sequence[pl.DataFrame], names: Sequence[str | None]) -> "Homes | None":
        """From the columns with the household of each file; None where original or release has none."""
        found = [
            _numbers(frame[name]) if name is not None and name in frame.columns else None
            for frame, name in zip(frames, names, strict=True)
        ]
        if found[0] is None or found[1] is None:
            return None
        others = found[2] if len(found) > 2 else None
        return cls(found[0], found[1], np.empty(0, dtype=np.int64) if others is None else others)


def whole_households(
    people: Floats, records: Floats, others: Floats, nominal: Bools, names: Sequence[str], homes: Homes | None
) -> InSomeColumns:
    """How many more persons than others live in a household whose composition is one of a kind and released.

    A composition is what all members are, in whatever order. The columns are those with which most come back:
    one after another, numbers as they are or in classes. Persons who are common one by one are known by whom
    they live with. Without others the compositions that two households share tell how many come by chance.
    """
    if homes is None or not people.shape[1] or homes.people.max(initial=0) + 1 < FEWEST:
        return InSomeColumns(0.0, (), HOW)
    columns, labels = [], []
    for place, name in enumerate(names):
        sides = [table[:, place] for table in (people, records, others)]
        columns.append([_coded(side) for side in sides])
        labels.append(name)
        if not nominal[place]:
            columns.append([_coded(np.floor(side * CLASSES)) for side in sides])
            labels.append(name)
    used: list[int] = []
    chosen: tuple[str, ...] = ()
    best, surely = -1.0, 0.0
    while len(used) < len(columns):
        tried = {
            c: _excess([columns[k] for k in (*used, c)], homes) for c in range(len(columns)) if c not in used
        }
        column = max(tried, key=lambda c: tried[c][0])
        if tried[column][0] <= best:
            break
        used, best = [*used, column], tried[column][0]
        if best - tried[column][1] > surely:
            surely, chosen = best - tried[column][1], tuple(dict.fromkeys(labels[k] for k in sorted(used)))
    return InSomeColumns(surely, chosen, HOW)


def _excess(columns: Sequence[Sequence[Codes]], homes: Homes) -> tuple[float, float]:
    """How many more persons than others come back in a household of their own kind, and its error."""
    mine, size = _compositions([c[0] for c in columns], homes.people)
    released, _ = _compositions([c[1] for c in columns], homes.records)
    _, group, count = np.unique(mine, return_inverse=True, return_counts=True)
    alike = count[group.ravel()]
    back = (np.isin(mine, released) & (alike == 1)).astype(np.float64)
    if len(homes.others):
        theirs, their_size = _compositions([c[2] for c in columns], homes.others)
        by_chance = (np.isin(theirs, released) & ~np.isin(theirs, mine)).astype(np.float64)
    else:
        by_chance, their_size = _expected_again(alike), size
    (share, error), (chance, chance_error) = (
        _of_persons(found, persons) for found, persons in ((back, size), (by_chance, their_size))
    )
    return share - max(chance, 0.0), ERRORS * sqrt(error**2 + 2 * chance_error**2)


def _expected_again(alike: Ints) -> Floats:
    """Scores whose sum is the number of households one of a kind that another such file would have again.

    With f_k the compositions of k households it is 2·f₂ − 3·f₃ + 4·f₄ − … (Good & Toulmin 1956), here up to
    f₃, the last term half, as Euler sums alternating series: a little too much rather than too little.
    """
    return np.where(alike == 2, 1.0, np.where(alike == 3, -0.5, 0.0))


def _of_persons(score: Floats, size: Floats) -> tuple[float, float]:
    """The share of persons in these households, and its standard error: households come back whole."""
    share = float((score * size).sum() / size.sum())
    return share, float(np.sqrt((((score - share) * size) ** 2).sum()) / size.sum())


def _compositions(columns: Sequence[Codes], home: Ints) -> tuple[Codes, Floats]:
    """A number for what the members of each household are together, and how many they are.

    Members are added up, each as a number without order, so that their order does not matter.
    """
    row = np.zeros(len(home), dtype=np.uint64)
    for column in columns:
        row = _mixed(row ^ column)
    order = np.argsort(home, kind="stable")
    starts = np.flatnonzero(np.diff(home[order], prepend=-1))
    return np.add.reduceat(row[order], starts), np.diff(starts, append=len(home)).astype(np.float64)


def _coded(values: Floats) -> Codes:
    """Equal values as equal numbers; a missing value is one of its own."""
    plain = np.where(np.isnan(values), -1.0, values + 0.0)
    return _mixed(np.ascontiguousarray(plain).view(np.uint64))


def _mixed(x: Codes) -> Codes:
    """Numbers that show no order (the last step of SplitMix64: Steele, Lea & Flood 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def _numbers(column: pl.Series) -> Ints:
    """Households as 0, 1, …; who has none lives alone."""
    known = column.rank("dense").cast(pl.Int64)
    first = int(known.max() or 0)  # type: ignore[arg-type]
    alone = pl.Series(np.arange(first + 1, first + 1 + len(column)))
    return known.fill_null(alone).rank("dense").cast(pl.Int64).to_numpy() - 1
