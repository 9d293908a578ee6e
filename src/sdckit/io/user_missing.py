"""Codes of missing values in SPSS and Stata files: -8 refused, .a not applicable."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from sdckit.data.reading import MissingCodes

PROGRAMS = {".sav": "SPSS", ".zsav": "SPSS", ".dta": "Stata"}
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
CELLS = 10_000_000  # of a Stata file that are read again at a time: they are Python objects
DISCRETE = 3  # codes that SPSS can declare one by one


def read_codes(
    path: Path, ending: str, frame: pl.DataFrame, labels: Mapping[str, Mapping[Any, str]]
) -> dict[str, MissingCodes]:
    """The codes behind the missing values of a file that was read with all of them as plain missing ones."""
    if ending == ".dta":
        return _of_stata(path, frame, labels)
    return _of_spss(path, frame, labels) if ending in PROGRAMS else {}


def _of_spss(
    path: Path, frame: pl.DataFrame, labels: Mapping[str, Mapping[Any, str]]
) -> dict[str, MissingCodes]:
    import pyreadstat

    _, about = pyreadstat.read_sav(path, user_missing=True, metadataonly=True)
    declared: dict[str, list[Any]] = dict(about.missing_ranges)
    names = [c for c in declared if frame[c].null_count()]
    if not names:
        return {}
    raw, _ = pyreadstat.read_sav(
        path, user_missing=True, usecols=names, disable_datetime_conversion=True, output_format="polars"
    )
    found = {}
    for name in names:
        column = raw[name].fill_nan(None) if raw[name].dtype.is_float() else raw[name]
        codes = column.set(frame[name].is_not_null(), None)
        if codes.dtype == pl.String:
            codes = codes.set(codes == "", None)
        ranges = tuple((one["lo"], one["hi"]) for one in declared[name])
        if codes.dtype != pl.Null and codes.null_count() < len(codes):
            found[name] = MissingCodes("SPSS", codes, _labels(codes, labels.get(name, {})), ranges)
    return found


def _of_stata(
    path: Path, frame: pl.DataFrame, labels: Mapping[str, Mapping[Any, str]]
) -> dict[str, MissingCodes]:
    import pyreadstat

    names = [c.name for c in frame.iter_columns() if c.dtype != pl.String and c.null_count()]
    found = {}
    step = max(1, CELLS // frame.height)
    for start in range(0, len(names), step):
        chosen = names[start : start + step]
        raw, _ = pyreadstat.read_dta(path, user_missing=True, usecols=chosen, output_format="polars")
        for column in raw.iter_columns():
            if column.dtype not in (pl.Object, pl.String):  # numbers alone
                continue
            letters = [value if isinstance(value, str) and value in LETTERS else None for value in column]
            codes = pl.Series(column.name, letters, dtype=pl.String)
            if codes.null_count() < len(codes):
                known = _labels(codes, labels.get(column.name, {}))
                found[column.name] = MissingCodes("Stata", codes, known)
    return found


def _labels(codes: pl.Series, labels: Mapping[Any, str]) -> dict[Any, str]:
    """The labels of codes that records have."""
    return {code: labels[code] for code in codes.drop_nulls().unique().sort().to_list() if code in labels}


def fitting_codes(
    codes: Mapping[str, MissingCodes], frame: pl.DataFrame, ending: str
) -> dict[str, MissingCodes]:
    """Codes that columns of the file can hold: of the same program, numbers in numbers, texts in texts."""
    found = {}
    for name, one in codes.items():
        kind = frame.schema[name]
        number = kind.is_numeric() and (one.program == "Stata" or one.codes.dtype.is_numeric())
        text = kind == pl.String and one.program == "SPSS" and one.codes.dtype == pl.String
        if one.program == PROGRAMS.get(ending) and (number or text):
            found[name] = one
    return found


def with_user_missing(
    frame: pl.DataFrame, codes: Mapping[str, MissingCodes]
) -> tuple[pl.DataFrame, dict[str, Any], dict[str, dict[Any, str]]]:
    """The frame with codes for missing values, the option that declares them, and their labels."""
    columns, declared, labels = [], {}, {}
    for name, one in codes.items():
        used = one.codes.drop_nulls().unique().sort().to_list()
        labels[name] = {code: text for code, text in one.labels.items() if code in used}
        if one.program == "Stata":
            mixed = [code or value for code, value in zip(one.codes, frame[name], strict=True)]
            columns.append(pl.Series(name, mixed, dtype=pl.Object))
            declared[name] = used
        else:
            columns.append(one.codes.cast(frame.schema[name]).fill_null(frame[name]).alias(name))
            several = [{"lo": lo, "hi": hi} if lo != hi else lo for lo, hi in one.ranges]
            declared[name] = used if len(used) <= DISCRETE else several
    return frame.with_columns(columns), declared, labels
