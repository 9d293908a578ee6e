"""The file that is released: new ids and order, weights that add up; and what the log says, on any engine."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random
from sdckit.engine.exact_sums import exact_sums
from sdckit.engine.joins import join_to_records
from sdckit.engine.tables import OURS, Table, native_module
from sdckit.models.column_codes import SEVERAL
from sdckit.models.released_numbers import PROTECTED
from sdckit.protect._engine_numbers import native_of
from sdckit.protect._synthesis_kinds import Kinds
from sdckit.protect._synthesis_rules import refuse_breaches
from sdckit.protect.new_ids import renumbered_columns

RUN, HOME = f"{OURS}run", f"{OURS}home"  # numbers of new records and of their households
_DRAWN, _FACTOR = f"{OURS}drawn", f"{OURS}factor"
_ORDER = 1  # the step of the seed by which records or households are put in an order


def kept_columns(data: Microdata) -> list[str]:
    """The columns of a new file: all but direct identifiers."""
    return [name for name in data.columns if name not in data.roles.direct]


def numbered_columns(data: Microdata) -> list[str]:
    """Columns of a new file that no donor has: they are numbered anew."""
    return [c for c in (data.roles.id, data.roles.household) if c is not None]


def new_file(
    data: Microdata, table: Table, kinds: Kinds, seed: int, records: int, *, equal_weights: bool
) -> tuple[Microdata, Effects]:
    """A fully synthetic file: no number of the original names a record, and the order says nothing.

    table: the columns that have donors, RUN, and HOME where there are households. Direct identifiers are left
    out.
    """
    roles = data.roles
    unit = RUN if kinds.homes is None else HOME
    columns = [nw.col(RUN).alias(roles.id)] if roles.id is not None else []
    columns += [nw.col(unit).alias(roles.household)] if roles.household is not None else []
    table = table.with_columns(*columns) if columns else table
    if roles.weight is not None:
        table = _weighted(data, table, records, equal_weights=equal_weights)
    table = random.uniform(table, id=unit, seed=seed, step=_ORDER, name=_DRAWN)  # the head stays first
    names = tuple(c for c in (roles.id, roles.household, roles.cluster) if c is not None)
    kept = kept_columns(data)
    table = table.select(*kept, _DRAWN, unit, *([RUN] if unit == HOME else []))
    ready = replace(data, labels=data.labels.without_values(names))
    ready = ready.without(roles.direct) if roles.direct else ready
    made = replace(ready, frame=native_of(data, table))
    if names:
        bytes_of_seed = np.random.default_rng([seed, 1]).bytes(16)
        table = frames.lazy(renumbered_columns(made, names, int.from_bytes(bytes_of_seed, "big"))[0])
    order = [_DRAWN, RUN] if unit == RUN else [_DRAWN, HOME, RUN]
    if data.engine == "polars":
        ordered = frames.gather(table).sort(order).select(kept)
    else:
        ordered = native_module(table).sorted_rows(table.to_native(), order, kept)
    synthesised = tuple(c for c in kept if c not in (roles.id, roles.household))
    effects = Effects(
        renames_ids=roles.id is not None,
        new_numbers=names,
        synthesises=synthesised,
        drops=roles.direct,
        new_records=True,
        reorders_rows=True,
    )
    return replace(ready, frame=ordered), effects


def _weighted(data: Microdata, table: Table, records: int, *, equal_weights: bool) -> Table:
    """The weights, so that they add up to the totals of the original in every stratum that has records.

    Where the total would tell the weight of somebody, they stay as they are drawn.
    """
    name, strata = data.roles.weight or "", list(data.roles.strata)
    if equal_weights:
        total = exact_sums(data.table, [name])[()][0].total
        return table.with_columns(nw.lit(float(total) / records).alias(name))
    before, after = exact_sums(data.table, [name], strata), exact_sums(table, [name], strata)
    kinds = frames.gather(table.select(*strata).head(0)).schema if strata else {}
    told = _tellable(data, name, strata)
    rows = [
        (*cell, _factor(before[cell], total[0]) if cell in told else 1.0) for cell, total in after.items()
    ]
    cells = pl.DataFrame(rows, schema={**kinds, _FACTOR: pl.Float64()}, orient="row")
    table = join_to_records(table, cells, strata, [_FACTOR])
    return table.with_columns((nw.col(name).cast(nw.Float64) * nw.col(_FACTOR)).alias(name)).drop(_FACTOR)


def _tellable(data: Microdata, name: str, strata: Sequence[str]) -> set[tuple[Any, ...]]:
    """The strata of the original of whose total weight nobody can read a weight.

    Five records or households at least, and the p % rule: the others than the two largest have a tenth of
    the largest.
    """
    home = data.roles.household
    groups = [f"{OURS}s{i}" for i in range(len(strata))]
    weight, unit, whole = f"{OURS}w", f"{OURS}unit", f"{OURS}whole"
    table = data.table.select(
        *(nw.col(c).alias(group) for c, group in zip(strata, groups, strict=True)),
        *([] if home is None else [nw.col(home).alias(unit)]),
        nw.col(name).cast(nw.Float64).alias(weight),
        nw.lit(0).alias(whole),
    )
    if home is not None:
        table = table.group_by(*groups, whole, unit).agg(nw.col(weight).sum())
    w = nw.col(weight)
    facts = w.count().alias("n"), w.sum().alias("total"), w.max().alias("most")
    rows = frames.gather(table.group_by(*groups, whole).agg(*facts)).iter_rows(named=True)
    return {
        tuple(row[group] for group in groups)
        for row in rows
        if row["n"] >= SEVERAL and row["total"] - 2 * row["most"] >= PROTECTED * row["most"]
    }


def _factor(before: Any, after: Any) -> float:
    """By how much the weights of a stratum grow; 1 where they are all 0."""
    return float(before[0].total) / float(after.total) if after.total else 1.0


def share_of_own(same: Sequence[int], records: int) -> float:
    """The share of cells that are equal to those of the same record before, from their number by column."""
    return float(np.mean([count / records for count in same])) if records else 0.0


def added_up(said: Sequence[Mapping[str, Any]], kinds: Kinds) -> dict[str, Any]:
    """What the log says of all strata; requirements that could not be met are an error."""
    refuse_breaches(_summed(said, "broken"))
    figures: dict[str, Any] = {
        "records": sum(one["records"] for one in said),
        "leaves": sum(one["leaves"] for one in said),
        "donor_used_at_most": max(one["used"] for one in said),
        "spikes": {c: len(kinds.numbers[c]) for c in kinds.order if kinds.numbers.get(c)},
    }
    figures |= {f"redrawn_{kind}": number for kind, number in _summed(said, "redrawn").items()}
    figures |= {f"left_{kind}": number for kind, number in _summed(said, "left").items() if number}
    return figures


def predictors_chosen(said: Sequence[Mapping[str, Any]], kinds: Kinds) -> list[str]:
    """Variables whose predictors were chosen among too many, in some stratum."""
    cut = {name for one in said for name in one["cut"]}
    return [name for name in kinds.order if name in cut]


def _summed(said: Sequence[Mapping[str, Any]], what: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in said:
        for name, number in one[what].items():
            found[name] = found.get(name, 0) + number
    return found
