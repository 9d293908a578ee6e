"""The synthesis of records that stay on an engine: one stratum after the other is brought into memory."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.engine.joins import join_to_records
from sdckit.engine.strata import map_strata
from sdckit.engine.tables import OURS, RECORDS, Table, count_cells, native_module
from sdckit.protect._drawn_units import require_one_stratum
from sdckit.protect._draws import require_id
from sdckit.protect._engine_homes import units
from sdckit.protect._engine_numbers import new_name
from sdckit.protect._strata import pooled_cells
from sdckit.protect._strata_on_engine import CODE, STRATUM, mapped, numbered_table, refuse_large
from sdckit.protect._synthesis_fit import STRATUM as SMALLEST
from sdckit.protect._synthesis_fit import (
    Drawn,
    as_stratum,
    draw_stratum,
    fit_stratum,
    refuse_large_leaf,
    sizes_of,
)
from sdckit.protect._synthesis_kinds import Asked, Kinds, kinds_of, without_records
from sdckit.protect._synthesis_release import HOME, RUN, kept_columns, new_file, numbered_columns
from sdckit.protect._synthesis_rules import Hashes, unique_keys

_SAID, _START, _FIRST_HOME = f"{OURS}said", f"{OURS}start", f"{OURS}first_home"
_ALL = -1  # the number of the row that says what is to be added up


@dataclass(frozen=True, slots=True)
class _Worker:
    """What is needed where a stratum is: no record of the file. names: the columns that it makes."""

    file: Microdata
    asked: Asked
    kinds: Kinds
    unique: Hashes
    seed: int
    proper: bool
    sizes: Mapping[int, int]
    names: tuple[str, ...]

    def drawn(self, stratum: pl.DataFrame, number: int) -> Drawn:
        """The stratum, whose records are in the order of their ids, drawn anew."""
        some = as_stratum(self.file, stratum.select(self.file.columns))
        rng = np.random.default_rng([self.seed, 2, number]) if self.proper else None
        fitted = fit_stratum(some, self.asked, self.kinds, self.unique, number, rng)
        return draw_stratum(fitted, self.seed, self.sizes[number], None, smooth=self.asked.smooth)

    def changed(self, stratum: pl.DataFrame, number: int) -> tuple[list[pl.Series], dict[str, Any]]:
        """New values of the records of a stratum."""
        drawn = self.drawn(stratum, number)
        columns = [drawn.draft.column(name) for name in self.names]
        same = [int(c.eq_missing(stratum[c.name]).sum()) for c in columns[: len(self.kinds.scope.targets)]]
        return [c.alias(new_name(j)) for j, c in enumerate(columns)], {**drawn.said, "same": same}

    def new(self, stratum: pl.DataFrame) -> pl.DataFrame:
        """New records, and a row with what is to be added up."""
        number = int(stratum[STRATUM][0])
        drawn = self.drawn(stratum.sort(CODE), number)
        count = drawn.draft.size
        homes = np.arange(count) if drawn.homes is None else drawn.homes
        columns = [drawn.draft.column(name) for name in self.names]
        columns += [pl.Series(RUN, np.arange(count)), pl.Series(HOME, homes)]
        said = {**drawn.said, "homes": int(homes.max(initial=-1)) + 1}
        last = pl.DataFrame({RUN: [_ALL], _SAID: [json.dumps({STRATUM: number, **said})]})
        made = pl.concat([pl.DataFrame(columns), last], how="diagonal")
        return made.with_columns(pl.lit(number).alias(STRATUM))


def drawn_on_engine(
    data: Microdata, asked: Asked, seed: int, size: int | None, *, proper: bool
) -> tuple[Microdata, Effects, list[dict[str, Any]], Kinds]:
    """One synthetic file, its effects, what is said of each stratum, and what was decided for all."""
    require_id(data, "Synthetic data")
    kinds = data.cached(("synthesis kinds", repr(asked)), lambda: kinds_of(data, asked))
    numbers, counts = _strata(data, asked, kinds)
    kept = [c for c in data.columns if c not in data.roles.direct]
    table = numbered_table(data, {c: nw.col(c) for c in kept}, asked.by, numbers)
    refuse_large(data, table, asked.by, "bring the records into memory by data.collect()")
    refuse_large_leaf(asked.leaf, sum(counts.values()), kinds)
    sizes = dict(zip(counts, sizes_of(list(counts.values()), size, kinds), strict=True))
    unique = np.empty(0, dtype=np.uint64)
    if asked.uniques and kinds.scope.full:
        unique = unique_keys(data, kinds.keys(data))
    empty = without_records(data)
    file = as_stratum(data, empty.frame.select(kept))
    worker = _Worker(file, asked, kinds, unique, seed, proper, sizes, ())
    if kinds.scope.full:
        return *_new_file(data, table, worker), kinds
    names = (*kinds.scope.targets, *asked.derive)
    made = {new_name(j): empty.frame.schema[name] for j, name in enumerate(names)}
    records, said = mapped(data, data.table, table, replace(worker, names=names).changed, made)
    done = records.with_columns(nw.col(new_name(j)).alias(name) for j, name in enumerate(names))
    changed = replace(data, frame=done.select(*data.columns).to_native())
    return changed, Effects(synthesises=names), said, kinds


def _strata(data: Microdata, asked: Asked, kinds: Kinds) -> tuple[pl.DataFrame, dict[int, int]]:
    """The number of each stratum, and how many records or households it has."""
    table, home = data.table, data.roles.household
    if kinds.homes is not None and home is not None:
        require_one_stratum(data, home, asked.by)
        table = units(data, asked.by)
    numbers = pooled_cells(table, asked.by, SMALLEST * asked.leaf, STRATUM)
    cells = count_cells(join_to_records(table, numbers, list(asked.by), [STRATUM]), [STRATUM], None)
    return numbers, dict(cells.select(STRATUM, RECORDS).sort(STRATUM).iter_rows())


def _new_file(
    data: Microdata, table: Table, worker: _Worker
) -> tuple[Microdata, Effects, list[dict[str, Any]]]:
    asked, kinds = worker.asked, worker.kinds
    names = [c for c in kept_columns(data) if c not in numbered_columns(data)]
    names = [c for c in names if not (asked.by_weight and c == data.roles.weight)]
    schema = {c: worker.file.frame.schema[c] for c in names}
    schema |= {RUN: pl.Int64(), HOME: pl.Int64(), STRATUM: pl.Int64(), _SAID: pl.String()}
    found = map_strata(table, [STRATUM], replace(worker, names=tuple(names)).new, schema)
    done = frames.lazy(native_module(table).worked_out(found))
    rows = frames.gather(done.filter(nw.col(RUN) == _ALL).select(_SAID))[_SAID]
    said = sorted((json.loads(text) for text in rows), key=lambda one: int(one[STRATUM]))
    starts = _starts(said)
    made = join_to_records(done.filter(nw.col(RUN) != _ALL), starts, [STRATUM], [_START, _FIRST_HOME])
    made = made.with_columns(
        (nw.col(RUN) + nw.col(_START)).alias(RUN), (nw.col(HOME) + nw.col(_FIRST_HOME)).alias(HOME)
    )
    records = sum(one["records"] for one in said)
    file, effects = new_file(data, made, kinds, worker.seed, records, equal_weights=asked.by_weight)
    return file, effects, said


def _starts(said: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The numbers of the first record and household of each stratum."""
    rows, start, home = [], 0, 0
    for one in said:
        rows.append((one[STRATUM], start, home))
        start, home = start + one["records"], home + one["homes"]
    return pl.DataFrame(rows, schema=dict.fromkeys((STRATUM, _START, _FIRST_HOME), pl.Int64), orient="row")
