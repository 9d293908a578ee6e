"""Targeted record swapping: households change places between areas."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field

from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.errors import RoleError
from sdckit.methods.options import KEYS, ColumnName, Columns, KeyColumns, Option, Shape
from sdckit.methods.registry import protection
from sdckit.protect._draws import Draws
from sdckit.protect._swapped_homes import Swapping
from sdckit.protect._swapped_in_memory import swapped_in_memory
from sdckit.protect._swapped_on_engine import swapped_on_engine


def _as_profiles(value: Any) -> Any:
    """One profile, a name or a list of names, or a list of profiles: always as profiles."""
    if isinstance(value, str):
        return ((value,),)
    if isinstance(value, Sequence) and all(isinstance(part, str) for part in value):
        return (tuple(value),)
    return value


Profiles = Annotated[
    Sequence[Sequence[str]],
    BeforeValidator(_as_profiles),
    ColumnName(),
    Option(
        "Alike in",
        "Columns in which households that change places agree; several lists are tried one after the other.",
        basic=True,
        absent="the size of the household",
        shape=Shape.COLUMN_LISTS,
    ),
]


@protection(
    "Record swapping between areas",
    family="Exchanged values",
    engines="all",
    reference="Shlomo, Tudor & Groom (2010); Hundepool et al. (2012), ch. 5",
)
def swap_records(
    data: Microdata,
    *,
    geography: Annotated[
        Columns, Option("Geography", "The columns that change places: levels of areas, coarsest first.")
    ],
    similar: Profiles = ((),),
    share: Annotated[
        float,
        Field(ge=0, le=1),
        Option(
            "Share to swap",
            "How many of the households change places.",
            basic=True,
            unit="share of households",
        ),
    ] = 0.05,
    keys: KeyColumns = KEYS,
    k: Annotated[
        int,
        Field(ge=2),
        Option(
            "k",
            "Households with a member whose keys fewer than k records of the area have are swapped first.",
            absent="risk does not matter",
        ),
    ]
    | None = None,
    rng: np.random.Generator,
) -> Microdata:
    """Let similar households of different areas change places: they exchange the columns of `geography`.

    geography: the levels of a hierarchy, coarsest first (state, county, municipality). An area of a level is
    a combination of the columns down to it.
    similar: columns in which partners agree. Households always have the same size; their members agree in all
    these columns together, in any order. So counts of records and of households by area, size and
    `similar` stay exactly. Several profiles ([["size", "age"], ["size"]]) are tried one after the other for
    households without a partner; what the last one names is kept.
    share: the share of households that are swapped, reached from below where partners allow it.
    k: first of all, and beyond `share` if need be, risky households are swapped: those with a member whose
    `keys` fewer than k records of its area have. They leave the coarsest area in which they are risky.

    A partner is drawn from the same area of the next coarser level, where that has one, so that households
    move no further than they must. Afterwards a rare record in a small area may well come from elsewhere;
    share = 0 without k changes nothing. All other columns stay with the household: put every column
    that reveals the area into `geography`. Relations of areas with variables outside `similar` weaken.

    Without a household role every record is its own household. Households with a missing area, or with
    members in different areas, stay. Missing values of keys and of `similar` are categories of their own.
    Weights are not used; sums of weights by area change.
    What households draw depends on the seed and their number (a record without one: its id), whatever the
    order of the rows, and is the same on DuckDB and Spark. Households of one profile above 1,000,000 are cut
    at random into blocks of about 800,000, on every engine, and partners are of the same block: the log then
    has `blocks_of_a_profile`. `households_leaving` says how many went to another area of each level.
    Reference: Shlomo, Tudor & Groom (2010), "Data swapping for protecting census tables".

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"area": ["N", "N", "S", "S"], "size": [1, 2, 1, 2], "x": [1, 2, 3, 4]}))
    >>> sdc.protect.swap_records(data, geography="area", similar="size", share=0.5, rng=1).frame.rows()
    [('N', 1, 1), ('S', 2, 2), ('S', 1, 3), ('N', 2, 4)]
    """
    if k is not None and not keys:
        raise RoleError("k needs keys.", hint="Name them in the option keys.")
    asked = Swapping(
        tuple(geography), tuple(map(tuple, similar)), share, tuple(keys), k, Draws(data, rng).seed
    )
    effects = Effects(moves_values=tuple(geography))
    if data.engine != "polars":
        frame, figures = swapped_on_engine(data, asked)
        return data.with_frame(frame, effects=effects, **figures)
    frame, rows, figures = swapped_in_memory(data, asked)
    effects = replace(effects, column_rows=dict.fromkeys(geography, rows))
    return data.with_frame(frame, effects=effects, **figures)
