"""Rank swapping: numbers change places with numbers of nearly the same rank."""

import math
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from sdckit._support.arrays import Ints
from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.data.roles import Role
from sdckit.methods.options import NUMERIC, By, Option
from sdckit.methods.registry import protection
from sdckit.methods.where import Where
from sdckit.protect._draws import Draws, in_order_of_ids
from sdckit.protect._households import once_per_household
from sdckit.protect._memory import require_memory
from sdckit.protect._numbers import NumbersToChange, number_columns
from sdckit.protect._strata import strata
from sdckit.protect._swapped_groups import swap_in_groups


class Swap(StrEnum):
    """Which ranks may change places."""

    WINDOW = "window"
    GROUPS = "groups"


@protection(
    "Rank swapping",
    family="Exchanged values",
    engines="all",
    needs=Role.NUMERIC,
    reference="Moore (1996); Kim, Measures of Data Utility for Complex Survey Data, for the groups",
    renamed={"share": "rank_distance", "rule": "method"},
)
@once_per_household
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
      2 ranks) and shuffled within each group; a value may draw its own place. The only method on DuckDB and
      Spark, with the same result as in memory for the same seed: drawing partners in a window goes from
      value to value through the whole file.

    The values of each variable stay exactly the same, only who has them changes; relations between variables
    weaken as `rank_distance` grows, and with 1 nothing is left of them. Equal values are ranked in the order
    of the ids, without ids in that of the file. `by`: within strata, n being the stratum's; a stratum's only
    record keeps its values.
    A record keeps its place and its other columns: measures that compare record by record say how far the
    values moved, and little of what analyses lose.

    Missing values stay missing, where they are. Weights are not used.
    `where`: protect only the records that a measure flags, see `sdckit.methods.where`.
    Reference: Moore (1996), "Controlled data-swapping techniques"; groups: Kim's simulation.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [10, 40, 20, 30]}), numeric="x")
    >>> sdc.protect.rank_swap(data, rank_distance=0.25, rng=1).frame["x"].to_list()
    [20, 30, 10, 40]
    """
    names = number_columns(data, variables, "rank_swap")
    if method is Swap.GROUPS:
        return swap_in_groups(data, names, rank_distance, by, Draws(data, rng))
    require_memory(data, "rank_swap with the method window (groups does not)")
    first = in_order_of_ids(data)
    columns = []
    changed = stayed = 0
    for name in names:
        old = data.frame[name]
        source = np.arange(len(old))
        for rows in _sorted_strata(old, first, strata(data, by)):
            places = _partners(len(rows), rank_distance, rng)
            source[rows] = rows[places]
            stayed += int((places == np.arange(len(places))).sum())
        new = old.gather(source)
        changed += int((new != old).sum())
        columns.append(pl.Series(name, new))
    effects = Effects(moves_values=tuple(names))
    frame = data.frame.with_columns(columns)
    return data.with_frame(frame, effects=effects, values_changed=changed, values_not_moved=stayed)


def _sorted_strata(column: pl.Series, first: Ints, blocks: list[Ints]) -> Iterator[Ints]:
    """The rows of each stratum with a value, in ascending order, equal ones in the order `first`."""
    ranks = np.empty(len(column), dtype=np.int64)
    ranks[first] = column.gather(first).rank("ordinal").fill_null(0).to_numpy()
    for rows in blocks:
        present = rows[ranks[rows] > 0]
        yield present[np.argsort(ranks[present])]


def _partners(n: int, distance: float, rng: np.random.Generator) -> Ints:
    """The rank whose value each of n ranks receives."""
    from sdckit.kernels.swapping import swap_in_window

    window = math.floor(distance * n + 1e-9)  # 0.29 · 100 is a little below 29 in floating point
    return swap_in_window(n, max(window, 1), int(rng.integers(2**63)))
