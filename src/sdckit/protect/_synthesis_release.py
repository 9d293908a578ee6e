"""The file that is released: columns from donors, new ids and order, weights that add up."""

from dataclasses import replace

import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.protect._synthesis_draft import Draft
from sdckit.protect._synthesis_records import Base
from sdckit.protect.new_ids import renumbered

TOTAL, BEFORE, AFTER = "\0total", "\0total before", "\0total after"  # no column is called so


def new_file(
    base: Base, draft: Draft, homes: Ints | None, rng: np.random.Generator, *, equal_weights: bool
) -> tuple[Microdata, Effects]:
    """A fully synthetic file: no number of the original names a record, and the order says nothing.

    homes: the household of each record. Direct identifiers are left out.
    """
    data, roles = base.data, base.data.roles
    n = draft.size
    new = {}  # columns that no donor has
    for name in data.columns:
        if name == roles.id or (name == roles.household and homes is None):  # every record alone
            new[name] = pl.Series(name, _new_numbers(n, rng))
        elif name == roles.household and homes is not None:
            new[name] = renumbered(pl.Series(name, homes), int(rng.integers(2**63)), 0)
        elif name == roles.weight and equal_weights:
            new[name] = pl.Series(name, np.full(n, data.weights().sum() / n))
        elif name == roles.cluster:
            new[name] = renumbered(draft.column(name), int(rng.integers(2**63)), 0)
    order = rng.permutation(n)
    if homes is not None:
        block = rng.permutation(int(homes.max()) + 1)[homes]
        order = np.argsort(block, kind="stable")  # the head stays first
    mixed = draft.some(order)
    kept = [name for name in data.columns if name not in roles.direct]
    frame = pl.DataFrame([new[c].gather(order) if c in new else mixed.column(c) for c in kept])
    if roles.weight is not None and not equal_weights:
        frame = frame.with_columns(_scaled(data, frame))
    names = tuple(c for c in (roles.id, roles.household, roles.cluster) if c is not None)
    ready = replace(data, labels=data.labels.without_values(names))
    ready = ready.without(roles.direct) if roles.direct else ready
    synthesised = tuple(c for c in frame.columns if c not in (roles.id, roles.household))
    effects = Effects(
        renames_ids=roles.id is not None,
        new_numbers=names,
        synthesises=synthesised,
        drops=roles.direct,
        new_records=True,
        reorders_rows=True,
    )
    return replace(ready, frame=frame), effects


def _scaled(data: Microdata, frame: pl.DataFrame) -> pl.Series:
    """The weights, so that they add up to the totals of the original in every stratum that has records."""
    name, strata = data.roles.weight or "", list(data.roles.strata)
    if not strata:
        factor = float(data.weights().sum()) / pl.col(name).cast(pl.Float64).sum()
        return frame.select((pl.col(name).cast(pl.Float64) * factor).alias(name)).to_series()
    before, here = _totals(data.frame, strata, name), _totals(frame, strata, name)
    both = frame.select(*strata, name)
    for totals, called in ((before, BEFORE), (here, AFTER)):
        totals = totals.rename({TOTAL: called})
        both = both.join(totals, on=strata, how="left", nulls_equal=True, maintain_order="left")
    factor = (pl.col(BEFORE) / pl.col(AFTER)).fill_null(1.0)
    return both.select((pl.col(name).cast(pl.Float64) * factor).alias(name)).to_series()


def _totals(frame: pl.DataFrame, strata: list[str], name: str) -> pl.DataFrame:
    """The sum of the weights in every stratum, added up in the order of the file.

    Through lists: threads that add up parts of a group give last digits that change from run to run.
    """
    groups = frame.group_by(strata, maintain_order=True).agg(pl.col(name).cast(pl.Float64).alias(TOTAL))
    return groups.with_columns(pl.col(TOTAL).list.sum())


def changed_file(base: Base, draft: Draft, chosen: Ints | None) -> tuple[Microdata, Effects]:
    """A partly synthetic file: every record keeps its place and its other values."""
    data = base.data
    names = [*base.scope.targets, *base.expressions]
    columns = [draft.column(name) for name in names]
    if chosen is not None:
        some = np.zeros(data.height, dtype=bool)
        some[chosen] = True
        pick = pl.when(pl.Series(some))
        columns = [
            pl.select(pick.then(c).otherwise(data.frame[c.name]).alias(c.name)).to_series() for c in columns
        ]
    return replace(data, frame=data.frame.with_columns(columns)), Effects(synthesises=tuple(names))


def share_of_own(base: Base, frame: pl.DataFrame, names: tuple[str, ...]) -> float:
    """The share of cells that are equal to those of the same record before."""
    before = base.data.frame
    same = [float(frame[c].eq_missing(before[c]).mean() or 0.0) for c in names]
    return float(np.mean(same))


def _new_numbers(count: int, rng: np.random.Generator) -> Ints:
    """So many different random numbers, all with the same number of digits."""
    lowest = 10 ** len(str(count))
    return np.asarray(lowest + rng.choice(9 * lowest, size=count, replace=False))
