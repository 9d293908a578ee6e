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
from sdckit.data.result import Result
from sdckit.engine import frames, random
from sdckit.engine.tables import OURS
from sdckit.errors import EngineError

RECORDS = 50_000  # of a file, about
GROUPS = 10
SEED = 0  # the sample is part of the definition of a measure, not a draw of the user
_DRAWN = f"{OURS}drawn"


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
    drawn = [data.cached(("keyed sample", share), partial(_drawn, data, share)) for data in files]
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


def _drawn(data: Microdata, share: float) -> tuple[Microdata, Any]:
    """The records of a sample in memory, and the group of each."""
    name = data.roles.id
    if name is None or name not in data.columns:
        raise EngineError(
            f"A sample of a file on {data.engine} is drawn by ids, and no column has the role 'id'.",
            hint="Give the role id to the column that numbers the records.",
        )
    table = random.uniform(data.table, id=name, seed=SEED, step=0, name=_DRAWN)
    rows = frames.gather(table.filter(nw.col(_DRAWN) <= share)).sort(name)
    group = np.minimum((rows[_DRAWN].to_numpy() / share * GROUPS).astype(np.int64), GROUPS - 1)
    return replace(data, frame=rows.drop(_DRAWN), kind="polars"), group


def _part(data: Microdata, rows: Any) -> Microdata:
    return replace(data, frame=data.frame.filter(pl.Series(rows)))
