"""Random numbers in place of identifiers."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit.data.effects import Effects
from sdckit.data.microdata import Microdata
from sdckit.engine import frames, random
from sdckit.engine.different_ids import whole_numbers_in
from sdckit.engine.ranks import secret_ranks
from sdckit.engine.tables import OURS, Table, native_module
from sdckit.errors import RoleError
from sdckit.kernels.secret_numbers import Words, secret_places, secret_uniform
from sdckit.methods.registry import protection
from sdckit.protect._draws import whole_numbers

ORDERED = 1_000_000  # different numbers up to which new ones follow an order drawn at random
LONGEST = 14  # digits but one: floating point has 15 that are exact
_OLD, _NEW, _EXTRA = f"{OURS}old", f"{OURS}new_id", f"{OURS}extra"


@protection(
    "New random ids",
    family="The whole file",
    engines="all",
    renames_ids=True,
    reference="Hundepool et al. (2012), ch. 1",
)
def new_ids(data: Microdata, *, rng: np.random.Generator) -> Microdata:
    """Replace record, household and cluster numbers by random ones.

    The columns with the roles id, household and cluster get new whole numbers with one digit more than
    needed, in an order drawn at random and with random gaps: equal numbers stay equal (members of a household
    still share one), different ones stay different, and the new say nothing of the old or their order. Nobody
    can find records again by their old number, nor by the old and new numbers of others: the draws are keyed
    by SipHash (Aumasson & Bernstein 2012). More than a million whole numbers, which take long to be put in
    order, are permuted within their range by ten Feistel rounds of it (Black & Rogaway 2002), which needs no
    sort; where the range is much wider than their number, the new ones have a digit more than the range.
    The rows stay in their order (see `shuffle_order`), so that measures can still compare record by record
    here, though not on an engine outside memory; once the file is written they cannot.
    The seed decides the new numbers together with the old ones: keep it as secret as the original, or give
    none; a small number is no secret, and one seed for two files of the same people links them. Missing stays
    missing. Reference: Hundepool et al. (2012).

    >>> import polars as pl, sdckit as sdc
    >>> frame = pl.DataFrame({"home": ["a", "a", "b"], "person": [11, 12, 21]})
    >>> sdc.protect.new_ids(sdc.read(frame, id="person", household="home"), rng=1).frame["home"].to_list()
    [50, 50, 96]
    """
    roles = data.roles
    names = list(dict.fromkeys(c for c in (roles.id, roles.household, roles.cluster) if c is not None))
    if not names:
        raise RoleError(
            "new_ids needs the role 'id', 'household' or 'cluster', and the data have none of them.",
            hint="Give the role id to the column that numbers the records.",
        )
    seed = int.from_bytes(rng.bytes(16), "big")
    ready = data.but(labels=data.labels.without_values(tuple(names)))
    effects = Effects(renames_ids=roles.id is not None, record_by_record=True, new_numbers=tuple(names))
    frame, numbers = renumbered_columns(data, names, seed)
    return ready.with_frame(frame, effects=effects, changed=names, ids_replaced=numbers)


def renumbered_columns(data: Microdata, names: Sequence[str], seed: int) -> tuple[Any, dict[str, int]]:
    """The table with new numbers in some columns, and how many different ones each had, on any engine."""
    return (_in_memory if data.engine == "polars" else _on_engine)(data, names, seed)


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
    order, gaps = _keys(seed, step)
    if column.dtype.is_integer():
        low, high = int(old.min() or 0), int(old.max() or 0)  # type: ignore[arg-type]
        if digits := _digits(len(old), low, high):
            places = secret_places((column.cast(pl.Int64) - low).fill_null(0).to_numpy(), order, digits)
            new = pl.Series(column.name, places + 10**digits)
            return pl.select(pl.when(column.is_not_null()).then(new).alias(column.name)).to_series()
    codes = whole_numbers(old)
    place = np.empty(len(old), dtype=np.int64)
    place[np.lexsort((codes, secret_uniform(codes, order)))] = np.arange(len(old))
    lowest, room = _range(len(old))
    extra = np.floor(secret_uniform(codes, gaps) * float(room))
    new = pl.Series(lowest + room * place + extra.astype(np.int64), dtype=pl.Int64)
    return column.replace_strict(old, new, default=None, return_dtype=pl.Int64)


def _keys(seed: int, step: int) -> tuple[Words, Words]:
    return random.secret_key(seed, 2 * step), random.secret_key(seed, 2 * step + 1)


def _digits(count: int, low: int, high: int) -> int | None:
    """How many digits, but one, the new numbers of so many whole ones have that are permuted in their range.

    As many as there are in `count`, or in the range where it is wider. None where the numbers are few, so
    that an order is quickly made, or where programs that know only floating point would round the new ones.
    """
    span, digits = high - low + 1, len(str(count))
    digits = digits if span <= 9 * 10**digits else len(str(span))
    suited = count > ORDERED and digits <= LONGEST and max(-low, high) < 2**63
    return digits if suited else None


def _range(count: int) -> tuple[int, int]:
    """The lowest number with one digit more than `count`, and the room for each of them.

    All numbers with as many digits are used: packed closely, many would be among the old ones by chance.
    """
    lowest = int(10 ** len(str(count)))
    return lowest, 9 * lowest // max(count, 1)


def _on_engine(data: Microdata, names: Sequence[str], seed: int) -> tuple[Any, dict[str, int]]:
    """The same where the records are."""
    table, counts, kinds = data.table, {}, frames.schema(data.frame)
    for step, name in enumerate(names):
        order, gaps = _keys(seed, step)
        alone = name == data.roles.id and data.is_unique(name)
        values = data.table.select(nw.col(name).alias(_OLD))
        numbers = whole_numbers_in(data.table, name) if kinds[name].is_integer() else None
        if alone:
            n = data.height
        elif numbers is not None:
            n = numbers.different()
        else:
            values = _different(values)
            n = frames.height(values.to_native())
        counts[name] = n
        digits = _digits(n, numbers.low, numbers.high) if numbers is not None else None
        if numbers is not None and digits is not None:
            shifted = table.with_columns((nw.col(name).cast(nw.Int64) - numbers.low).alias(_OLD))
            placed = random.secret_places(shifted, column=_OLD, key=order, digits=digits, name=_NEW)
            table = placed.with_columns((nw.col(_NEW) + 10**digits).alias(name)).select(*data.columns)
            continue
        if not alone and numbers is not None:
            values = _different(values)
        table = _in_drawn_order(table, name, values, n, (order, gaps)).select(*data.columns)
    return table.to_native(), counts


def _different(values: Table) -> Table:
    return _kept(values.filter(~nw.col(_OLD).is_null()).unique())


def _in_drawn_order(table: Table, name: str, values: Table, n: int, keys: tuple[Words, Words]) -> Table:
    """By windows over the n different values, and a join."""
    ranked = secret_ranks(values, id=_OLD, n=n, key=keys[0], name=_NEW)
    ranked = random.secret_uniform(ranked, id=_OLD, key=keys[1], name=_EXTRA)
    lowest, room = _range(n)
    new = nw.col(_NEW) * room + (nw.col(_EXTRA) * float(room)).floor().cast(nw.Int64) + lowest
    ranked = _kept(ranked.select(_OLD, new.alias(_NEW)))
    joined = table.join(ranked, left_on=name, right_on=_OLD, how="left")
    return joined.with_columns(nw.col(_NEW).alias(name))


def _kept(table: Table) -> Table:
    """The rows of a table, which each query would otherwise find out again."""
    return frames.lazy(native_module(table).worked_out(table.to_native()))
