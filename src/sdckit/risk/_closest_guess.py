"""The attack on files without a link: guess from the released records that agree in most keys."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats

PERSON, TARGET, COUNT = "__person", "__target", "__count"


def closest_guesses(
    people: pl.DataFrame, released: pl.DataFrame, keys: Sequence[str], target: str
) -> tuple[Bools, Floats]:
    """For each person whether the commonest value of the closest released records is theirs, and its share.

    The closest records are those with the fewest differing keys, missing being a value of its own.
    """
    counts = released.group_by([*keys, target]).agg(pl.len().cast(pl.Int64).alias(COUNT))
    waiting = people.select(*keys, pl.col(target).alias(TARGET)).with_row_index(PERSON)
    found: list[pl.DataFrame] = []
    for differing in range(len(keys) + 1):
        hits = []
        for same in combinations(keys, len(keys) - differing):
            if not same:
                matched = waiting.join(counts.group_by(target).agg(pl.col(COUNT).sum()), how="cross")
            else:
                part = counts.group_by([*same, target]).agg(pl.col(COUNT).sum())
                matched = waiting.join(part, on=list(same), how="inner", nulls_equal=True)
            hits.append(matched.select(PERSON, pl.col(target), COUNT))
        level = pl.concat(hits).group_by(PERSON, target).agg(pl.col(COUNT).sum())
        if level.height:
            found.append(level)
            waiting = waiting.join(level.select(PERSON).unique(), on=PERSON, how="anti")
        if not waiting.height:
            break
    table = pl.concat(found)
    best = table.sort([PERSON, COUNT, target], descending=[False, True, False]).group_by(
        PERSON, maintain_order=True
    )
    chosen = best.agg(pl.col(target).first(), pl.col(COUNT).first(), pl.col(COUNT).sum().alias("all")).sort(
        PERSON
    )
    truth = people[target]
    right = (chosen[target] == truth).fill_null(value=False).to_numpy()
    return right, np.asarray((chosen[COUNT] / chosen["all"]).to_numpy(), dtype=np.float64)
