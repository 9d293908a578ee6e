"""SPSS, Stata and SAS files, through pyreadstat."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import polars as pl

from sdckit._support.messages import join_names
from sdckit.data.labels import Labels
from sdckit.data.reading import MissingCodes
from sdckit.errors import ColumnError, DataError, FileError
from sdckit.io.coding import fitting, is_category, largest_whole, only_used_labels, with_codes
from sdckit.io.user_missing import read_codes, with_user_missing

READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
PROGRAMS = {".sav": "SPSS", ".zsav": "SPSS", ".dta": "Stata", ".xpt": "SAS"}
# How many bytes of a variable label and of a value label each program keeps.
ROOM = {".sav": (256, 120), ".zsav": (256, 120), ".dta": (80, 32_000), ".xpt": (256, 0)}
# Formats without decimals mark whole numbers: SPSS and SAS F8.0 or F8, Stata %12.0f.
WHOLE = re.compile(r"F\d+(\.0)?|%\d+\.0f")
EXACT = 2**53  # beyond it a double cannot hold every whole number
SAS_LARGEST = 7.2e75  # the exponent of its numbers has seven bits
STATA_LONG = 2_147_483_620

SPSS_NAME = re.compile(r"[^\W\d_][\w.@#$]*(?<!\.)")
STATA_NAME = re.compile(r"[^\W\d]\w{0,31}")
SAS_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}")
RULES = {
    "SPSS": "a letter first, then letters, digits and . _ @ # $, at most 64 bytes, not a reserved word, "
    "different also when capitals are ignored",
    "Stata": "a letter or _ first, then letters, digits and _, at most 32 characters, not a reserved word",
    "SAS": "A–Z or _ first, then A–Z, digits and _, at most 32 characters, "
    "different also when capitals are ignored",
}
SPSS_RESERVED = frozenset({"ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"})
STATA_RESERVED = re.compile(
    r"_(all|b|coef|cons|n|N|pi|pred|rc|skip)|byte|double|float|if|in|int|long|strL|str\d+|using|with"
)


def read_statistical(path: Path, ending: str) -> tuple[pl.DataFrame, Labels, dict[str, MissingCodes]]:
    """Codes as stored, user-missing values and empty texts as missing, with all labels.

    Why values are missing is kept apart, for a file that is written in the same format.

    Numbers are Int64 if every value is whole and the variable has value labels or a format without decimals.
    """
    import pyreadstat

    frame, about = getattr(pyreadstat, READERS[ending])(path, output_format="polars")
    values = {name: dict(labels) for name, labels in about.variable_value_labels.items()}
    columns = []
    for column in frame.iter_columns():
        stored = about.original_variable_types.get(column.name) or ""
        counted = column.name in values or WHOLE.fullmatch(stored) is not None
        is_number = about.readstat_variable_types[column.name] != "string"
        columns.append(_column(column, counted=counted, is_number=is_number))
    clean = pl.DataFrame(columns)
    labelled = {
        name: _keys(fitting(codes, clean.schema[name]), clean.schema[name]) for name, codes in values.items()
    }
    variables = {name: text for name, text in about.column_names_to_labels.items() if text}
    kept = Labels(variables, {name: codes for name, codes in labelled.items() if codes})
    return clean, kept, read_codes(path, ending, clean, values)


def _column(column: pl.Series, *, counted: bool, is_number: bool) -> pl.Series:
    if column.dtype == pl.Null:
        column = column.cast(pl.Float64 if is_number else pl.String)
    if column.dtype == pl.String:
        return pl.select(pl.when(column != "").then(column).alias(column.name)).to_series()
    if column.dtype != pl.Float64:
        return column
    column = column.fill_nan(None)
    whole = counted and (column == column.round()).all() and (column.abs() <= EXACT).all()
    return column.cast(pl.Int64) if whole else column


def _keys(codes: dict[Any, str], dtype: pl.DataType) -> dict[Any, str]:
    if dtype.is_integer() and all(float(code).is_integer() for code in codes):
        return {int(code): text for code, text in codes.items()}
    return codes


def write_statistical(
    frame: pl.DataFrame,
    labels: Labels,
    path: Path,
    ending: str,
    *,
    keep_unused: bool,
    codes: Mapping[str, MissingCodes],
) -> None:
    """Categories become codes 1, 2, … with value labels (texts in .xpt, which has no value labels).

    codes: why values are missing, row by row.
    """
    import pyreadstat

    check_names(frame.columns, PROGRAMS[ending])
    if ending == ".xpt":
        texts = [pl.col(name).cast(pl.String) for name, t in frame.schema.items() if is_category(t)]
        frame, labels = frame.with_columns(texts), Labels(labels.variables)
    else:
        frame, labels = with_codes(frame, labels)
        labels = labels if keep_unused else only_used_labels(frame, labels)
    frame, formats = _storable(frame, ending)
    variable_room, value_room = ROOM[ending]
    options: dict[str, Any] = {
        "column_labels": {name: _cut(text, variable_room) for name, text in labels.variables.items()},
        "variable_format": formats,
    }
    if ending == ".xpt":
        pyreadstat.write_xport(frame, path, **options)
        return
    texts_of = {
        name: {code: _cut(text, value_room) for code, text in fitting(known, frame.schema[name]).items()}
        for name, known in labels.values.items()
        if name in frame.columns
    }
    if ending == ".dta":
        _check_stata_codes(texts_of)
    frame, declared, why = with_user_missing(frame, codes)
    for name, reasons in why.items():
        cut = {code: _cut(text, value_room) for code, text in reasons.items()}
        texts_of[name] = {**texts_of.get(name, {}), **cut}
    options["variable_value_labels"] = {name: known for name, known in texts_of.items() if known}
    if ending == ".dta":
        pyreadstat.write_dta(frame, path, missing_user_values=declared or None, **options)
    else:
        pyreadstat.write_sav(
            frame, path, compress=ending == ".zsav", missing_ranges=declared or None, **options
        )


def check_names(names: list[str], program: str) -> None:
    """Refuse column names that the program would not accept."""
    if program == "SPSS":
        bad = [n for n in names if not SPSS_NAME.fullmatch(n) or len(n.encode()) > 64]
        bad += [n for n in names if n.upper() in SPSS_RESERVED]
    elif program == "Stata":
        bad = [n for n in names if not STATA_NAME.fullmatch(n) or STATA_RESERVED.fullmatch(n)]
    else:
        bad = [n for n in names if not SAS_NAME.fullmatch(n)]
    if program != "Stata":
        lower = [n.lower() for n in names]
        bad += [n for n in names if lower.count(n.lower()) > 1 and n not in bad]
    if bad:
        raise ColumnError(
            f"{program} does not allow these column names.",
            given=join_names(repr(name) for name in bad),
            allowed=RULES[program],
            hint="Rename the columns first.",
        )


def _storable(frame: pl.DataFrame, ending: str) -> tuple[pl.DataFrame, dict[str, str]]:
    """Types the format can hold, and formats that tell whole numbers from others."""
    columns, formats = [], {}
    for column in frame.iter_columns():
        if column.dtype.is_nested() or column.dtype in (pl.Duration, pl.Binary, pl.Object):
            raise ColumnError(
                f"{PROGRAMS[ending]} cannot hold column {column.name!r}.", given=str(column.dtype)
            )
        if column.dtype == pl.Boolean:
            column = column.cast(pl.Int8)
        if column.dtype.is_integer():
            largest = largest_whole(column)
            if largest > EXACT:
                raise DataError(
                    f"{PROGRAMS[ending]} would round the numbers in {column.name!r}.",
                    given=largest,
                    allowed=f"up to {EXACT}",
                    hint="Turn them into text first.",
                )
            small = ending == ".dta" and largest <= STATA_LONG
            column = column.cast(pl.Int32 if small else pl.Float64)
            width = max(8, len(str(largest)) + 1)
            formats[column.name] = f"%{width}.0f" if ending == ".dta" else f"F{width}.0"
        elif column.dtype.is_numeric():
            column = column.cast(pl.Float64)
            largest_number = cast(float, column.abs().max() or 0.0)
            if ending == ".xpt" and largest_number > SAS_LARGEST:
                raise DataError(
                    f"A SAS transport file cannot hold the largest numbers in {column.name!r}.",
                    given=f"{largest_number:g}",
                    allowed=f"up to {SAS_LARGEST:g}",
                    hint="Give them in another unit.",
                )
        columns.append(column)
    return pl.DataFrame(columns), formats


def _check_stata_codes(labels: dict[str, dict[Any, str]]) -> None:
    bad = [
        name
        for name, codes in labels.items()
        if not all(
            isinstance(c, int | float) and float(c).is_integer() and abs(c) <= STATA_LONG for c in codes
        )
    ]
    if bad:
        raise FileError(
            "Stata has value labels for whole numbers only.",
            given=join_names(bad),
            hint="Write with values='labels', or write .sav or .parquet.",
        )


def _cut(text: str, size: int) -> str:
    return text.encode()[:size].decode(errors="ignore")
