"""Records or whole households in an order drawn at random within strata, on every engine."""

from collections.abc import Sequence

import narwhals as nw
import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random
from sdckit.engine.joins import join_to_records
from sdckit.engine.tables import OURS, Table
from sdckit.errors import EngineError
from sdckit.protect._draws import Draws, whole_numbers
from sdckit.protect._households import households
from sdckit.protect._strata import pooled_numbers

STRATUM, DRAWN, CODE, ROW = (f"{OURS}{part}" for part in ("stratum", "unit_drawn", "unit_code", "row"))
PLACE = (STRATUM, DRAWN, CODE)
_OWN, _OWN_CODE = f"{OURS}own", f"{OURS}own_code"
_LOW, _HIGH, _CUT, _CUT_CODE = (f"{OURS}{part}" for part in ("low", "high", "cut", "cut_code"))
_HOMES, _ALONE = 0, 1  # steps: numbers of households, and of records without one


def with_strata(data: Microdata, by: Sequence[str]) -> Table:
    """The table with the number of each record's stratum."""
    return join_to_records(data.table, pooled_numbers(data, by, 0, STRATUM), list(by), [STRATUM])


def with_drawn_units(data: Microdata, by: Sequence[str], draws: Draws) -> Table:
    """The table with the stratum, keyed number and code of each record's unit, and in memory with its row.

    The unit is the household, the record itself where there is none; the code decides where two units drew
    the same number.
    """
    table = with_strata(data, by)
    if data.engine == "polars":
        return _in_memory(data, frames.gather(table), draws)
    home, id = data.roles.household, data.roles.id or ""
    table = draws.with_uniform(random.with_whole_id(table, id, _OWN_CODE), _ALONE, _OWN)
    if home is None:
        return table.with_columns(nw.col(_OWN).alias(DRAWN), nw.col(_OWN_CODE).alias(CODE))
    require_one_stratum(data, home, by)
    table = random.with_whole_id(table, home, CODE)
    table = random.uniform(table, id=home, seed=draws.seed, step=_HOMES, name=DRAWN)
    alone = nw.col(home).is_null()
    return table.with_columns(
        nw.when(alone).then(nw.col(own)).otherwise(nw.col(shared)).alias(shared)
        for own, shared in ((_OWN, DRAWN), (_OWN_CODE, CODE))
    )


def _in_memory(data: Microdata, frame: pl.DataFrame, draws: Draws) -> Table:
    codes, drawn, stratum = draws.codes, draws.uniform(_ALONE), frame[STRATUM].to_numpy()
    homes, name = households(data), data.roles.household
    if homes is not None and name is not None:
        has = frame[name].is_not_null().to_numpy()
        codes, drawn = codes.copy(), drawn.copy()
        codes[has] = whole_numbers(frame[name].filter(pl.Series(has)))
        drawn[has] = draws.uniform_of(codes[has], _HOMES)
        stratum = stratum[homes.first][homes.number]
    rows = pl.Series(ROW, np.arange(frame.height))
    columns = (pl.Series(STRATUM, stratum), pl.Series(DRAWN, drawn), pl.Series(CODE, codes), rows)
    return frames.lazy(frame.with_columns(*columns))


def require_one_stratum(data: Microdata, home: str, by: Sequence[str]) -> None:
    """Refuse households in several strata: outside memory there is no first member to go by."""
    strata = data.table.select(*dict.fromkeys([home, *by])).filter(~nw.col(home).is_null()).unique()
    several = strata.group_by(home).agg(nw.len().alias(OURS)).filter(nw.col(OURS) > 1)
    if by and frames.height(several.to_native()):
        raise EngineError(
            f"Members of some households are in different strata, which is not possible on {data.engine}.",
            given=", ".join(by),
            hint="Name columns that all members share, or bring the records into memory: data.collect().",
            plan_hint="Name columns that all members share, or leave out engine under data:.",
        )


def last_drawn(units: Table, strata: Ints, sizes: Ints, wanted: Ints) -> list[pl.Series]:
    """The number and code of the last unit of each stratum that is among the first `wanted` of them.

    The numbers are spread evenly, so that the n-th smallest of N is near n/N: only the units near it are
    brought into memory, and those below are counted. No sort, and nothing grows with the file but its root.
    """
    share = wanted / np.maximum(sizes, 1)
    width = (6 * np.sqrt(wanted * (1 - share)) + 12) / np.maximum(sizes, 1)
    low, high = np.maximum(share - width, 0.0), np.minimum(share + width, 1.0)
    cut, code = np.zeros(len(strata)), np.zeros(len(strata), dtype=np.int64)
    left = np.arange(len(strata))
    while len(left):
        left = left[~_found(units, strata[left], low[left], high[left], wanted[left], (cut, code), left)]
        low[left], high[left] = 0.0, 1.0  # by bad luck outside
    return [pl.Series(_CUT, cut), pl.Series(_CUT_CODE, code)]


def _found(
    units: Table,
    strata: Ints,
    low: Floats,
    high: Floats,
    wanted: Ints,
    cuts: tuple[Floats, Ints],
    places: Ints,
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """In which strata the unit sought is between low and high; its number and code are then filled in."""
    limits = pl.DataFrame({STRATUM: strata, _LOW: low, _HIGH: high})
    table = join_to_records(units.select(*PLACE), limits, [STRATUM], [_LOW, _HIGH])
    below = (nw.col(DRAWN) < nw.col(_LOW)).cast(nw.Int64).sum().alias(OURS)
    counts = dict(frames.gather(table.group_by(STRATUM).agg(below)).iter_rows())
    near = table.filter((nw.col(DRAWN) >= nw.col(_LOW)) & (nw.col(DRAWN) <= nw.col(_HIGH)))
    rows = frames.gather(near.select(*PLACE)).sort(*PLACE)
    groups = {key: part for (key,), part in rows.group_by([STRATUM], maintain_order=True)}
    found = np.zeros(len(strata), dtype=bool)
    for i, (stratum, number) in enumerate(zip(strata.tolist(), wanted.tolist(), strict=True)):
        part, place = groups.get(stratum), number - 1 - int(counts.get(stratum) or 0)
        if part is not None and 0 <= place < part.height:
            found[i] = True
            cuts[0][places[i]], cuts[1][places[i]] = part[DRAWN][place], part[CODE][place]
    return found


def first_drawn(table: Table, cuts: pl.DataFrame) -> Table:
    """The records whose units are among the first of their strata, up to the last one given."""
    table = join_to_records(table, cuts, [STRATUM], [_CUT, _CUT_CODE])
    drawn, code = nw.col(DRAWN), nw.col(CODE)
    before = (drawn < nw.col(_CUT)) | ((drawn == nw.col(_CUT)) & (code <= nw.col(_CUT_CODE)))
    return table.filter(before)
