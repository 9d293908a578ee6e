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
    """What was read: the file or folder, the files where there are several, its table (None outside memory)
    and its codes of missing values. declared_missing: values that a codebook marks as missing, by
    column; they are proposed, and stay values until somebody says so. stamps: size and time of change of
    files that stay on disk, and are read again whenever something is asked.

    steps_before_table: after how many steps another table was put in, of which no log tells anything; None
    where every table since was made by a step, so that the log tells which row is which.
    All microdata made from one reading share it. It is never written and not handed to other processes:
    a protected file must not carry the original along.
    """

    path: Path | None = None
    frame: pl.DataFrame | None = None
    missing_codes: Mapping[str, MissingCodes] = field(default_factory=dict)
    steps_before_table: int | None = None
    files: tuple[Path, ...] = ()
    declared_missing: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    stamps: Mapping[Path, tuple[int, int] | None] = field(default_factory=dict)

    def changed_files(self) -> list[Path]:
        """Files that are read again and again, and are no longer those of the beginning."""
        return [file for file, stamp in self.stamps.items() if stamp_of(file) != stamp]

    def without(self, columns: tuple[str, ...]) -> "Reading":
        """The reading with these columns gone."""
        frame = None if self.frame is None else self.frame.drop(columns, strict=False)
        codes = {name: one for name, one in self.missing_codes.items() if name not in columns}
        declared = {name: one for name, one in self.declared_missing.items() if name not in columns}
        return replace(self, frame=frame, missing_codes=codes, declared_missing=declared)

    def of_other_rows(self, steps: int) -> "Reading":
        """The reading of a table that was put in after so many steps: nobody knows which row is which."""
        return replace(self, steps_before_table=steps)

    def is_file(self, path: Path) -> bool:
        """Whether a path leads to a file that was read, also through links; or to or into its folder."""
        if self.path is not None and (_same(path, self.path) or self.path in path.resolve().parents):
            return True
        return any(_same(path, file) or path.resolve() in file.resolve().parents for file in self.files)


def stamp_of(file: Path) -> tuple[int, int] | None:
    """Size and time of change of a file; None where it is gone."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return one.resolve() == other
