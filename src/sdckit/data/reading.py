"""Reading: where microdata came from and what stood there, kept in memory for the data holder alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl


@dataclass(frozen=True, slots=True)
class MissingCodes:
    """Why values of one column are missing: the codes that SPSS and Stata call user-missing.

    program: whose codes they are. codes: for each row as read its code, missing where there is a value or a
    plain missing one. labels: what codes mean. ranges: how SPSS declares them, from lo to hi.
    """

    program: str
    codes: pl.Series
    labels: Mapping[Any, str] = field(default_factory=dict)
    ranges: tuple[tuple[Any, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: the file, its table (None outside memory) and its codes of missing values.

    rows_certain: whether every table since was made by a step, so that the log tells which row is which.
    All microdata made from one reading share it. It is never written and not handed to other processes:
    a protected file must not carry the original along.
    """

    path: Path | None = None
    frame: pl.DataFrame | None = None
    missing_codes: Mapping[str, MissingCodes] = field(default_factory=dict)
    rows_certain: bool = True

    def without(self, columns: tuple[str, ...]) -> "Reading":
        """The reading with these columns gone."""
        frame = None if self.frame is None else self.frame.drop(columns, strict=False)
        codes = {name: one for name, one in self.missing_codes.items() if name not in columns}
        return replace(self, frame=frame, missing_codes=codes)

    def of_other_rows(self) -> "Reading":
        """The reading of a table that was put in from elsewhere: nobody knows which row is which."""
        return replace(self, rows_certain=False)

    def is_file(self, path: Path) -> bool:
        """Whether a path leads to the file that was read, also through links."""
        if self.path is None:
            return False
        try:
            return path.samefile(self.path)
        except OSError:  # one of them is not there
            return path.resolve() == self.path
