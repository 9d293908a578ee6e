"""Inference by who knows numbers or whole households: from the records that look most alike."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.models.number_intruder import known_values
from sdckit.risk._household_attack import household_numbers, visible_households
from sdckit.risk._known_values import KnownKeys, LinkedFiles, numbers_of
from sdckit.risk._moved_dates import intervals

NEIGHBOURS = 20  # records that are asked
FAR = 1e3  # distance of another key, in standard deviations of the numbers


class Guessed(NamedTuple):
    """How many persons' values are inferred from the records nearest to them."""

    persons: int
    inferred: int
    by_own_record: int
    right: float
    baseline: float


def guess_categories(
    files: LinkedFiles,
    keys: KnownKeys,
    numbers: Mapping[str, float],
    truth: pl.Series,
    released: pl.Series,
    sure: float,
) -> Guessed:
    """The commonest value among the nearest records, of those whose true value is not the common one."""
    both = pl.concat([truth, released]).rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
    true, shown = both[: len(truth)], both[len(truth) :]
    near, own = _nearest(files, keys, numbers)
    values = shown[near]
    same = values == true[:, None]
    share = _share(same, np.ones_like(own))
    known = true > 0
    counts = np.bincount(true[known], minlength=int(both.max(initial=0)) + 1) / max(int(known.sum()), 1)
    rare = known & (counts[true] < sure)
    inferred = rare & (share >= sure)
    without = _share(same, ~own)
    best = np.array([np.bincount(row[row > 0]).argmax() if (row > 0).any() else -1 for row in values])
    return Guessed(
        int(known.sum()),
        int(inferred.sum()),
        int((inferred & (without < sure)).sum()),
        float((best == true)[known].mean()) if known.any() else 0.0,
        float(counts[1:].max(initial=0.0)),
    )


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
    near, own = _nearest(files, keys, numbers)
    close = np.abs(shown[near] - true[:, None]) <= within * np.abs(true[:, None])
    known = np.isfinite(true)
    share = _share(close, np.ones_like(own))
    ordered = np.sort(shown[np.isfinite(shown)])
    low, high = true - within * np.abs(true), true + within * np.abs(true)
    common = (np.searchsorted(ordered, high, "right") - np.searchsorted(ordered, low)) / max(len(ordered), 1)
    inferred = known & (common < sure) & (share >= sure)
    without = _share(close, ~own)
    return Guessed(
        int(known.sum()),
        int(inferred.sum()),
        int((inferred & (without < sure)).sum()),
        float(share[known].mean()) if known.any() else 0.0,
        float(common[known].mean()) if known.any() else 0.0,
    )


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
    both = pl.Series([*_together(_images(keys), homes), *_together(keys.released, of_records)]).rank("dense")
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


def _nearest(files: LinkedFiles, keys: KnownKeys, numbers: Mapping[str, float]) -> tuple[Ints, Bools]:
    """The records nearest to each person by numbers, within the same keys first, and which is the own one."""
    from scipy.spatial import cKDTree

    names, x, y, errors = numbers_of(files, numbers)
    together = intervals(files, names, x, y)
    if together is not None:
        x, y, _ = together
        errors = np.append(errors, np.zeros(x.shape[1] - len(errors)))
    known = known_values(x, errors, files.identity)
    both = np.vstack([known, y])
    scaled = np.full(both.shape, FAR)  # what is missing is far from everything else
    for v, column in enumerate(both.T):
        there = np.isfinite(column)
        if there.any():
            spread = float(column[there].std()) or 1.0
            scaled[there, v] = np.arcsinh((column[there] - column[there].mean()) / spread)
    codes = np.vstack([_images(keys), keys.released]).astype(np.float64)
    points = np.hstack([scaled, FAR * codes])
    n = len(known)
    tree = cKDTree(points[n:])
    count = min(NEIGHBOURS, len(y))
    near = np.asarray(tree.query(points[:n], k=count)[1]).reshape(n, count)
    return near, np.asarray(near == files.own[:, None])


def _images(keys: KnownKeys) -> Ints:
    """The true keys in the released categories, as far as the log knows them."""
    true = keys.true.copy()
    for v, image in enumerate(keys.images):
        if image is not None:
            size = keys.sizes[v]
            mapped = image[np.where(true[:, v] < 0, size, true[:, v])]
            true[:, v] = np.where(mapped == size, -1, mapped)
    return true


def _share(hits: Bools, counted: Bools) -> Floats:
    return np.asarray((hits & counted).sum(axis=1) / np.maximum(counted.sum(axis=1), 1))
