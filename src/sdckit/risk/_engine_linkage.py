"""Linkage of a sample of protected records with all originals, which pass through memory in batches."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit._support.messages import join_names
from sdckit.data import keyed_sample
from sdckit.data.keyed_sample import DRAWN, drawn_ids, drawn_rows
from sdckit.data.microdata import Microdata
from sdckit.data.record_links import PROTECTED, match_records
from sdckit.engine import frames, tables
from sdckit.engine.batches import fold_batches
from sdckit.errors import OptionError
from sdckit.risk._points import Distance, Points, by_missing

WHOLE = 50_000  # records: smaller files are brought into memory
QUERIES = 5_000  # protected records that look for their original
BATCH = 500_000  # originals in memory at a time: a tree of many records is searched faster than many trees
LEAF = 5  # originals of the sample in a leaf of the trees


@dataclass(frozen=True, slots=True)
class Scale:
    """How the numbers of a variable become coordinates: (x − low)/unit."""

    name: str
    low: float
    unit: float
    far: float  # the term of a sum for a value that is missing

    def of(self, values: pl.Series) -> Floats:
        """Coordinates, nan where missing."""
        x = values.cast(pl.Float64).fill_null(math.nan).to_numpy()
        return np.asarray((x - self.low) / self.unit)


@dataclass(frozen=True, slots=True)
class Sampled:
    """Some protected records with their originals, on the scale of the whole files."""

    ids: pl.Series
    space: Points  # files: their originals, and the protected records
    scales: tuple[Scale, ...]


def sampled_pairs(
    original: Microdata, protected: Microdata, variables: Sequence[str], distance: Distance | None
) -> Sampled:
    """A sample of pairs drawn by ids; distances are in standard deviations or ranges of the whole files."""
    kinds = frames.schema(original.frame), frames.schema(protected.frame)
    words = [c for c in variables if not all(kind[c].is_numeric() for kind in kinds)]
    if words:
        raise OptionError(
            f"record_linkage compares numbers on {original.engine}.",
            given=join_names(words),
            hint="data.collect() brings the records into memory, where categories are compared, too.",
        )
    distance = distance or Distance.EUCLIDEAN
    both = match_records(original, protected, variables)
    scales, notes = _scales(original, protected, variables, distance)
    name = original.roles.id or ""
    ids = drawn_ids(original, max(keyed_sample.RECORDS, QUERIES) / original.height)
    rows = drawn_rows(both, ids.filter(pl.col(DRAWN) <= QUERIES / original.height), name)
    files = tuple(coordinates(rows, scales, suffix) for suffix in ("", PROTECTED))
    space = Points(
        tuple(s.name for s in scales),
        files,
        np.zeros(len(scales), dtype=np.bool_),
        np.array([s.far for s in scales]),
        distance,
        notes,
    )
    return Sampled(rows[name], space, scales)


def coordinates(frame: pl.DataFrame, scales: Sequence[Scale], suffix: str = "") -> Floats:
    """[n, p] The records of a table on the scale."""
    if not scales:
        return np.empty((frame.height, 0))
    return np.ascontiguousarray(np.column_stack([s.of(frame[s.name + suffix]) for s in scales]))


def _scales(
    original: Microdata, protected: Microdata, variables: Sequence[str], distance: Distance
) -> tuple[tuple[Scale, ...], tuple[str, ...]]:
    first, second = (tables.moments(d.table, list(variables), None) for d in (original, protected))
    found, notes = [], []
    for c in variables:
        ends = first.min[c], first.max[c], second.min[c], second.max[c]
        spread = first.variance[c]
        if any(end is None for end in ends) or not spread:
            notes.append(f"{c} does not vary, or a file has no value of it; left out.")
            continue
        low, high, other_low, other_high = (float(end or 0.0) for end in ends)
        width = max(high, other_high) - min(low, other_low)
        unit = width if distance is Distance.GOWER else math.sqrt(spread)
        far = width / unit
        found.append(Scale(c, low, unit, far**2 if distance is Distance.EUCLIDEAN else far))
    return tuple(found), tuple(notes)


def counts_among_all(
    original: Microdata, sampled: Sampled, low: Floats, high: Floats, enough: int
) -> tuple[Ints, Ints]:
    """For each query how many originals are nearer than `low` (to `enough`), and not farther than `high`."""
    work = partial(_counts, sampled, _cuts(sampled.space), low, high, enough)
    table = original.table.select(*(s.name for s in sampled.scales))
    nearer = within = np.zeros(len(low), dtype=np.int64)
    for part in fold_batches(table, work, records=BATCH):
        nearer = nearer + part[0].astype(np.int64)
        within = within + part[1].astype(np.int64)
    return np.minimum(nearer, enough), within


def _cuts(space: Points) -> list[Any]:
    """Where batches are cut, for each pattern of missing values: as the originals of the sample are."""
    from sdckit.kernels.known_cells import cuts_of

    originals, queries = space.files
    return [cuts_of(originals[:, present], LEAF) for _, present in by_missing(queries)]


def _counts(
    sampled: Sampled, cuts: Sequence[Any], low: Floats, high: Floats, enough: int, frame: pl.DataFrame
) -> Floats:
    """[2, queries] Both numbers among the originals of a batch."""
    from sdckit.kernels.known_cells import build_by
    from sdckit.kernels.nearest import count_nearer

    space = sampled.space
    queries = space.files[1]
    here = Points(
        space.variables, (coordinates(frame, sampled.scales), queries), space.nominal, space.far,
        space.distance, (),
    )  # fmt: skip
    found = np.zeros((2, len(queries)))
    found[1] = frame.height
    for (rows, present), known in zip(by_missing(queries), cuts, strict=True):
        if present.any():  # else nothing is known: all originals are as near
            part = here.part(present, rows)
            tree = build_by(known, part.files[0], part.rule(blank_counts=False))
            found[:, rows] = count_nearer(tree, part.files[1], low[rows], high[rows], enough)
    return found
