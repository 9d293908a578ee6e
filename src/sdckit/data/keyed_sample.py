"""A sample of files that stay outside memory, drawn by the ids of the records, and what it says of all."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite, sqrt
from statistics import stdev
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit.data.microdata import Microdata
from sdckit.data.record_links import linkage_problem
from sdckit.data.result import Result
from sdckit.engine import frames, random
from sdckit.engine.joins import join_to_records
from sdckit.engine.tables import OURS, Table
from sdckit.errors import EngineError

RECORDS = 50_000  # of a file, about
GROUPS = 10
SEED = 0  # the sample is part of the definition of a measure, not a draw of the user
DRAWN = f"{OURS}drawn"


def on_keyed_sample(
    measure: Callable[..., Result], files: Sequence[Microdata], *, unlike: str = "", **options: Any
) -> Result:
    """A measure of whole files, from a sample of files outside memory, with its standard error in a note.

    A record is in the sample if the keyed number of its id is small enough: the same persons in every file,
    on every engine and each time. Files of up to 50,000 records are taken whole. The standard error is that
    of random groups (Wolter 2007, ch. 2): the spread of the value over ten parts of the sample, over √10.
    `unlike`: what differs from the whole file by more than chance.
    """
    height = files[0].height
    if max(data.height for data in files) <= RECORDS:
        return measure(*(data.collect() for data in files), **options)
    share = RECORDS / height
    drawn = [_drawn(data, files[0], share) for data in files]
    samples, groups = zip(*drawn, strict=True)
    result = measure(*samples, **options)
    parts = [
        measure(*(_part(s, g == k) for s, g in zip(samples, groups, strict=True)), **options).value
        for k in range(GROUPS)
    ]
    known = [value for value in parts if isfinite(value)]
    error = f"{stdev(known) / sqrt(len(known)):.2g}" if len(known) > 1 else "unknown"
    note = (
        f"Measured on a sample of {samples[0].height:,} of {height:,} records, drawn by their ids; standard "
        f"error of the value {error} (random groups)."
    )
    return replace(result, notes=(note, *([unlike] if unlike else []), *result.notes))


def drawn_ids(data: Microdata, share: float) -> pl.DataFrame:
    """The ids of a sample and the number that each drew, found once for all measures."""
    return data.cached(("drawn ids", share), partial(_drawn_ids, data, share))


def _drawn_ids(data: Microdata, share: float) -> pl.DataFrame:
    name = data.roles.id
    if name is None or name not in data.columns:
        raise EngineError(
            f"A sample of a file on {data.engine} is drawn by ids, and no column has the role 'id'.",
            hint="Give the role id to the column that numbers the records.",
        )
    ids = random.uniform(data.table.select(name), id=name, seed=SEED, step=0, name=DRAWN)
    return frames.gather(ids.filter(nw.col(DRAWN) <= share)).sort(name)


def drawn_rows(table: Table, ids: pl.DataFrame, name: str) -> pl.DataFrame:
    """The records of a table with some ids, in the order of these, with the number that each drew."""
    rows = join_to_records(table, ids, [name], [DRAWN])
    return frames.gather(rows.filter(~nw.col(DRAWN).is_null())).sort(name)


def _drawn(data: Microdata, first: Microdata, share: float) -> tuple[Microdata, Any]:
    """The records of a sample in memory, and the group of each."""
    rows = _rows_of_first(data, first, share)
    if rows is None:
        rows = drawn_rows(data.table, drawn_ids(data, share), data.roles.id or "")
    group = np.minimum((rows[DRAWN].to_numpy() / share * GROUPS).astype(np.int64), GROUPS - 1)
    return replace(data, frame=rows.drop(DRAWN), kind="polars"), group


def _rows_of_first(data: Microdata, first: Microdata, share: float) -> pl.DataFrame | None:
    """The records with the ids that the first file drew, so that ids are drawn once; None if some lack."""
    if data is first or linkage_problem(first, data):
        return None
    ids = drawn_ids(first, share)
    rows = drawn_rows(data.table, ids, data.roles.id or "")
    return rows if rows.height == ids.height else None


def _part(data: Microdata, rows: Any) -> Microdata:
    return replace(data, frame=data.frame.filter(pl.Series(rows)))
