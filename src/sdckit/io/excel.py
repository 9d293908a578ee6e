"""Excel workbooks: the data in the first sheet, labels and category order in a second one."""

import logging
from pathlib import Path
from typing import Any

import polars as pl

from sdckit._support.messages import join_names, require_unique
from sdckit.data.labels import Labels
from sdckit.errors import ColumnError, DataError, FileError
from sdckit.io.coding import categories, is_category, largest_whole
from sdckit.io.stamps import WHEN

SHEET = "sdckit labels"
MAX_ROWS, MAX_COLUMNS, MAX_TEXT, EXACT = 1_048_575, 16_384, 32_767, 10**15
NOTES = dict.fromkeys(("variable", "kind", "value", "label"), pl.String)


def read_excel(path: Path) -> tuple[pl.DataFrame, Labels]:
    """The first sheet, and the labels if sdckit wrote the file."""
    import fastexcel

    # It tells users about every all-missing column; these are read as text, as documented.
    logging.getLogger("fastexcel.types.dtype").setLevel(logging.ERROR)
    book = fastexcel.read_excel(path)
    first = book.load_sheet(0, header_row=None, n_rows=1, dtypes="string").to_polars()
    if first.height == 0:
        raise FileError("The first sheet is empty.", given=path)
    header = [name for name in first.row(0) if name is not None]
    require_unique(header)
    options: dict[str, Any] = {"engine": "calamine", "infer_schema_length": None, "raise_if_empty": False}
    frame = _values(path, options)
    if SHEET not in book.sheet_names:
        return frame, Labels()
    return _labelled(frame, pl.read_excel(path, sheet_name=SHEET, schema_overrides=NOTES, **options))


def _values(path: Path, options: dict[str, Any]) -> pl.DataFrame:
    """The first sheet. Polars makes integers of whole numbers and fails where they need more than 64 bits."""
    try:
        frame: pl.DataFrame = pl.read_excel(path, sheet_id=1, drop_empty_cols=False, **options)
    except pl.exceptions.InvalidOperationError:
        import fastexcel

        sheet = fastexcel.read_excel(path).load_sheet(0).to_polars()
        numbers = [c for c in sheet.iter_columns() if c.dtype.is_float() and (c.abs() >= 2.0**63).any()]
        kept = {c.name: pl.Float64 for c in numbers}
        frame = pl.read_excel(path, sheet_id=1, drop_empty_cols=False, schema_overrides=kept, **options)
    return frame


def write_excel(frame: pl.DataFrame, labels: Labels, path: Path) -> None:
    """Values in the first sheet, labels in the second."""
    import xlsxwriter

    _check_room(frame)
    notes = _notes(frame, labels)
    # Without these, "=1+1" becomes a formula, "http://…" a link, and an interruption leaves temporary files.
    options = {"strings_to_formulas": False, "strings_to_urls": False, "in_memory": True}
    with xlsxwriter.Workbook(path, options) as book:
        book.set_properties({"created": WHEN})
        frame.write_excel(book, "data")
        if notes.height:
            notes.write_excel(book, SHEET)


def _check_room(frame: pl.DataFrame) -> None:
    if frame.height > MAX_ROWS or frame.width > MAX_COLUMNS:
        raise FileError(
            "The data do not fit in an Excel sheet.",
            given=f"{frame.height:,} records × {frame.width:,} columns",
            allowed=f"{MAX_ROWS:,} × {MAX_COLUMNS:,}",
            hint="Write .parquet or .csv.",
        )
    for column in frame.iter_columns():
        if column.dtype == pl.String and (column.str.len_chars() > MAX_TEXT).any():
            raise DataError(
                f"A text in column {column.name!r} is too long for Excel.", allowed=f"{MAX_TEXT:,} letters"
            )
        if column.dtype.is_integer() and largest_whole(column) >= EXACT:
            raise DataError(
                f"Excel would round the numbers in {column.name!r}.",
                given=largest_whole(column),
                allowed="up to 15 digits",
                hint="Turn them into text first.",
            )
    if "" in frame.columns:
        raise ColumnError("Excel needs a name for every column.", given="a column with an empty name")
    lower = [name.lower() for name in frame.columns]
    twice = [name for name in frame.columns if lower.count(name.lower()) > 1]
    if twice:
        raise ColumnError(
            "In Excel column names must differ also when capitals are ignored.", given=join_names(twice)
        )


def _notes(frame: pl.DataFrame, labels: Labels) -> pl.DataFrame:
    rows: list[tuple[str | None, ...]] = [
        (name, "variable", None, text) for name, text in labels.variables.items()
    ]
    rows += [
        (name, "value", str(code), text)
        for name, codes in labels.values.items()
        for code, text in codes.items()
    ]
    rows += [
        (column.name, "category", name, None)
        for column in frame.iter_columns()
        if is_category(column.dtype)
        for name in categories(column)
    ]
    return pl.DataFrame(rows, NOTES, orient="row")


def _labelled(frame: pl.DataFrame, notes: pl.DataFrame) -> tuple[pl.DataFrame, Labels]:
    variables: dict[str, str] = {}
    values: dict[str, dict[Any, str]] = {}
    ordered: dict[str, list[str]] = {}
    for name, kind, value, label in notes.iter_rows():
        if name not in frame.columns:
            continue
        if kind == "variable":
            variables[name] = label
        elif kind == "category":
            # an empty text is no value in Excel, so no record has that category
            ordered.setdefault(name, []).extend([] if value is None else [value])
        else:
            values.setdefault(name, {})[_code(value, frame.schema[name])] = label
    restored = [pl.col(name).cast(pl.Enum(names)) for name, names in ordered.items()]
    return frame.with_columns(restored), Labels(variables, values)


def _code(value: str, dtype: pl.DataType) -> Any:
    if dtype.is_integer():
        return int(float(value))
    if dtype.is_float():
        return float(value)
    return value == "True" if dtype == pl.Boolean else value
