"""Random numbers that depend on seed, step and record id only: the same on every engine, in any row order."""

from hashlib import sha256

import narwhals as nw

from sdckit.engine import frames
from sdckit.engine.tables import OURS, Table, native_module, refuse_new_columns
from sdckit.errors import ColumnError, DataError

# The largest prime below 2³¹ with P ≡ 2 (mod 3): cubing is one-to-one modulo P, and products fit in Int64.
PRIME = 2_147_483_579
_ROUNDS = (3, 2, 3)  # after the low part, the high part and the rest of the id have gone in
_A, _B, _C, _ID = f"{OURS}a", f"{OURS}b", f"{OURS}c", f"{OURS}id"
_WORDS = (f"{OURS}x", f"{OURS}y")


def uniform(table: Table, *, id: str, seed: int, step: int, name: str) -> Table:
    """The table with a column `name` of numbers in (0, 1), each a function of (seed, step, id) alone.

    Two 31-bit words are each made by rounds x → (x + key)³ mod P, keyed by a hash of seed and step (the block
    of the MiMC cipher, with fewer rounds: good for simulation, not for secrecy), and give 51 random bits.
    Ids are whole numbers or text; equal ids get equal numbers, a NULL id gets NULL.
    """
    refuse_new_columns(table, [name])
    table = _parts(_whole(table, id))
    table = table.with_columns(nw.col(_A).alias(_WORDS[0]), nw.col(_A).alias(_WORDS[1]))
    number = 0
    for part, rounds in zip((None, _B, _C), _ROUNDS, strict=True):
        for i in range(rounds):
            # Staged: an expression that reuses another would be written out again and again in SQL.
            sums = [nw.col(word) + _key(seed, step, number, word) for word in _WORDS]
            if part and i == 0:
                sums = [x + nw.col(part) for x in sums]
            table = table.with_columns(*((x % PRIME).alias(w) for x, w in zip(sums, _WORDS, strict=True)))
            table = table.with_columns(*(x * x % PRIME * x % PRIME for x in map(nw.col, _WORDS)))
            number += 1
    high, low = nw.col(_WORDS[0]), nw.col(_WORDS[1])
    # Exact in floating point: 31 bits of one word, 20 of the other, and a half to keep clear of 0. Then one
    # product, as engines differ in the last digit of a division by a constant (some multiply by its inverse).
    bits = high.cast(nw.Float64) * 2.0**20 + (low - low % 2048).cast(nw.Float64) / 2048.0
    result = ((bits + 0.5) * (1.0 / (PRIME * 2.0**20))).alias(name)
    return table.with_columns(result).drop(_ID, _A, _B, _C, *_WORDS)


def _key(seed: int, step: int, number: int, word: str) -> int:
    digest = sha256(f"{seed}/{step}/{number}/{word}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % PRIME


def _whole(table: Table, id: str) -> Table:
    """The id as Int64 in a column of ours; text by its MD5."""
    kind = table.collect_schema()[id]
    if kind.is_numeric():
        number = nw.col(id).cast(nw.Int64)
        if not kind.is_integer():
            odd = (nw.col(id).cast(nw.Float64) != number.cast(nw.Float64)).cast(nw.Int64).sum()
            if frames.gather(table.select(odd.alias("odd")))["odd"][0]:
                raise DataError(f"Ids in {id!r} must be whole numbers or text.", given=str(kind))
        return table.with_columns(number.alias(_ID))
    if kind in (nw.String, nw.Categorical) or isinstance(kind, nw.Enum):
        return frames.lazy(native_module(table).string_code(table.to_native(), id, _ID))
    raise ColumnError(f"Column {id!r} cannot be an id.", given=str(kind), allowed="whole numbers or text")


def _parts(table: Table) -> Table:
    """The id as three numbers below P. Signs are set aside first: engines differ on −7 mod 3."""
    negative = nw.col(_ID) < 0
    table = table.with_columns(
        nw.when(negative).then(-1 - nw.col(_ID)).otherwise(nw.col(_ID)).alias(_B),
        nw.when(negative).then(nw.lit(4)).otherwise(nw.lit(0)).cast(nw.Int64).alias(_C),
    )
    table = table.with_columns((nw.col(_B) % PRIME).alias(_A))
    # An exact multiple of P, so that rounding the floating-point quotient is exact up to 2⁶³.
    quotient = ((nw.col(_B) - nw.col(_A)).cast(nw.Float64) / float(PRIME)).round(0).cast(nw.Int64)
    table = table.with_columns(quotient.alias(_B))
    table = table.with_columns((nw.col(_B) % PRIME).alias(f"{OURS}d"))
    over = ((nw.col(_B) - nw.col(f"{OURS}d")).cast(nw.Float64) / float(PRIME)).round(0).cast(nw.Int64)
    table = table.with_columns((nw.col(_C) + over).alias(_C), nw.col(f"{OURS}d").alias(_B))
    return table.drop(f"{OURS}d")
