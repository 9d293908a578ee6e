"""Released columns as clues, also what stands inside texts and long codes: a birth year, a region's name."""

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from sdckit._support.arrays import Ints
from sdckit.data.values import texts
from sdckit.risk._guesses import Clue

CODES = 1_000  # whole numbers in so short a range are codes as they are
WIDTHS = (1, 2, 4)  # characters of a code that are looked at together
LONGEST = 20  # characters of a code
SHORTEST = 5
MOST_NAMES = 500  # values of a hidden category that are looked for in texts
PLACES = range(-6, 7)  # powers of ten that a last digit may stand for
ZERO = len(PLACES) + 1  # 0 ends in every place
WHOLE = 1e-9  # relative difference from a whole number that is an error of rounding
LOOKED_AT = 2_000  # numbers of a column that are looked at to see whether it is rounded in parts
FINEST, COARSER = 0.85, 0.02  # shares that end in the last place, and two or more before it, if it is not


def clue_of(column: pl.Series) -> Clue:
    """A released column: the ranks of its values, missing last, and the values where they are numbers."""
    plain = plain_values(column)
    if plain.dtype.is_integer() and plain.null_count() < len(plain):
        low, high = int(plain.min()), int(plain.max())  # type: ignore[arg-type]
        if high - low < CODES:  # sorting would take longer than all the rest
            codes = (plain.cast(pl.Int64) - low).fill_null(high - low + 1).to_numpy()
            place = plain.cast(pl.Float64).fill_null(np.nan).to_numpy()
            return Clue(codes, high - low + 2, place)
    if plain.dtype.is_numeric() and not plain.null_count():
        values, codes = np.unique(plain.to_numpy(), return_inverse=True)
        return Clue(codes.astype(np.int64), len(values) + 1, plain.cast(pl.Float64).to_numpy())
    ranks = plain.rank("dense")
    size = int(ranks.max() or 0) + 1  # type: ignore[arg-type]
    codes = ranks.cast(pl.Int64).fill_null(size).to_numpy() - 1
    if plain.dtype.is_numeric():
        return Clue(codes, size, plain.cast(pl.Float64).fill_null(np.nan).to_numpy())
    return Clue(codes, size, np.where(codes < size - 1, codes, np.nan))


def plain_values(column: pl.Series) -> pl.Series:
    """The column in a type that can be ranked: dates as numbers, names in the order of the alphabet."""
    kind = column.dtype
    if kind == pl.Categorical:
        return column.cast(pl.String)
    if kind == pl.Boolean:
        return column.cast(pl.UInt8)
    if kind.is_decimal():
        return column.cast(pl.Float64)
    return column.to_physical() if kind.is_temporal() or isinstance(kind, pl.Enum) else column


def is_telling_text(column: pl.Series) -> bool:
    """Whether nearly every record has a text or code of its own, so that its parts may tell something."""
    kind = column.dtype
    if not (kind.is_integer() or kind in (pl.String, pl.Categorical)):
        return False
    present = column.drop_nulls()
    return len(present) > 0 and 2 * present.n_unique() > len(present)


def parts_of(column: pl.Series) -> Iterator[tuple[str, Clue]]:
    """The characters of codes that all have the same length; of texts the first number in them."""
    written = texts(column)
    lengths = written.drop_nulls().str.len_chars()
    if lengths.n_unique() == 1 and SHORTEST <= lengths[0] <= LONGEST:
        for width in WIDTHS:
            for at in range(lengths[0] - width + 1):
                clue = clue_of(written.str.slice(at, width))
                if clue.size > 2:
                    where = f"character {at + 1}" if width == 1 else f"characters {at + 1} to {at + width}"
                    yield f"{column.name}, {where}", clue
    elif not column.dtype.is_integer():
        number = clue_of(written.str.extract(r"(\d+)").cast(pl.Int64, strict=False))
        if number.size > 2:
            yield f"{column.name}, the first number in it", number


def mentioned(column: pl.Series, names: Mapping[str, str]) -> Clue | None:
    """Which of some values a text mentions, by the name people use for it; None where none is ever mentioned.

    names: the name of each value.
    """
    sought = {name.lower() for name in names.values() if len(name) > 2}
    if column.dtype.is_integer() or not 0 < len(sought) <= MOST_NAMES:
        return None
    words = texts(column).str.to_lowercase()
    found = words.str.extract_many(sorted(sought), overlapping=False).list.first()
    return clue_of(found) if found.n_unique() > 2 else None


def names_of(column: pl.Series, labels: Mapping[object, str]) -> dict[str, str]:
    """What people call the values of a column: their labels, or the values themselves."""
    values = column.drop_nulls().unique().to_list()
    return {str(value): str(labels.get(value, value)) for value in values[: MOST_NAMES + 1]}


def same_text(first: pl.Series, second: pl.Series) -> np.ndarray:
    """Where two columns say the same."""
    return texts(first).eq(texts(second)).fill_null(value=False).to_numpy()


def is_partly_rounded(column: pl.Series) -> bool:
    """Whether the last digits of a number are not those that all of its values have by chance.

    Of numbers that were made in one way nine in ten end in the last place, and one in a thousand in 000.
    """
    if not column.dtype.is_numeric() or not len(column):
        return False
    some = np.linspace(0, len(column) - 1, min(LOOKED_AT, len(column))).astype(np.int64)
    places = _last_places(column[some])
    known = places[places < ZERO]
    if not len(known):
        return False
    beyond = known - known.min()
    return bool((beyond == 0).mean() < FINEST or (beyond > 1).mean() > COARSER)


def rounding_of(column: pl.Series) -> Clue:
    """The place of the last digit of each number: who was rounded, or moved by noise, and who was not."""
    places = _last_places(column)
    return Clue(places, ZERO + 2, np.where(places > ZERO, np.nan, places))


def _last_places(column: pl.Series) -> Ints:
    """0 where digits beyond all places are left, then one more for each place; `ZERO` for 0, then missing."""
    values = column.cast(pl.Float64).fill_null(np.nan).to_numpy()
    found = np.zeros(len(values), dtype=np.int64)
    with np.errstate(invalid="ignore"):
        for number, place in enumerate(PLACES, 1):
            scaled = values * 10.0**-place
            found[np.abs(scaled - np.rint(scaled)) <= WHOLE * np.maximum(np.abs(scaled), 1.0)] = number
    found[values == 0] = ZERO
    found[np.isnan(values)] = ZERO + 1
    return found
