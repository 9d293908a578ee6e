"""Released columns as clues, also what stands inside texts and long codes: a birth year, a region's name."""

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from sdckit.data.values import texts
from sdckit.risk._guesses import Clue

CODES = 1_000  # whole numbers in so short a range are codes as they are
WIDTHS = (1, 2, 4)  # characters of a code that are looked at together
LONGEST = 20  # characters of a code
SHORTEST = 5
MOST_NAMES = 500  # values of a hidden category that are looked for in texts


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
