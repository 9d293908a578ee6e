"""A part of the records."""

from typing import Annotated

import numpy as np
from pydantic import Field

from sdckit._support.arrays import Bools, Ints
from sdckit.data.microdata import Microdata
from sdckit.errors import DataError, OptionError
from sdckit.methods.options import Column, OneOf, Option
from sdckit.methods.preparing import Prepared
from sdckit.methods.registry import preparation
from sdckit.prepare._rule import RuleText, records_where

BY_RULE = (
    "Whoever knows that a person is in the file knows that the rule holds for them. Weights were not "
    "changed: they stand for the people for whom it holds."
)
SAMPLED = (
    "The file is a sample of the one that was read. Weights were not changed: they no longer add up to the "
    "population, and risks that rest on them are too high rather than too low. To protect by sampling, leave "
    "the file whole and use the step sample_records, which adjusts the weights."
)


@preparation(
    "Keep a part of the records",
    family="Records",
    rules=(OneOf(("where", "first", "every", "n", "share"), required=True),),
)
def keep_records(
    data: Microdata,
    *,
    where: Annotated[
        RuleText,
        Option(
            "Records for which", 'A rule, for instance age >= 18 and region == "N".', basic=True, absent="all"
        ),
    ]
    | None = None,
    first: Annotated[
        int, Field(ge=1), Option("The first", "So many from the beginning of the file.", absent="all")
    ]
    | None = None,
    every: Annotated[
        int, Field(ge=2), Option("Every so many-th", "The first, then one in so many.", absent="all")
    ]
    | None = None,
    n: Annotated[
        int, Field(ge=1), Option("Number at random", "So many, drawn at random.", basic=True, absent="all")
    ]
    | None = None,
    share: Annotated[
        float,
        Field(gt=0, lt=1),
        Option("Share at random", "This share of them, drawn at random.", basic=True, absent="all"),
    ]
    | None = None,
    together: Annotated[
        Column,
        Option(
            "Keep together",
            "Records with the same value of this column, such as a household, are counted and drawn as one.",
            absent="every record is drawn on its own",
        ),
    ]
    | None = None,
    seed: Annotated[
        int, Field(ge=0), Option("Seed", "The same seed draws the same records, with n and share.")
    ] = 0,
) -> Prepared:
    """Keep the records for which a rule holds, the first ones, every so many-th, or some drawn at random.

    A comparison with a missing value does not hold. With `together` whole households are kept: the first n of
    them, every n-th, or n of them; with `where`, all members of a household with one for whom the rule holds.
    Records with a missing household are households of their own.

    Weights are not changed, and all risks are those of the records that are kept: a part chosen by a rule is
    the population of that rule, a sample is judged as if it were all there is. To release a random
    sample as a protection use `sample_records` instead, which adjusts the weights and is judged as a step.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"age": [17, 40, None, 65]}))
    >>> sdc.prepare.keep_records(data, where="age >= 18").frame["age"].to_list()
    [40, 65]
    >>> sdc.prepare.keep_records(data, every=2).frame["age"].to_list()
    [17, None]
    """
    drawn = n is not None or share is not None
    if seed and not drawn:
        raise OptionError("Option 'seed' of keep_records means nothing without 'n' or 'share'.", given=seed)
    units, count = _units(data, together)
    if where is not None:
        held = records_where(data, where)
        kept = np.bincount(units, weights=held, minlength=count) > 0
    elif drawn:
        kept = _at_random(count, n if n is not None else max(round((share or 0) * count), 1), seed)
    else:
        kept = np.arange(count) % every == 0 if every is not None else np.arange(count) < (first or 0)
    rows = np.flatnonzero(kept[units])
    if not len(rows):
        raise DataError("keep_records would keep no record.", given=where, hint="Is the rule right?")
    figures = {
        "records_before": data.height,
        "records_kept": len(rows),
        "note": SAMPLED if where is None else BY_RULE,
    }
    alone = where is not None and together is None
    return Prepared(data.frame[rows], figures, rows, record_by_record=alone)


def _units(data: Microdata, together: str | None) -> tuple[Ints, int]:
    """For each record the number of its unit, in the order of their first records, and how many there are."""
    if together is None:
        return np.arange(data.height), data.height
    values = data.frame[together]
    own = np.where(values.is_null().to_numpy(), 1 + np.arange(data.height), 0)
    ranks = values.rank("dense").fill_null(0).to_numpy()
    _, first, unit = np.unique(np.stack([ranks, own], axis=1), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    return order[unit.reshape(-1)], len(first)


def _at_random(count: int, n: int, seed: int) -> Bools:
    if n > count:
        raise OptionError(
            "n is larger than the number of records or of what is kept together.",
            given=n,
            allowed=f"1 to {count:,}",
        )
    kept = np.zeros(count, dtype=bool)
    kept[np.random.default_rng(seed).choice(count, n, replace=False)] = True
    return kept
