"""A random part of the file."""

from typing import Annotated, Any

import narwhals as nw
import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Ints
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.engine import frames
from sdckit.engine.exact_sums import exact_sums
from sdckit.engine.joins import join_to_records
from sdckit.engine.tables import OURS, RECORDS, Table, count_cells, native_module
from sdckit.errors import OptionError
from sdckit.methods.options import By, OneOf, Option
from sdckit.methods.registry import protection
from sdckit.protect._drawn_units import (
    PLACE,
    ROW,
    STRATUM,
    first_drawn,
    last_drawn,
    with_drawn_units,
    with_strata,
)
from sdckit.protect._draws import Draws
from sdckit.protect._engine_numbers import native_of

_FACTOR = f"{OURS}factor"


@protection(
    "Release a random sample",
    family="The whole file",
    engines="all",
    reference="Hundepool et al. (2012), ch. 3",
    rules=(OneOf(("share", "n"), required=True),),
)
def sample_records(
    data: Microdata,
    *,
    share: Annotated[
        float,
        Field(gt=0, le=1),
        Option("Share to keep", "Share of the records or households to keep.", basic=True, absent="by n"),
    ]
    | None = None,
    n: Annotated[
        int,
        Field(ge=1),
        Option("Number to keep", "Number of records or households to keep.", basic=True, absent="by share"),
    ]
    | None = None,
    by: By = (),
    adjust_weights: Annotated[
        bool, Option("Adjust weights", "Multiply the weights, so that their sums stay.")
    ] = True,
    rng: np.random.Generator,
) -> Microdata:
    """Keep a simple random sample of the records, without replacement, so that nobody is surely in the file.

    `share` of the records of every stratum `by` is kept (rounded, and at least one), or `n` records: one of
    every stratum, the rest divided by size. Where the data have households these are drawn whole: share and n
    are of households, and a household belongs to the stratum of its first member.

    Weights: with `adjust_weights` they are multiplied, stratum by stratum, by the sum of weights before
    divided by the sum after, so that their sums stay exactly; with equal weights this is 1/π. Totals then
    stay nearly unbiased (a ratio estimate). Without a weight column nothing is adjusted.
    Missing values matter only in `by`, where missing is a stratum.
    DuckDB and Spark keep the same records for the same seed, where all members of a household are in one
    stratum.
    Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": range(100), "w": [2.0] * 100}), numeric="x", weight="w")
    >>> half = sdc.protect.sample_records(data, share=0.5, rng=1)
    >>> len(half), half.frame["w"].sum()
    (50, 200.0)
    """
    table = with_drawn_units(data, by, Draws(data, rng))
    # outside memory numbers are drawn again for each that asks: whatever can do without them does
    plain = table if data.engine == "polars" else with_strata(data, by)
    units = table.select(*PLACE).unique() if data.roles.household is not None else table.select(*PLACE)
    counts = count_cells(plain if data.roles.household is None else units, [STRATUM], None).sort(STRATUM)
    sizes = counts[RECORDS].to_numpy()
    if n is not None and n > sizes.sum():
        raise OptionError(
            f"n is larger than the number of {'records' if data.roles.household is None else 'households'}.",
            given=n,
            allowed=f"1 to {sizes.sum()}",
        )
    wanted = _divided(n, sizes) if n is not None else _shares(share or 1.0, sizes)
    cuts = counts.select(STRATUM).with_columns(last_drawn(units, counts[STRATUM].to_numpy(), sizes, wanted))
    kept = first_drawn(table, cuts)
    if data.engine != "polars":
        sample = kept.select(*data.columns, STRATUM).to_native()
        kept = frames.lazy(native_module(kept).worked_out(sample))
    if adjust_weights and data.roles.weight is not None:
        kept = _weighted(plain, kept, data.roles.weight)
    found = frames.gather(kept) if data.engine == "polars" else kept.to_native()
    records = frames.height(found)
    did: dict[str, Any] = {"records_kept": records, "records_left_out": data.height - records}
    if data.roles.household is not None:
        did["households_kept"] = int(wanted.sum())
    rows = found[ROW].to_numpy() if data.engine == "polars" else None
    frame = frames.lazy(found).select(*data.columns)
    return data.with_frame(native_of(data, frame), effects=Effects(drops_rows=True, source_rows=rows), **did)


def _weighted(table: Table, kept: Table, weight: str) -> Table:
    """The sample with weights whose sums in the strata are those of all records."""
    before, after = (exact_sums(t, [weight], [STRATUM]) for t in (table, kept))
    factors = {
        stratum: float(total.total / after[stratum,][0].total)
        for (stratum,), (total,) in before.items()
        if (stratum,) in after and after[stratum,][0].total
    }
    joined = join_to_records(
        kept,
        pl.DataFrame(
            {STRATUM: list(factors), _FACTOR: list(factors.values())},
            schema={STRATUM: pl.Int64, _FACTOR: pl.Float64},
        ),
        [STRATUM],
        [_FACTOR],
    )
    return joined.with_columns((nw.col(weight).cast(nw.Float64) * nw.col(_FACTOR)).alias(weight))


def _shares(share: float, sizes: Ints) -> Ints:
    """Units of each stratum: its share, rounded, one at least."""
    return np.where(sizes > 0, np.maximum(np.round(share * sizes), 1), 0).astype(np.int64)


def _divided(n: int, sizes: Ints) -> Ints:
    """n units: one for every stratum, the rest by size, with the largest remainders rounded up."""
    one = np.minimum(sizes, 1)
    if n < one.sum():
        raise OptionError("n is smaller than the number of strata.", given=n, allowed=f"{one.sum()} or more")
    exact = (n - one.sum()) * (sizes - one) / max((sizes - one).sum(), 1)
    wanted: Ints = np.floor(exact).astype(np.int64)
    order = np.argsort(wanted - exact, kind="stable")
    wanted[order[: n - int((one + wanted).sum())]] += 1
    return one + wanted
