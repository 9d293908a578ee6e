"""The first rows of a text file or a workbook, as `read` would take them with these options."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from sdckit._support.messages import join_names
from sdckit.data.labels import Labels
from sdckit.engine import frames
from sdckit.errors import FileError, SdcError
from sdckit.io.codebook_file import read_codebook
from sdckit.io.codebook_labels import match, problems
from sdckit.io.delimited import layout_of, read_delimited
from sdckit.io.encoding import UTF8
from sdckit.io.excel import read_excel, sheets_of
from sdckit.io.formats import DELIMITED, readable
from sdckit.io.table_options import WORKBOOKS, TableOptions

ROWS = 20


def preview_file(path: str | Path, *, rows: int = ROWS, **options: Any) -> dict[str, Any]:
    """The first rows with the columns and their types, the sheets of a workbook, and what was found out.

    Types are those of the rows that are shown: a later value may make a number text. Labels are those of a
    codebook (option codebook). The rows are records:
    they are for the data holder's eyes.
    """
    path = Path(path).expanduser()
    ending, asked = readable(path), TableOptions(**options)
    asked.require_for(ending, f"files ending in {ending}")
    if ending not in (*DELIMITED, *WORKBOOKS):
        raise FileError(
            "Files of this kind say themselves how they are read.",
            given=path.name,
            allowed=join_names((*DELIMITED, *WORKBOOKS)),
        )
    try:
        frame, sheets, found = (_text if ending in DELIMITED else _workbook)(path, asked, rows)
    except (SdcError, MemoryError):
        raise
    # As in `read`: whatever the readers of two formats say, the file or its layout is at fault.
    except (Exception, pl.exceptions.PanicException) as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise FileError(f"The file cannot be read as {ending}.", given=path.name, hint=said) from error
    texts = frame.select(pl.all().cast(pl.String)).rows()
    labels, notes = _labels(frame, asked)
    columns = [
        {
            "name": name,
            "kind": _kind(dtype),
            "label": labels.variables.get(name, ""),
            "values": _as_shown(labels.values.get(name, {}), dtype),
        }
        for name, dtype in frame.schema.items()
    ]
    rows_shown = [list(row) for row in texts]
    return {"columns": columns, "rows": rows_shown, "sheets": sheets, "found": found, "notes": notes}


def _labels(frame: pl.DataFrame, asked: TableOptions) -> tuple[Labels, list[str]]:
    """The labels of the codebook that was asked for, and what of it is for no column."""
    if asked.codebook is None:
        return Labels(), []
    kinds = frames.schema(frame)
    matched = match(read_codebook(asked.codebook), kinds)
    return matched.labels, problems(matched, kinds)


def _as_shown(known: Mapping[Any, str], dtype: pl.DataType) -> dict[str, str]:
    """Value labels by the text that a value has among the rows."""
    codes = pl.Series(list(known), dtype=dtype, strict=False).cast(pl.String).to_list()
    return {code: text for code, text in zip(codes, known.values(), strict=True) if code is not None}


def _text(path: Path, asked: TableOptions, rows: int) -> tuple[pl.DataFrame, list[str], dict[str, str]]:
    layout = layout_of(path, asked)
    encoding = "utf-8" if layout.encoding == UTF8 else layout.encoding
    frame = read_delimited(path, asked, rows=rows)
    return frame, [], {"encoding": encoding, "separator": layout.separator}


def _workbook(path: Path, asked: TableOptions, rows: int) -> tuple[pl.DataFrame, list[str], dict[str, str]]:
    frame, _ = read_excel(path, asked, rows=rows)
    sheets = sheets_of(path)
    number = asked.sheet if isinstance(asked.sheet, int) else 1
    name = asked.sheet if isinstance(asked.sheet, str) else sheets[min(number, len(sheets)) - 1]
    return frame, sheets, {"sheet": name}


def _kind(dtype: pl.DataType) -> str:
    """A type in the words that `describe` has for it."""
    if dtype.is_integer():
        return "whole number"
    if dtype.is_numeric():
        return "number"
    if dtype.is_temporal():
        return "date"
    return "true/false" if dtype == pl.Boolean else "text"
