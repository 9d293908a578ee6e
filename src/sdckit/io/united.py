"""The type that holds all values of two types unchanged."""

import polars as pl

SIGNED = (pl.Int8(), pl.Int16(), pl.Int32(), pl.Int64())
UNSIGNED = (pl.UInt8(), pl.UInt16(), pl.UInt32(), pl.UInt64())
BITS: dict[pl.DataType, int] = {
    kind: 8 * 2**i for kinds in (SIGNED, UNSIGNED) for i, kind in enumerate(kinds)
}
EXACT = 32  # bits of whole numbers that every double holds unchanged


def united(one: pl.DataType, other: pl.DataType) -> pl.DataType | None:
    """The smallest type that every value of both fits; None where a value might change.

    Texts and categories become texts. Whole numbers of 64 bits and floating-point numbers have no such type:
    2⁵³ + 1 would be rounded.

    >>> united(pl.Int8(), pl.UInt8()), united(pl.Int32(), pl.Float32()), united(pl.Int64(), pl.Float64())
    (Int16, Float64, None)
    """
    if one == other or other == pl.Null:
        return one
    if one == pl.Null:
        return other
    if _is_text(one) and _is_text(other):
        return pl.String()
    if one.is_integer() and other.is_integer():
        return _whole(one, other)
    if one.is_numeric() and other.is_numeric() and not (one.is_decimal() or other.is_decimal()):
        whole = [kind for kind in (one, other) if kind.is_integer()]
        return pl.Float64() if all(BITS.get(kind, 128) <= EXACT for kind in whole) else None
    return None


def _is_text(kind: pl.DataType) -> bool:
    return isinstance(kind, pl.String | pl.Categorical | pl.Enum)


def _whole(one: pl.DataType, other: pl.DataType) -> pl.DataType | None:
    if one not in BITS or other not in BITS:
        return None
    if one.is_signed_integer() == other.is_signed_integer():
        return max(one, other, key=lambda kind: BITS[kind])
    signed, unsigned = (one, other) if one.is_signed_integer() else (other, one)
    wanted = max(BITS[signed], 2 * BITS[unsigned])
    return next((kind for kind in SIGNED if BITS[kind] == wanted), None)
