"""Categories that change at random with given probabilities, carried out where the records are."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.engine.exact_sums import exact_sums
from sdckit.engine.joins import join_to_records
from sdckit.engine.tables import OURS, RECORDS, Table, count_cells, native_module
from sdckit.errors import EngineError
from sdckit.protect._categories import Categories
from sdckit.protect._draws import Draws

Stratum = tuple[Any, ...]

MAX_ON_ENGINE = 200  # categories whose cumulated probabilities are columns of a join
_OLD, _DRAWN, _PLACE, _VALUE = f"{OURS}old", f"{OURS}u", f"{OURS}place", f"{OURS}value"


def frequencies(
    data: Microdata, known: Categories, by: Sequence[str], *, weighted: bool
) -> dict[Stratum, Floats]:
    """For each stratum the records of each category, or the sum of their weights, exact to the last digit."""
    table, groups = _named(data.table, known.variable, by)
    table = table.filter(~nw.col(_OLD).is_null())
    weight = data.roles.weight if weighted else None
    if weight is None and not by:  # counted with the categories
        return {(): np.array(known.records, dtype=np.float64)} if any(known.records) else {}
    if weight is None:
        cells = count_cells(table, [*groups, _OLD], None).select(*groups, _OLD, RECORDS).rows()
    else:
        sums = exact_sums(table.with_columns(nw.col(weight).alias(_VALUE)), [_VALUE], [*groups, _OLD])
        cells = [(*key, float(found.total)) for key, (found,) in sums.items()]
    place = {value: i for i, value in enumerate(known.values)}
    found: dict[Stratum, Floats] = {}
    for *stratum, value, mass in cells:
        found.setdefault(tuple(stratum), np.zeros(len(place)))[place[value]] = mass
    return found


def cumulated(chances: Floats) -> Floats:
    """Cumulated probabilities: a number in (0, 1) leads to the first category that has more than it.

    Divided by their own last value, so that categories without a chance end exactly at 1 and are not drawn.
    """
    cumulative = chances.cumsum(axis=1)
    return np.asarray(cumulative / np.where(cumulative[:, -1:] > 0, cumulative[:, -1:], 1.0))


def with_transitions(
    data: Microdata,
    by: Sequence[str],
    drawn: Sequence[tuple[Categories, Mapping[Stratum, Floats]]],
    draws: Draws,
) -> tuple[Microdata, dict[str, float]]:
    """The file with new categories of some variables, and the share of the values of each that changed.

    drawn: the categories of a variable, and for each stratum the chances [old, new] of its values.
    """
    table, names, olds = data.table, [known.variable for known, _ in drawn], []
    for step, (known, chances) in enumerate(drawn):
        olds.append(f"{_OLD}_{step}")
        table = _with_transition(table, known, by, chances, draws, step)
        table = table.with_columns(nw.col(_OLD).alias(olds[-1]), nw.col(_VALUE).alias(known.variable))
        table = table.select(*data.columns, *olds)
    # Kept, or each query that follows would draw again.
    table = frames.lazy(native_module(table).worked_out(table.to_native()))
    wanted = []
    for name, old in zip(names, olds, strict=True):
        wanted.append((nw.col(name) != nw.col(old)).cast(nw.Int64).sum().alias(f"{old}_changed"))
        wanted.append(nw.col(old).count().cast(nw.Int64).alias(f"{old}_present"))
    row = frames.gather(table.select(*wanted)).row(0, named=True)
    shares = {
        name: int(row[f"{old}_changed"] or 0) / max(int(row[f"{old}_present"]), 1)
        for name, old in zip(names, olds, strict=True)
    }
    return data.with_frame(table.select(*data.columns).to_native(), changed=names), shares


def _with_transition(
    table: Table,
    known: Categories,
    by: Sequence[str],
    chances: Mapping[Stratum, Floats],
    draws: Draws,
    step: int,
) -> Table:
    """The table with a column _VALUE of new categories, and the old ones in _OLD."""
    size, name = len(known.values), known.variable
    if size > MAX_ON_ENGINE:
        raise EngineError(
            f"pram of {name!r} needs the records in memory: it has many categories.",
            given=size,
            allowed=f"{MAX_ON_ENGINE} at most on the {draws.data.engine} engine",
        )
    table, groups = _named(table, name, by)
    kinds = frames.gather(table.select(*groups, _OLD).head(0)).schema
    limits = [f"{OURS}c{j}" for j in range(size - 1)]
    rows = [
        (*stratum, known.values[i], *row)
        for stratum, matrix in chances.items()
        for i, row in enumerate(cumulated(matrix)[:, :-1].tolist())
    ]
    cells = pl.DataFrame(rows, schema={**kinds, **dict.fromkeys(limits, pl.Float64)}, orient="row")
    table = join_to_records(draws.with_uniform(table, step, _DRAWN), cells, [*groups, _OLD], limits)
    passed = [nw.when(nw.col(c) <= nw.col(_DRAWN)).then(nw.lit(1)).otherwise(nw.lit(0)) for c in limits]
    place = nw.sum_horizontal(*passed) if passed else nw.lit(0)
    table = table.with_columns(nw.when(~nw.col(_OLD).is_null()).then(place.cast(nw.Int64)).alias(_PLACE))
    values = pl.DataFrame({_PLACE: range(size)}).with_columns(
        pl.Series(_VALUE, list(known.values), dtype=kinds[_OLD])
    )
    return join_to_records(table, values, [_PLACE], [_VALUE])


def _named(table: Table, name: str, by: Sequence[str]) -> tuple[Table, list[str]]:
    """The table with the variable and the strata under names of ours, and the names of the strata."""
    groups = [f"{OURS}by_{i}" for i in range(len(by))]
    renamed = [nw.col(c).alias(group) for c, group in zip(by, groups, strict=True)]
    return table.with_columns(nw.col(name).alias(_OLD), *renamed), groups
