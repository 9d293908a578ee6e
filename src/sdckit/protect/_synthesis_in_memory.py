"""The synthesis of records in memory, stratum by stratum."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Codes, Ints
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.engine.joins import join_to_records
from sdckit.protect._draws import in_order_of_ids
from sdckit.protect._strata import pooled_numbers
from sdckit.protect._strata_on_engine import STRATUM
from sdckit.protect._synthesis_fit import (
    STRATUM as SMALLEST,
)
from sdckit.protect._synthesis_fit import (
    Drawn,
    Fitted,
    as_stratum,
    draw_stratum,
    fit_stratum,
    refuse_large_leaf,
    sizes_of,
)
from sdckit.protect._synthesis_households import homes_of
from sdckit.protect._synthesis_kinds import Asked, Kinds, kinds_of
from sdckit.protect._synthesis_release import HOME, RUN, kept_columns, new_file, numbered_columns
from sdckit.protect._synthesis_rules import unique_keys


@dataclass(frozen=True, slots=True)
class FittedFile:
    """The strata of a file, and the rows of each: as they are in the file, in the order of their ids."""

    kinds: Kinds
    strata: tuple[tuple[Ints, Fitted], ...]


def fit_file(data: Microdata, asked: Asked, seed: int | None) -> FittedFile:
    """Grow the trees of all strata; with a seed each learns from a new bootstrap of its records."""
    first = in_order_of_ids(data)
    in_order = (first == np.arange(len(first))).all()
    ordered = data if in_order else replace(data, frame=data.frame[first])
    kinds = data.cached(("synthesis kinds", repr(asked)), lambda: kinds_of(ordered, asked))
    unique = np.empty(0, dtype=np.uint64)
    if asked.uniques and kinds.scope.full:
        unique = unique_keys(data, kinds.keys(data))
    strata, units = [], 0
    for number, rows, count in _strata(ordered, asked, kinds):
        strata.append((number, rows))
        units += count
    refuse_large_leaf(asked.leaf, units, kinds)
    fitted = []
    for number, rows in strata:
        whole = len(strata) == 1
        some = ordered if whole else as_stratum(data, ordered.frame[rows])
        rng = None if seed is None else np.random.default_rng([seed, 2, number])
        fitted.append((first[rows], fit_stratum(some, asked, kinds, unique, number, rng)))
    return FittedFile(kinds, tuple(fitted))


def _strata(data: Microdata, asked: Asked, kinds: Kinds) -> list[tuple[int, Ints, int]]:
    """The number of each stratum, its rows, and how many records or households it has.

    A household is in the stratum of its head.
    """
    smallest = SMALLEST * asked.leaf
    if kinds.homes is None:
        stratum = _numbers(data, asked.by, smallest)
        unit: Ints | Codes = np.arange(data.height)
    else:
        homes = homes_of(data, kinds.homes)
        unit = homes.of_records
        stratum = _numbers(as_stratum(data, data.frame[homes.heads]), asked.by, smallest)[unit]
    order = np.argsort(stratum, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(stratum[order])) + 1)
    return [(int(stratum[rows[0]]), rows, len(np.unique(unit[rows]))) for rows in parts if len(rows)]


def _numbers(data: Microdata, by: Sequence[str], smallest: int) -> Ints:
    numbers = pooled_numbers(data, by, smallest, STRATUM)
    table = join_to_records(data.table.select(*by) if by else data.table, numbers, list(by), [STRATUM])
    return np.asarray(frames.gather(table.select(STRATUM))[STRATUM].to_numpy())


def drawn_in_memory(
    data: Microdata, fitted: FittedFile, asked: Asked, seed: int, size: int | None, chosen: Bools | None
) -> tuple[Microdata, Effects, list[dict[str, Any]]]:
    """One synthetic file, its effects, and what is said of each stratum."""
    units = [part.part.size for _, part in fitted.strata]
    sizes = sizes_of(units, size, fitted.kinds)
    drawn: list[Drawn] = []
    for (rows, part), count in zip(fitted.strata, sizes, strict=True):
        some = None if chosen is None else np.flatnonzero(chosen[rows])
        drawn.append(draw_stratum(part, seed, count, some, smooth=asked.smooth))
    said = [one.said for one in drawn]
    if not fitted.kinds.scope.full:
        frame, same = _changed(data, fitted, asked, drawn, chosen)
        names = [*fitted.kinds.scope.targets, *asked.derive]
        said[0]["same"] = same
        return replace(data, frame=frame), Effects(synthesises=tuple(names)), said
    names = [c for c in kept_columns(data) if c not in numbered_columns(data)]
    names = [c for c in names if not (asked.by_weight and c == data.roles.weight)]
    parts, records, homes = [], 0, 0
    for one in drawn:
        run = pl.Series(RUN, np.arange(records, records + one.draft.size))
        columns = [*(one.draft.column(c) for c in names), run]
        if one.homes is not None:
            columns.append(pl.Series(HOME, one.homes + homes))
            homes += int(one.homes.max(initial=-1)) + 1
        parts.append(pl.DataFrame(columns))
        records += one.draft.size
    table = frames.lazy(pl.concat(parts))
    return *new_file(data, table, fitted.kinds, seed, records, equal_weights=asked.by_weight), said


def _changed(
    data: Microdata, fitted: FittedFile, asked: Asked, drawn: Sequence[Drawn], chosen: Bools | None
) -> tuple[pl.DataFrame, list[int]]:
    """The file with some columns drawn anew, and how many cells of each are as before."""
    back = np.argsort(np.concatenate([rows for rows, _ in fitted.strata]))
    names = [*fitted.kinds.scope.targets, *asked.derive]
    columns = [pl.concat([one.draft.column(c) for one in drawn]).gather(back).alias(c) for c in names]
    if chosen is not None:
        pick = pl.when(pl.Series(chosen))
        columns = [
            pl.select(pick.then(c).otherwise(data.frame[c.name]).alias(c.name)).to_series() for c in columns
        ]
    same = [int(c.eq_missing(data.frame[c.name]).sum()) for c in columns[: len(fitted.kinds.scope.targets)]]
    return data.frame.with_columns(columns), same
