"""A random part of the file."""

from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Bools, Ints
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.errors import OptionError
from sdckit.methods.options import By, OneOf, Option
from sdckit.methods.registry import protection
from sdckit.protect._households import households
from sdckit.protect._strata import strata


@protection(
    "Release a random sample",
    family="The whole file",
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
    Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": range(100), "w": [2.0] * 100}), numeric="x", weight="w")
    >>> half = sdc.protect.sample_records(data, share=0.5, rng=1)
    >>> len(half), half.frame["w"].sum()
    (50, 200.0)
    """
    homes = households(data)
    unit = np.arange(data.height) if homes is None else homes.number
    first = unit if homes is None else homes.first
    stratum = np.empty(data.height, dtype=np.int64)
    for number, rows in enumerate(strata(data, by)):
        stratum[rows] = number
    of_units = stratum[first]
    sizes = np.bincount(of_units, minlength=int(stratum.max()) + 1)
    if n is not None and n > len(first):
        raise OptionError(
            f"n is larger than the number of {'records' if homes is None else 'households'}.",
            given=n,
            allowed=f"1 to {len(first)}",
        )
    wanted = _divided(n, sizes) if n is not None else _shares(share or 1.0, sizes)
    kept = _drawn(of_units, wanted, rng)[unit]
    frame = data.frame
    if adjust_weights and data.roles.weight is not None:
        weights = data.weights()
        strata_of = of_units[unit]
        before = np.bincount(strata_of, weights=weights)
        after = np.bincount(strata_of, weights=weights * kept, minlength=len(before))
        factor = before / np.where(after > 0, after, 1.0)
        frame = frame.with_columns(pl.Series(data.roles.weight, weights * factor[strata_of]))
    did = {"records_kept": int(kept.sum()), "records_left_out": int((~kept).sum())}
    if homes is not None:
        did["households_kept"] = int(wanted.sum())
    effects = Effects(drops_rows=True, source_rows=np.flatnonzero(kept))
    return data.with_frame(frame.filter(pl.Series(kept)), effects=effects, **did)


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


def _drawn(stratum: Ints, wanted: Ints, rng: np.random.Generator) -> Bools:
    """Which units are in the sample: the first ones of every stratum in a random order."""
    order = np.lexsort((rng.random(len(stratum)), stratum))
    ordered = stratum[order]
    start = np.searchsorted(ordered, ordered)
    drawn = np.zeros(len(stratum), dtype=bool)
    drawn[order] = np.arange(len(stratum)) - start < wanted[ordered]
    return drawn
