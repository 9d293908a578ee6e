"""Rank swapping: numbers change places with numbers of nearly the same rank."""

from typing import Annotated

import numpy as np
from pydantic import Field

from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.methods.options import NUMERIC, By, Option
from sdckit.methods.registry import protection
from sdckit.methods.where import Where
from sdckit.protect._draws import Draws
from sdckit.protect._households import once_per_household
from sdckit.protect._numbers import NumbersToChange, number_columns
from sdckit.protect._rank_swapping import Swap, Swapping


@protection(
    "Rank swapping",
    family="Exchanged values",
    engines="all",
    needs=Role.NUMERIC,
    reference="Moore (1996); Kim, Measures of Data Utility for Complex Survey Data, for the groups",
    renamed={"share": "rank_distance", "rule": "method"},
)
@once_per_household()
def rank_swap(
    data: Microdata,
    *,
    variables: NumbersToChange = NUMERIC,
    rank_distance: Annotated[
        float,
        Field(gt=0, le=1),
        Option(
            "Largest distance of ranks",
            "How far apart the ranks of two values that change places may be.",
            basic=True,
            unit="share of the values",
        ),
    ] = 0.05,
    method: Annotated[
        Swap,
        Option(
            "Partners",
            "Which ranks may change places.",
            choices={"window": "pairs within the distance", "groups": "all within groups of near ranks"},
        ),
    ] = Swap.WINDOW,
    by: By = (),
    where: Where | None = None,
    rng: np.random.Generator,
) -> Microdata:
    """Swap values of records that are close in rank, each variable on its own.

    - `window`: values change places in pairs whose ranks differ by at most `rank_distance` times the
      number n of present values (but at least 1). From the lowest rank up, each value without a partner draws
      one among those above it. Where the number of values is odd, one stays.
    - `groups`: the sorted values are cut into groups of ranks with |i−j|/n < `rank_distance` (but at least
      2 ranks) and shuffled within each group; a value may draw its own place.

    The values of each variable stay exactly the same, only who has them changes; relations between variables
    weaken as `rank_distance` grows, and with 1 nothing is left of them. Equal values are ranked in the order
    of the ids, without ids in that of the file. `by`: within strata, n being the stratum's; a stratum's only
    record keeps its values.
    What households share changes places between households, whose values stay, not those of persons.
    A record keeps its place and its other columns: measures that compare record by record say how far the
    values moved, and little of what analyses lose.

    Missing values stay missing, where they are. Weights are not used.
    `where`: protect only the records that a measure flags, see `sdckit.methods.where`.
    DuckDB and Spark give the values of memory for the same seed. Partners in windows are drawn from the
    lowest rank to the highest of a whole stratum: on Spark every worker draws all of them for itself, with
    8 bytes a value and up to 200,000,000 values; on DuckDB they are kept on disk.
    Reference: Moore (1996), "Controlled data-swapping techniques"; groups: Kim's simulation.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [10, 40, 20, 30]}), numeric="x")
    >>> sdc.protect.rank_swap(data, rank_distance=0.25, rng=1).frame["x"].to_list()
    [20, 30, 10, 40]
    """
    names = number_columns(data, variables, "rank_swap")
    draws = Draws(data, rng)
    seeds = (draws.seed, *(int(rng.integers(2**63)) for _ in names[1:]))
    return Swapping(method, rank_distance, draws, seeds).swapped(data, names, by)
