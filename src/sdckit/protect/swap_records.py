"""Targeted record swapping: households change places between areas."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import BeforeValidator, Field

from sdckit._support.arrays import Bools, Ints
from sdckit.data.effects import Effects
from sdckit.data.key_cells import key_codes
from sdckit.data.microdata import Microdata
from sdckit.errors import RoleError
from sdckit.methods.options import KEYS, ColumnName, Columns, KeyColumns, Option, Shape
from sdckit.methods.registry import protection
from sdckit.protect._households import Households, households


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
    Reference: Shlomo, Tudor & Groom (2010), "Data swapping for protecting census tables".

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"area": ["N", "N", "S", "S"], "size": [1, 2, 1, 2], "x": [1, 2, 3, 4]}))
    >>> sdc.protect.swap_records(data, geography="area", similar="size", share=0.5, rng=1).frame.rows()
    [('N', 1, 1), ('S', 2, 2), ('S', 1, 3), ('N', 2, 4)]
    """
    if k is not None and not keys:
        raise RoleError("k needs keys.", hint="Name them in the option keys.")
    homes = households(data) or Households(np.arange(data.height), np.arange(data.height))
    areas, settled = _areas(data, homes, geography)
    risk = _risk(data, homes, geography, keys, k) if k is not None else np.full(len(homes.first), len(areas))
    risky = settled & (risk < len(areas))
    profiles = [_sorted(_profile(data, homes, columns), areas, settled) for columns in similar]
    partner = np.full(len(homes.first), -1, dtype=np.int64)
    for profile in profiles:
        queue = rng.permutation(np.flatnonzero(risky))
        queue = queue[np.argsort(risk[queue], kind="stable")]
        profile.pair(queue, risk[queue], partner, len(queue), rng)
    for profile in profiles:
        wanted = int(share * len(partner) + 1e-9) - int((partner >= 0).sum())
        queue = rng.permutation(np.flatnonzero(settled))
        finest = np.full(len(queue), len(areas) - 1)
        profile.pair(queue, finest, partner, max(wanted // 2, 0), rng)
    swapped = partner >= 0
    source = homes.first[np.where(swapped, partner, np.arange(len(partner)))][homes.number]
    moved = swapped[homes.number]
    source = np.where(moved, source, np.arange(data.height))
    return data.with_frame(
        data.frame.with_columns(data.frame[c].gather(source) for c in geography),
        effects=Effects(moves_values=tuple(geography)),
        households=len(partner),
        households_swapped=int(swapped.sum()),
        households_risky=int(risky.sum()),
        risky_without_partner=int(_still_there(risk, areas, partner)[risky].sum()),
        records_moved=int(moved.sum()),
    )


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Households in order of profile and area. start, stop: the ends of their profile and areas."""

    home: Ints
    start: Ints
    stop: Ints

    def pair(self, queue: Ints, levels: Ints, partner: Ints, most: int, rng: np.random.Generator) -> None:
        """Partners for the households of the queue that have none, filled into `partner`."""
        from sdckit.kernels.swapping import pair_households

        place = np.full(len(partner), -1, dtype=np.int64)
        place[self.home] = np.arange(len(self.home))
        here = np.where(partner[self.home] >= 0, 0, -1)
        taken = here >= 0
        seed = int(rng.integers(2**62))
        pair_households(place[queue], levels, self.start, self.stop, here, most, seed)
        new = (here >= 0) & ~taken
        partner[self.home[new]] = self.home[here[new]]


def _areas(data: Microdata, homes: Households, geography: Sequence[str]) -> tuple[list[Ints], Bools]:
    """The area of each household at each level, and which have one area that is known."""
    codes = key_codes(data.frame, geography)
    at_home = codes[homes.first]
    away = (codes != at_home[homes.number]).any(axis=1)
    settled: Bools = np.asarray((at_home >= 0).all(axis=1))
    settled[homes.number[away]] = False
    areas = [_numbered(at_home[:, : level + 1]) for level in range(len(geography))]
    return areas, settled


def _risk(data: Microdata, homes: Households, geography: Sequence[str], keys: Columns, k: int) -> Ints:
    """The coarsest level at which a member is one of fewer than k; the number of levels where none is."""
    cell, area = key_codes(data.frame, keys), key_codes(data.frame, geography)
    risk = np.full(len(homes.first), len(geography), dtype=np.int64)
    for level in reversed(range(len(geography))):
        group = _numbered(np.column_stack([cell, area[:, : level + 1]]))
        rare = np.bincount(group)[group] < k
        risk[homes.number[rare]] = level
    return risk


def _still_there(risk: Ints, areas: Sequence[Ints], partner: Ints) -> Bools:
    """Which households are in the area of their risk as before, unswapped or swapped within it."""
    there = partner < 0
    for level, area in enumerate(areas):
        there |= (risk == level) & (area[partner] == area)
    return there


def _profile(data: Microdata, homes: Households, columns: Sequence[str]) -> Ints:
    """A number for each household: the same where size and members' values in the columns agree."""
    size = np.bincount(homes.number)
    if not columns:
        return size
    codes = _numbered(key_codes(data.frame, columns))
    if (codes[homes.first][homes.number] == codes).all():
        return _numbered(np.column_stack([size, codes[homes.first]]))
    # members sorted by value: household by household the list of values so far gets a number
    order = np.lexsort((codes, homes.number))
    begin = np.concatenate([[0], size.cumsum()[:-1]])
    number = size
    for member in range(int(size.max())):
        has = np.flatnonzero(size > member)
        pairs = np.column_stack([number[has], codes[order[begin[has] + member]]])
        number = number.copy()
        number[has] = _numbered(pairs) + len(size) * (member + 1)
    return number


def _sorted(profile: Ints, areas: Sequence[Ints], settled: Bools) -> _Sorted:
    home = np.flatnonzero(settled)
    columns = [profile[home], *(area[home] for area in areas)]
    order = np.lexsort(columns[::-1])
    starts, stops = [], []
    new = np.zeros(len(home), dtype=bool)
    new[:1] = True
    for column in columns:
        values = column[order]
        new[1:] |= values[1:] != values[:-1]
        heads = np.flatnonzero(new)
        run = new.cumsum() - 1
        starts.append(heads[run])
        stops.append(np.append(heads[1:], len(home))[run])
    return _Sorted(home[order], np.array(starts), np.array(stops))


def _numbered(codes: npt.NDArray[Any]) -> Ints:
    """A number for each row, the same for equal rows."""
    number: Ints = codes[:, 0].astype(np.int64) - codes[:, 0].min()
    for column in codes.T[1:]:
        values = column.astype(np.int64) - column.min()
        joined = number * (int(values.max()) + 1) + values
        number = pl.Series(joined).rank("dense").cast(pl.Int64).to_numpy() - 1
    return number
