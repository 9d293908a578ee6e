"""Households of records that stay on an engine: what tells them apart, and what is true of all of them."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import polars as pl

from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random
from sdckit.engine.tables import OURS, RECORDS, Table, count_cells
from sdckit.protect._memory import shared_columns
from sdckit.protect._synthesis_households import HomeFacts, in_one_order, may_be_relation
from sdckit.protect._synthesis_order import SIZE

UNIT, ALONE, CODE = (f"{OURS}{part}" for part in ("unit", "alone", "unit_code"))
_OWN, _VALUE, _COUNT, _SIZE = (f"{OURS}{part}" for part in ("own", "value", "count", "size"))


def with_units(data: Microdata) -> Table:
    """The records with what tells their household apart (UNIT and ALONE) and its number (CODE).

    A record without a household is one of its own, by its id.
    """
    id, home = data.roles.id or "", data.roles.household
    table = random.with_whole_id(data.table, id, _OWN)
    if home is None:
        unit, code, alone = nw.col(id), nw.col(_OWN), nw.lit(1)
    else:
        table = random.with_whole_id(table, home, CODE)
        kinds, none = table.collect_schema(), nw.col(home).is_null()
        kind = (
            nw.Int64() if kinds[id].is_signed_integer() and kinds[home].is_signed_integer() else nw.String()
        )
        unit = nw.when(none).then(nw.col(id).cast(kind)).otherwise(nw.col(home).cast(kind))
        code = nw.when(none).then(nw.col(_OWN)).otherwise(nw.col(CODE))
        alone = nw.when(none).then(nw.lit(1)).otherwise(nw.lit(0))
    return table.with_columns(unit.alias(UNIT), code.alias(CODE), alone.cast(nw.Int64).alias(ALONE))


def units(data: Microdata, columns: Sequence[str] = ()) -> Table:
    """A row for each household, and each value of these columns in it."""
    return with_units(data).select(UNIT, ALONE, *columns).unique()


def home_facts_on_engine(data: Microdata, columns: Sequence[str]) -> HomeFacts | None:
    """As `home_facts` of records in memory."""
    if data.roles.household is None:
        return None
    count = frames.height(units(data).to_native())
    if count == data.height:
        return None
    shared = tuple(shared_columns(data, columns))
    size = next((c for c in shared if _is_size(data, c)), SIZE)
    relation, head = _relation(data, [c for c in columns if c not in shared], count)
    return HomeFacts(shared, size, relation, head)


def _is_size(data: Microdata, column: str) -> bool:
    """Whether a column says how many members a household has."""
    if not frames.schema(data.frame)[column].is_numeric():
        return False
    table = with_units(data).select(UNIT, ALONE, nw.col(column).alias(_VALUE))
    homes = table.group_by(UNIT, ALONE).agg(
        nw.len().alias(_SIZE), nw.col(_VALUE).count().alias(_COUNT), nw.col(_VALUE).min()
    )
    other = (nw.col(_COUNT) != nw.col(_SIZE)) | (nw.col(_VALUE) != nw.col(_SIZE))
    return frames.height(homes.filter(other).to_native()) == 0


def _relation(data: Microdata, columns: Sequence[str], count: int) -> tuple[str, Any]:
    """The variable and the value that exactly one member of every household has: the head's."""
    kinds = frames.gather(data.table.head(0)).schema
    different = frames.different_values(data.frame, columns)
    for name in (c for c in columns if may_be_relation(kinds[c], different[c])):
        cells = count_cells(data.table, [name], None)
        for value in in_one_order(cells.filter(pl.col(RECORDS) == count)[name]):
            column = nw.col(name)
            holders = with_units(data).filter(column.is_null() if value is None else column == value)
            if frames.height(holders.select(UNIT, ALONE).unique().to_native()) == count:
                return name, value
    return "", None
