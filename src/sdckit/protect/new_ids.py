"""Random numbers in place of identifiers."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random
from sdckit.engine.ranks import keyed_ranks
from sdckit.engine.tables import OURS, Table, native_module
from sdckit.errors import RoleError
from sdckit.kernels.keyed_numbers import keyed_uniform
from sdckit.methods.registry import protection
from sdckit.protect._draws import whole_numbers

_OLD, _NEW, _EXTRA = f"{OURS}old", f"{OURS}new_id", f"{OURS}extra"


@protection(
    "New random ids", family="The whole file", engines="all", reference="Hundepool et al. (2012), ch. 1"
)
def new_ids(data: Microdata, *, rng: np.random.Generator) -> Microdata:
    """Replace record, household and cluster numbers by random ones.

    The columns with the roles id, household and cluster get new whole numbers with one digit more than
    needed, in an order drawn at random and with random gaps: equal numbers stay equal (members of a household
    still share one), different ones stay different, and the new say nothing of the old or their order. Nobody
    can find records again by their old number. The rows stay in their order (see `shuffle_order`), so that
    measures can still compare record by record here, though not on an engine outside memory; once the file is
    written they cannot.
    The seed decides the new numbers together with the old ones: keep it as secret as the original, or give
    none. Missing stays missing. Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> frame = pl.DataFrame({"home": ["a", "a", "b"], "person": [11, 12, 21]})
    >>> sdc.protect.new_ids(sdc.read(frame, id="person", household="home"), rng=1).frame["home"].to_list()
    [66, 66, 54]
    """
    roles = data.roles
    names = list(dict.fromkeys(c for c in (roles.id, roles.household, roles.cluster) if c is not None))
    if not names:
        raise RoleError(
            "new_ids needs the role 'id', 'household' or 'cluster', and the data have none of them.",
            hint="Give the role id to the column that numbers the records.",
        )
    seed = int(rng.integers(2**63))
    ready = data.but(labels=data.labels.without_values(tuple(names)))
    effects = Effects(renames_ids=roles.id is not None, record_by_record=True)
    work = _in_memory if data.engine == "polars" else _on_engine
    frame, numbers = work(data, names, seed)
    return ready.with_frame(frame, effects=effects, changed=names, ids_replaced=numbers)


def _in_memory(data: Microdata, names: Sequence[str], seed: int) -> tuple[pl.DataFrame, dict[str, int]]:
    columns = [renumbered(data.frame[name], seed, step) for step, name in enumerate(names)]
    return data.frame.with_columns(columns), {
        name: data.frame[name].drop_nulls().n_unique() for name in names
    }


def renumbered(column: pl.Series, seed: int, step: int) -> pl.Series:
    """Each different value with a number of its own, whatever the order of the values."""
    old = column.drop_nulls().unique()
    if not len(old):
        return column.cast(pl.Int64, strict=False)
    codes = whole_numbers(old)
    place = np.empty(len(old), dtype=np.int64)
    drawn = keyed_uniform(codes, random.round_keys(seed, 2 * step))
    place[np.lexsort((codes, drawn))] = np.arange(len(old))
    lowest, room = _range(len(old))
    extra = np.floor(keyed_uniform(codes, random.round_keys(seed, 2 * step + 1)) * float(room))
    new = pl.Series(lowest + room * place + extra.astype(np.int64), dtype=pl.Int64)
    return column.replace_strict(old, new, default=None, return_dtype=pl.Int64)


def _range(count: int) -> tuple[int, int]:
    """The lowest number with one digit more than `count`, and the room for each of them.

    All numbers with as many digits are used: packed closely, many would be among the old ones by chance.
    """
    lowest = int(10 ** len(str(count)))
    return lowest, 9 * lowest // max(count, 1)


def _on_engine(data: Microdata, names: Sequence[str], seed: int) -> tuple[Any, dict[str, int]]:
    """The same by windows; numbers that several records share are numbered once and joined."""
    table, counts = data.table, {}
    for step, name in enumerate(names):
        values = data.table.select(nw.col(name).alias(_OLD))
        if name == data.roles.id and data.is_unique(name):
            n = data.height
        else:
            values = _kept(values.filter(~nw.col(_OLD).is_null()).unique())
            n = frames.height(values.to_native())
        counts[name] = n
        ranked = keyed_ranks(values, id=_OLD, n=n, seed=seed, step=2 * step, name=_NEW)
        ranked = random.uniform(ranked, id=_OLD, seed=seed, step=2 * step + 1, name=_EXTRA)
        lowest, room = _range(n)
        new = nw.col(_NEW) * room + (nw.col(_EXTRA) * float(room)).floor().cast(nw.Int64) + lowest
        ranked = _kept(ranked.select(_OLD, new.alias(_NEW)))
        joined = table.join(ranked, left_on=name, right_on=_OLD, how="left")
        table = joined.with_columns(nw.col(_NEW).alias(name)).select(*data.columns)
    return table.to_native(), counts


def _kept(table: Table) -> Table:
    """The rows of a table, which each query would otherwise find out again."""
    return frames.lazy(native_module(table).worked_out(table.to_native()))
