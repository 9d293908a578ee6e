"""The file that is released: columns from donors, new ids and order, weights that add up."""

from dataclasses import replace

import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.protect._synthesis_draft import Draft
from sdckit.protect._synthesis_records import Base


def new_file(
    base: Base, draft: Draft, homes: Ints | None, rng: np.random.Generator, *, equal_weights: bool
) -> tuple[Microdata, Effects]:
    """A fully synthetic file: no number of the original names a record, and the order says nothing.

    homes: the household of each record. Direct identifiers are left out.
    """
    data, roles = base.data, base.data.roles
    n = draft.size
    columns = {}
    for name in data.columns:
        if name in roles.direct:
            continue
        if name == roles.id:
            columns[name] = _numbered(pl.Series(name, np.arange(n)), rng)
        elif name == roles.household and homes is not None:
            columns[name] = _numbered(pl.Series(name, homes), rng)
        elif name == roles.household:  # every record alone
            columns[name] = _numbered(pl.Series(name, np.arange(n)), rng)
        elif name == roles.weight and equal_weights:
            columns[name] = pl.Series(name, np.full(n, data.weights().sum() / n))
        elif name == roles.cluster:
            columns[name] = _numbered(draft.column(name), rng)
        else:
            columns[name] = draft.column(name)
    frame = pl.DataFrame(list(columns.values()))
    if roles.weight is not None and not equal_weights:
        frame = frame.with_columns(_scaled(data, frame))
    order = rng.permutation(n)
    if homes is not None:
        block = rng.permutation(int(homes.max()) + 1)[homes]
        order = np.argsort(block, kind="stable")  # the head stays first
    names = tuple(c for c in (roles.id, roles.household, roles.cluster) if c is not None)
    ready = replace(data, labels=data.labels.without_values(names))
    ready = ready.without(roles.direct) if roles.direct else ready
    synthesised = tuple(c for c in frame.columns if c not in (roles.id, roles.household))
    effects = Effects(
        renames_ids=roles.id is not None,
        synthesises=synthesised,
        drops=roles.direct,
        new_records=True,
        reorders_rows=True,
    )
    return replace(ready, frame=frame[order]), effects


def _scaled(data: Microdata, frame: pl.DataFrame) -> pl.Series:
    """The weights, so that they add up to the totals of the original in every stratum that has records."""
    name, strata = data.roles.weight or "", list(data.roles.strata)
    if not strata:
        factor = float(data.weights().sum()) / pl.col(name).cast(pl.Float64).sum()
        return frame.select((pl.col(name).cast(pl.Float64) * factor).alias(name)).to_series()
    before = data.frame.group_by(strata).agg(
        pl.col(name).cast(pl.Float64).sum().alias("total of the stratum")
    )
    both = frame.select(*strata, name).join(
        before, on=strata, how="left", nulls_equal=True, maintain_order="left"
    )
    here = pl.col(name).cast(pl.Float64).sum().over(strata)
    factor = (pl.col("total of the stratum") / here).fill_null(1.0)
    return both.select((pl.col(name).cast(pl.Float64) * factor).alias(name)).to_series()


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


def _numbered(column: pl.Series, rng: np.random.Generator) -> pl.Series:
    """Each different value with a random number of its own, of one digit more than needed."""
    old = column.drop_nulls().unique(maintain_order=True)  # in order of appearance: the same every time
    if not len(old):
        return column.cast(pl.Int64, strict=False)
    lowest = 10 ** len(str(len(old)))
    new = lowest + rng.choice(9 * lowest, size=len(old), replace=False)
    return column.replace_strict(old, pl.Series(new, dtype=pl.Int64), default=None, return_dtype=pl.Int64)
