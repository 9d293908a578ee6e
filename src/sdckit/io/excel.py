"""Excel workbooks: the data in one sheet, labels and category order in another that sdckit wrote."""

import logging
from pathlib import Path
from typing import Any

import polars as pl

from sdckit._support.messages import did_you_mean, join_names, require_unique
from sdckit.data.labels import Labels
from sdckit.errors import ColumnError, DataError, FileError, OptionError, preview
from sdckit.io.coding import categories, is_category, largest_whole
from sdckit.io.stamps import WHEN
from sdckit.io.table_options import FOUND_OUT, TableOptions

SHEET = "sdckit labels"
MAX_ROWS, MAX_COLUMNS, MAX_TEXT, EXACT = 1_048_575, 16_384, 32_767, 10**15
NOTES = dict.fromkeys(("variable", "kind", "value", "label"), pl.String)
READING: dict[str, Any] = {"engine": "calamine", "infer_schema_length": None, "raise_if_empty": False}


def read_excel(
    path: Path, options: TableOptions = FOUND_OUT, *, rows: int | None = None
) -> tuple[pl.DataFrame, Labels]:
    """A sheet, the first where none is named, and the labels if sdckit wrote the file.

    rows: only so many at the beginning, without labels.
    """
    import fastexcel

    # It tells users about every all-missing column; these are read as text, as documented.
    logging.getLogger("fastexcel.types.dtype").setLevel(logging.ERROR)
    book = fastexcel.read_excel(path)
    number = _sheet_number(book.sheet_names, options.sheet)
    first = book.load_sheet(number, header_row=None, n_rows=1, dtypes="string").to_polars()
    if first.height == 0:
        name = "first sheet" if options.sheet is None else f"sheet {book.sheet_names[number]!r}"
        raise FileError(f"The {name} is empty.", given=path)
    if options.header:
        require_unique([name for name in first.row(0) if name is not None])
    if rows is not None:
        header = 0 if options.header else None
        frame = book.load_sheet(number, header_row=header, n_rows=rows).to_polars()
        return _named(frame, options), Labels()
    frame = _named(_values(path, number, options), options)
    if SHEET not in book.sheet_names or number != 0:
        return frame, Labels()
    return _labelled(frame, pl.read_excel(path, sheet_name=SHEET, schema_overrides=NOTES, **READING))


def sheets_of(path: Path) -> list[str]:
    """The names of the sheets of a workbook that can be read, in their order."""
    import fastexcel

    return [name for name in fastexcel.read_excel(path).sheet_names if name != SHEET]


def _sheet_number(names: list[str], asked: str | int | None) -> int:
    """The place of a sheet that is asked for by name or number; 0 is the first."""
    if asked is None:
        return 0
    if isinstance(asked, int) and asked <= len(names):
        return asked - 1
    if isinstance(asked, int) or asked not in names:
        raise OptionError(
            "The workbook has no such sheet.",
            given=preview(asked),
            allowed=f"{join_names(map(repr, names))}, or 1 to {len(names)}",
            hint=did_you_mean(asked, names),
        )
    return names.index(asked)


def _named(frame: pl.DataFrame, options: TableOptions) -> pl.DataFrame:
    """The columns as text files without a header name them."""
    if not options.header:
        frame.columns = [f"column_{i}" for i in range(1, frame.width + 1)]
    return frame


def _values(path: Path, number: int, options: TableOptions) -> pl.DataFrame:
    """A sheet. Polars makes integers of whole numbers and fails where they need more than 64 bits."""
    how: dict[str, Any] = {"sheet_id": number + 1, "has_header": options.header, "drop_empty_cols": False}
    try:
        frame: pl.DataFrame = pl.read_excel(path, **how, **READING)
    except pl.exceptions.InvalidOperationError:
        import fastexcel

        header = 0 if options.header else None
        sheet = fastexcel.read_excel(path).load_sheet(number, header_row=header).to_polars()
        numbers = [c for c in sheet.iter_columns() if c.dtype.is_float() and (c.abs() >= 2.0**63).any()]
        kept = {c.name: pl.Float64 for c in numbers}
        frame = pl.read_excel(path, schema_overrides=kept, **how, **READING)
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
