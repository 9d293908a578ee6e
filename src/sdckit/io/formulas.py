"""Texts that a spreadsheet would run as formulas when it opens a text file."""

import re
from collections.abc import Iterable, Iterator

import polars as pl

# Signs that begin a formula in some spreadsheet, full-width ones and blanks that are skipped included.
BEGINS = r"^[=+\-@\t\r\n＝＋－＠]"
# A sign before digits alone is a number or an interval of numbers: -5, +1,5, -1e-3, -10–-5.
NUMBERS = r"^[+-][\d.,\s%]*([eE][+-]?\d+|–\s*[+-]?[\d.,\s%]*)?$"


def runs(texts: pl.Expr) -> pl.Expr:
    """Whether texts begin as formulas do."""
    return texts.str.contains(BEGINS) & ~texts.str.contains(NUMBERS)


class Formulas:
    """Frames on their way to a text file: texts that would be run are escaped, or their columns collected."""

    def __init__(self, frames: Iterable[pl.DataFrame], *, escape: bool) -> None:
        self._frames, self._escape = frames, escape
        self._found: dict[str, None] = {}

    def __iter__(self) -> Iterator[pl.DataFrame]:
        for frame in self._frames:
            if not self._escape:
                self._found |= dict.fromkeys(columns_with_formulas(frame))
            yield without_formulas(frame) if self._escape else frame

    @property
    def columns(self) -> list[str]:
        """Columns of the frames so far with texts, or a name, that a spreadsheet would run."""
        return list(self._found)


def columns_with_formulas(frame: pl.DataFrame) -> list[str]:
    """The columns with a text, or a name, that a spreadsheet would run."""
    texts = [name for name, kind in frame.schema.items() if _is_text(kind)]
    found = frame.select(runs(pl.col(texts).cast(pl.String)).any()).row(0, named=True) if texts else {}
    return [name for name in frame.columns if found.get(name) or _names_formula(name)]


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with an apostrophe before every text and name that a spreadsheet would run."""
    texts = [name for name, kind in frame.schema.items() if _is_text(kind)]
    values = [pl.col(name).cast(pl.String) for name in texts]
    safe = frame.with_columns(pl.when(runs(v)).then(v.str.replace("^", "'")).otherwise(v) for v in values)
    return safe.rename({name: f"'{name}" for name in frame.columns if _names_formula(name)})


def _is_text(kind: pl.DataType) -> bool:
    return isinstance(kind, pl.String | pl.Enum | pl.Categorical)


def _names_formula(name: str) -> bool:
    return re.search(BEGINS, name) is not None and re.search(NUMBERS, name) is None
