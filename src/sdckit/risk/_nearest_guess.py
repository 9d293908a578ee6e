"""Inference by who knows numbers or whole households: from the records that look most alike."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.risk._household_attack import household_numbers, visible_households
from sdckit.risk._known_values import KnownKeys, LinkedFiles
from sdckit.risk._nearest_records import nearest_records, true_in_released


class Guessed(NamedTuple):
    """How many persons' values are inferred from the records nearest to them.

    sampled: so many persons with a value were asked; 0: all.
    """

    persons: int
    inferred: int
    by_own_record: int
    right: float
    baseline: float
    sampled: int = 0


def guess_categories(
    files: LinkedFiles, keys: KnownKeys, numbers: Mapping[str, float], true: Ints, shown: Ints, sure: float
) -> Guessed:
    """The commonest value among the nearest records, of those whose true value is not the common one.

    true, shown: codes of the values of persons and records; −1 is missing.
    """
    near, own, asked = nearest_records(files, keys, numbers)
    values, mine = shown[near], true[asked]
    same = values == mine[:, None]
    present = true >= 0
    counts = np.bincount(true[present], minlength=int(true.max(initial=0)) + 1) / max(int(present.sum()), 1)
    known = mine >= 0
    inferred = known & (np.append(counts, 0.0)[mine] < sure) & (_share(same, np.ones_like(own)) >= sure)
    by_own = inferred & (_share(same, ~own) < sure)
    right = float((_commonest(values) == mine)[known].mean()) if known.any() else 0.0
    return _of_all(present, known, inferred, by_own, right, float(counts.max(initial=0.0)))


def guess_numbers(
    files: LinkedFiles,
    keys: KnownKeys,
    numbers: Mapping[str, float],
    truth: pl.Series,
    released: pl.Series,
    within: float,
    sure: float,
) -> Guessed:
    """Whether nearly all of the nearest records show a number near the true one."""
    true, shown = (x.cast(pl.Float64).fill_null(float("nan")).to_numpy() for x in (truth, released))
    near, own, asked = nearest_records(files, keys, numbers)
    present, mine = np.isfinite(true), true[asked]
    close = np.abs(shown[near] - mine[:, None]) <= within * np.abs(mine[:, None])
    known = np.isfinite(mine)
    share = _share(close, np.ones_like(own))
    ordered = np.sort(shown[np.isfinite(shown)])
    low, high = mine - within * np.abs(mine), mine + within * np.abs(mine)
    common = (np.searchsorted(ordered, high, "right") - np.searchsorted(ordered, low)) / max(len(ordered), 1)
    inferred = known & (common < sure) & (share >= sure)
    by_own = inferred & (_share(close, ~own) < sure)
    right, baseline = (float(x[known].mean()) if known.any() else 0.0 for x in (share, common))
    return _of_all(present, known, inferred, by_own, right, baseline)


def _of_all(
    present: Bools, known: Bools, inferred: Bools, by_own: Bools, right: float, baseline: float
) -> Guessed:
    """Counts of all persons with a value, from those who were asked (`known`: of these who has one)."""
    persons, asked = int(present.sum()), int(known.sum())
    sampled = 0 if len(known) == len(present) else asked
    scale = persons / max(asked, 1) if sampled else 1.0
    numbers = [round(float(which.sum()) * scale) for which in (inferred, by_own)]
    return Guessed(persons, numbers[0], numbers[1], right, baseline, sampled)


def _commonest(values: Ints) -> Ints:
    """The commonest code of each row, of ties the smallest; −2 where all are missing."""
    counts = (values[:, :, None] == values[:, None, :]).sum(axis=2)
    counts[values < 0] = 0
    best = (counts == counts.max(axis=1, keepdims=True)) & (values >= 0)
    found = np.where(best, values, np.iinfo(np.int64).max).min(axis=1)
    return np.where(best.any(axis=1), found, -2)


def with_composition(files: LinkedFiles, keys: KnownKeys) -> KnownKeys:
    """The keys and, where the file shows who lives together, what all members of the household show."""
    name = files.original.roles.household
    if name is None:
        return keys
    homes = household_numbers(files, name)
    if not visible_households(files, name, homes):
        return keys
    present = files.own >= 0
    of_records = np.empty(files.protected.height, dtype=np.int64)
    of_records[files.own[present]] = homes[present]
    both = pl.Series([*_together(true_in_released(keys), homes), *_together(keys.released, of_records)]).rank(
        "dense"
    )
    codes = both.cast(pl.Int64).to_numpy() - 1
    n = len(homes)
    return replace(
        keys,
        names=(*keys.names, "household"),
        true=np.column_stack([keys.true, codes[:n]]),
        released=np.column_stack([keys.released, codes[n:]]),
        sizes=(*keys.sizes, int(codes.max(initial=0)) + 1),
        images=(*keys.images, None),
    )


def _together(codes: Ints, homes: Ints) -> list[str]:
    """For each record what the members of its household show, in no order."""
    rows = [",".join(map(str, row)) for row in codes.tolist()]
    frame = pl.DataFrame({"home": homes, "row": rows})
    return frame.select(pl.col("row").sort().str.join(";").over("home"))["row"].to_list()


def _share(hits: Bools, counted: Bools) -> Floats:
    return np.asarray((hits & counted).sum(axis=1) / np.maximum(counted.sum(axis=1), 1))
