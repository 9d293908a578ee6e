"""Whether it is certain which record was made from which person."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from math import sqrt

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit.choose.release_facts import done_here
from sdckit.choose.row_agreement import SURE, agreement
from sdckit.data.effects import merged
from sdckit.data.intruder import known_numbers
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import source_rows
from sdckit.data.text_codes import text_codes
from sdckit.data.values import is_date
from sdckit.kernels.hashing import distinct_rows

FEW = 50  # values of a column by which records are put together
PARTS = 20  # of a file that must agree each
FEWEST = 100  # rows of a part
MOST = 0.8  # of the rows that must be in place where nothing but the rows themselves shows it
ALIKE = 0.4  # the least correlation among records that have the rest in common: noise may be twice the spread


def surely_linked(original: Microdata, protected: Microdata) -> bool:
    """Whether it is certain which record was made from which person.

    By unique ids that both files have, or because what stands in a row agrees far better with the person it
    is taken for than by chance, in at least half of the columns that no step moved: a log of steps alone
    proves nothing of a table that was put in by hand. A table made elsewhere, or by a step of others, must
    agree in most rows, in every part, and among records that have the rest in common: they may have been
    sorted anew within region and age.
    """
    name = original.roles.id
    if original is protected:
        return True
    if original.engine != "polars" or protected.engine != "polars":
        return name is not None and name in protected.columns
    rows = source_rows(original, protected)
    if rows is None:
        return False
    if (
        name is not None
        and name in protected.columns
        and original.frame[name].gather(rows).equals(protected.frame[name])
    ):
        return original.is_unique(name)
    steps = protected.steps_since(original)
    effects = merged(entry.effects for entry in steps)
    moved = {*effects.moves_values, *effects.randomises, *effects.synthesises}
    there = set(protected.columns)
    shared = [c for c in original.columns if c in there and c != name]
    first, second = original.frame.select(shared)[rows], protected.frame.select(shared)
    judged = agreement(first, second)
    agree = _agree(judged, moved)
    here = protected.origin == original.origin and protected.reading.steps_before_table is None
    if not agree or (here and all(done_here(step) for step in steps)):
        return agree
    alike = [c for c, share in judged.items() if (share or 0.0) >= MOST]
    if not alike and any(share is not None for share in judged.values()):
        return False
    known = [*original.roles.keys, *known_numbers(original)]
    return _in_step(first, second) and _in_place_among_alike(first, second, alike, known)


def _agree(judged: Mapping[str, float | None], moved: Collection[str] = ()) -> bool:
    """Whether half of the columns that no step moved agree; where all were moved, whether any does."""
    known = {c: one > 0 for c, one in judged.items() if one is not None}
    still = [one for c, one in known.items() if c not in moved]
    return 2 * sum(still) >= len(still) if still else any(known.values())


def _in_step(first: pl.DataFrame, second: pl.DataFrame) -> bool:
    """Whether rows agree in every part of the files: one that was left out puts all after it out of step.

    Where they agree in no part, a part is too small to show it.
    """
    count = int(np.clip(first.height // FEWEST, 1, PARTS))
    bounds = np.linspace(0, first.height, count + 1).astype(np.int64).tolist()
    found = [_agree(agreement(first[i:j], second[i:j])) for i, j in pairwise(bounds)]
    return all(found) or not any(found)


def _in_place_among_alike(
    first: pl.DataFrame, second: pl.DataFrame, alike: Sequence[str], known: Sequence[str]
) -> bool:
    """Whether records alike in columns of few values are in place by others, or nothing tells them apart.

    first, second: the same columns of both files. alike: those that agree in most rows. known: those that
    intruders know.
    """
    few = [text_codes(second[c]).codes for c in alike if second[c].n_unique() <= FEW]
    cell = distinct_rows([c.astype(np.int64) for c in few])[1] if few else np.zeros(second.height, np.int64)
    apart = False
    for column in second.columns:
        x, y = (_within(_places(frame[column]), cell) for frame in (first, second))
        if not x.any() or not y.any():
            continue
        freedom = max(len(cell) - int(cell.max(initial=0)) - 1, 1)
        together = float(x @ y) / sqrt(float(x @ x) * float(y @ y))
        if together >= ALIKE and together * sqrt(freedom) > SURE:
            return True
        apart = apart or column in known
    return not apart


def _places(column: pl.Series) -> Floats:
    """Numbers that are equal where values are, in the order of numbers or texts."""
    if column.dtype.is_numeric() or is_date(column.dtype):
        return np.asarray(column.rank().fill_null(0.0).to_numpy())
    return text_codes(column).codes.astype(np.float64)


def _within(values: Floats, cell: Ints) -> Floats:
    """Numbers less the mean of their cell; what is left by rounding is nothing."""
    mean = np.bincount(cell, values) / np.maximum(np.bincount(cell), 1)
    left = values - mean[cell]
    return np.where(np.abs(left) > 1e-9 * max(float(np.abs(values).max(initial=0.0)), 1.0), left, 0.0)
