"""Records in a random order."""

import numpy as np

from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random
from sdckit.engine.tables import OURS, native_module
from sdckit.methods.registry import protection
from sdckit.protect._drawn_units import CODE, DRAWN, with_drawn_units
from sdckit.protect._draws import Draws

_MEMBER, _MEMBER_CODE = f"{OURS}member", f"{OURS}member_code"
_MEMBERS = 2  # the step of the numbers that order the members of a household


@protection(
    "Shuffle the order of records",
    family="The whole file",
    engines="all",
    reference="Hundepool et al. (2012), ch. 1",
)
def shuffle_order(data: Microdata, *, rng: np.random.Generator) -> Microdata:
    """Put the records in a random order, so that their place in the file says nothing.

    The order in which a survey was taken, or a register is sorted, says who is near whom. Members of a
    household stay next to each other; households and the members within them change places at random.
    Every order is equally likely; no value changes. Whoever made the file here can still compare it record by
    record: the new order is kept in memory and never written.
    On DuckDB and Spark the file is sorted once and kept so, in memory or on disk; written at once it has the
    same order as from memory, steps in between may give it another, never the old one.
    Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"x": [1, 2, 3, 4, 5]}), numeric="x")
    >>> sdc.protect.shuffle_order(data, rng=1).frame["x"].to_list()
    [3, 1, 5, 4, 2]
    """
    draws = Draws(data, rng)
    table = with_drawn_units(data, (), draws)
    if data.engine != "polars":
        table = random.with_whole_id(table, data.roles.id or "", _MEMBER_CODE)
        table = draws.with_uniform(table, _MEMBERS, _MEMBER)
        by = [DRAWN, CODE, _MEMBER, _MEMBER_CODE]
        native = table.select(*data.columns, *by).to_native()
        frame = native_module(table).sorted_rows(native, by, data.columns)
        return data.with_frame(frame, effects=Effects(reorders_rows=True, record_by_record=True))
    place = frames.gather(table.select(DRAWN, CODE))
    members = (draws.codes, draws.uniform(_MEMBERS))
    order = np.lexsort((*members, place[CODE].to_numpy(), place[DRAWN].to_numpy()))
    moved = int((order != np.arange(data.height)).sum())
    effects = Effects(reorders_rows=True, source_rows=order, record_by_record=True)
    return data.with_frame(data.frame[order], effects=effects, records_moved=moved)
