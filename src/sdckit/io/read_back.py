"""A file that was just written, read again before it takes its place: a full disk may drop records."""

import re
import zipfile
from pathlib import Path
from typing import Any

import polars as pl

from sdckit.errors import FileError
from sdckit.io.encoding import opened
from sdckit.io.formats import DELIMITED

READERS = {".sav": "read_sav", ".zsav": "read_sav", ".dta": "read_dta", ".xpt": "read_xport"}


def check_whole(
    path: Path, ending: str, size: tuple[int, int], *, separator: str = ",", header: bool = True
) -> None:
    """Refuse a file that has not this many records and columns."""
    if ending in DELIMITED:
        lines, columns = _delimited(path, separator.encode())
        found = (lines - header, columns)
    else:
        found = _size(path, ending)
    if found != size:
        raise FileError(
            f"The {ending} file was not written whole: {found[0]:,} records × {found[1]:,} columns were read "
            f"back of {size[0]:,} × {size[1]:,}.",
            hint="The disk may be full.",
        )


def _size(path: Path, ending: str) -> tuple[int, int]:
    """Records and columns in a file, counted where the values stand and not taken from its header."""
    if ending == ".parquet":
        table = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        names = table.collect_schema().names()
        first = pl.col(names[0])
        counted = table.select(first.count() + first.null_count()).collect(engine="streaming")
        return int(counted.item()), len(names)
    return _excel(path) if ending == ".xlsx" else _statistical(path, ending)


def _delimited(path: Path, separator: bytes) -> tuple[int, int]:
    """Lines and columns, by line ends outside quotes: all \\n; quotes within quotes are doubled."""
    inside, lines, columns, last = False, 0, 1, b""
    with opened(path) as stream:
        while block := stream.read(1 << 20):
            for i, part in enumerate(block.split(b'"')):
                inside = inside ^ bool(i)
                if not inside:
                    if not lines:
                        columns += part.split(b"\n", 1)[0].count(separator)
                    lines += part.count(b"\n")
            last = block[-1:]
    if last != b"\n" or inside:
        raise FileError(
            "The text file was not written whole: its last line has no end.", hint="The disk may be full."
        )
    return lines, columns


def _statistical(path: Path, ending: str) -> tuple[int, int]:
    import pyreadstat

    reader: Any = getattr(pyreadstat, READERS[ending])
    _, about = reader(path, metadataonly=True)
    frame, _ = reader(path, usecols=about.column_names[:1], output_format="polars")
    return frame.height, len(about.column_names)


def _excel(path: Path) -> tuple[int, int]:
    with zipfile.ZipFile(path) as book:
        broken = book.testzip()
        if broken is not None:
            raise FileError("The workbook was not written whole.", given=broken)
        rows, columns = 0, 0
        with book.open("xl/worksheets/sheet1.xml") as sheet:
            tail = b""
            while block := sheet.read(1 << 20):
                text = tail + block
                rows += len(re.findall(rb"<row ", text))
                tail = text[-4:]  # shorter than what is looked for, so that nothing counts twice
        with book.open("xl/tables/table1.xml") as table:
            columns = len(re.findall(rb"<tableColumn ", table.read()))
    return rows - 1, columns
