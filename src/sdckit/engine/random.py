"""Random numbers that depend on seed, step and record id only: the same on every engine, in any row order."""

from functools import partial
from hashlib import sha256

import narwhals as nw
import numpy as np

from sdckit._support.arrays import Ints
from sdckit.engine import frames
from sdckit.engine.tables import OURS, Table, native_module, refuse_new_columns
from sdckit.errors import ColumnError, DataError
from sdckit.kernels import secret_numbers
from sdckit.kernels.keyed_numbers import PRIME, ROUNDS
from sdckit.kernels.secret_numbers import Words

_ID = f"{OURS}id"
_WORDS = (f"{OURS}x", f"{OURS}y")


def uniform(table: Table, *, id: str, seed: int, step: int, name: str) -> Table:
    """The table with a column `name` of numbers in (0, 1), each a function of (seed, step, id) alone.

    51 random bits (`sdckit.kernels.keyed_numbers`). Ids are whole numbers or text; equal ids get equal
    numbers, a NULL id gets NULL.
    """
    return _drawn(table, id, round_keys(seed, step), name, normal=False)


def normal(table: Table, *, id: str, seed: int, step: int, name: str) -> Table:
    """The same with standard normal numbers: the normal quantiles of the uniform ones."""
    return _drawn(table, id, round_keys(seed, step), name, normal=True)


def secret_uniform(table: Table, *, id: str, key: Words, name: str) -> Table:
    """The table with a column `name` of numbers in (0, 1) that tell nothing of the key or of each other."""
    refuse_new_columns(table, [name])
    table = with_whole_id(table, id, _ID)
    native = native_module(table).with_computed(
        table.to_native(), _ID, partial(secret_numbers.secret_uniform, key=key, many=True), name
    )
    return frames.lazy(native).drop(_ID)


def secret_places(table: Table, *, column: str, key: Words, digits: int, name: str) -> Table:
    """The table with a column `name`: the numbers from 0 to 9·10^digits − 1 in a column, permuted."""
    refuse_new_columns(table, [name])
    permuted = partial(secret_numbers.secret_places, key=key, digits=digits, many=True)
    return frames.lazy(native_module(table).with_computed(table.to_native(), column, permuted, name))


def secret_key(seed: int, step: int) -> Words:
    """The key of a seed and a step for numbers that must stay secret: two words."""
    return np.frombuffer(sha256(f"secret/{seed}/{step}".encode()).digest()[:16], dtype="<u8").copy()


def round_keys(seed: int, step: int) -> Ints:
    """The keys [2 words, 8 rounds] of a seed and a step: any two steps have unrelated ones."""
    words = [[_key(seed, step, number, word) for number in range(sum(ROUNDS))] for word in _WORDS]
    return np.array(words, dtype=np.int64)


def _drawn(table: Table, id: str, keys: Ints, name: str, *, normal: bool) -> Table:
    refuse_new_columns(table, [name])
    table = with_whole_id(table, id, _ID)
    native = native_module(table).with_keyed_numbers(table.to_native(), _ID, keys, name, normal=normal)
    return frames.lazy(native).drop(_ID)


def _key(seed: int, step: int, number: int, word: str) -> int:
    digest = sha256(f"{seed}/{step}/{number}/{word}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % PRIME


def with_whole_id(table: Table, id: str, name: str) -> Table:
    """The table with the id as a whole number (Int64) in the column `name`; text by its MD5.

    Ids from 2⁶³ on, which few programs know, are taken as texts, all of the column.
    """
    kind = table.collect_schema()[id]
    if (
        kind == nw.UInt64
        and (frames.gather(table.select(nw.col(id).max().alias("high"))).item() or 0) >= 2**63
    ):
        kind = nw.String()
    if kind.is_numeric():
        number = nw.col(id).cast(nw.Int64)
        if not kind.is_integer():
            odd = (nw.col(id).cast(nw.Float64) != number.cast(nw.Float64)).cast(nw.Int64).sum()
            if frames.gather(table.select(odd.alias("odd")))["odd"][0]:
                raise DataError(f"Ids in {id!r} must be whole numbers or text.", given=str(kind))
        return table.with_columns(number.alias(name))
    if kind in (nw.String, nw.Categorical) or isinstance(kind, nw.Enum):
        return frames.lazy(native_module(table).string_code(table.to_native(), id, name))
    raise ColumnError(f"Column {id!r} cannot be an id.", given=str(kind), allowed="whole numbers or text")
