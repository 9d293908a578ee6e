"""Text files with separators (.csv, .csv.gz), read the same way for every engine."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.messages import require_unique
from sdckit.errors import FileError
from sdckit.io.encoding import UTF8, encoding_of, opened
from sdckit.io.table_options import FOUND_OUT, TableOptions

SEPARATORS = (",", ";", "\t", "|")
MISSING = ("", "NA", "NaN", "nan")
AT_ONCE = 500  # columns that one query looks at
SAMPLE = 1000  # rows that rule out most types before the whole file is looked at


@dataclass(frozen=True, slots=True)
class Layout:
    """How a text file is written: its encoding, separator, column names, decimal mark and first line."""

    encoding: str
    separator: str
    columns: tuple[str, ...]
    decimal: str | None = None  # None: a point, or a comma where it does not separate
    header: bool = True  # whether the first line has the names
    skip: int = 0  # blank lines before a first line without names, which Polars takes for records

    def polars_options(self) -> dict[str, Any]:
        """How Polars reads a file of this layout, every value as it stands there."""
        return {
            "separator": self.separator,
            "has_header": self.header,
            "skip_lines": self.skip,
            "infer_schema": False,
            "null_values": list(MISSING),
            "glob": False,
        }


def read_delimited(path: Path, options: TableOptions = FOUND_OUT, *, rows: int | None = None) -> pl.DataFrame:
    """The file as a data frame, every column with the type that all its values fit.

    rows: only so many at the beginning, with the types that these have.
    """
    return read_files([path], layout_of(path, options), rows=rows)


def read_files(paths: Sequence[Path], layout: Layout, *, rows: int | None = None) -> pl.DataFrame:
    """Files of one layout as a data frame, every column with the type that all its values fit.

    rows: only so many at the beginning of each.
    """
    texts = pl.concat([_texts(path, layout, rows) for path in paths])
    types = column_types(texts.lazy(), layout, whole=texts.height <= SAMPLE)
    parts = []
    for start in range(0, len(layout.columns), AT_ONCE):
        some = layout.columns[start : start + AT_ONCE]
        alike = {t: [name for name in some if types[name] == t] for t in TYPES}
        made = texts.select(TYPES[t](pl.col(names)) for t, names in alike.items() if names)
        parts.append(made.select(some))
    return pl.concat(parts, how="horizontal")


def scan_texts(paths: Sequence[Path], layout: Layout) -> pl.LazyFrame:
    """Files of one layout in UTF-8, not loaded, all values as they stand there."""
    texts = pl.scan_csv(list(paths), **layout.polars_options())
    return texts.rename(dict(zip(texts.collect_schema().names(), layout.columns, strict=True)))


def _texts(path: Path, layout: Layout, rows: int | None) -> pl.DataFrame:
    """One file, all values as they stand there, without blank lines."""
    source: Path | BytesIO = path
    if layout.encoding != UTF8:
        with opened(path) as stream:
            source = BytesIO(stream.read().decode(layout.encoding).encode())
    try:
        texts = pl.read_csv(source, **layout.polars_options(), n_rows=rows)
    except pl.exceptions.ComputeError:
        _refuse_long_line(path, layout)
        raise
    if texts.width != len(layout.columns):
        raise FileError("The header line cannot be split into columns.", given=path)
    texts.columns = list(layout.columns)  # Polars leaves doubled quotes in names as they are
    if texts.height and texts[:, -1].null_count():
        texts = _without_blank_lines(texts, path, layout, rows)
    return texts


def _refuse_long_line(path: Path, layout: Layout) -> None:
    """Refuse a file with a line that has too many values: one of them may be cut in two there."""
    with _lines(path, layout.encoding) as stream:
        rows = csv.reader(stream, delimiter=layout.separator)
        for row in rows:
            if len(row) > len(layout.columns):
                first, fits = "header" if layout.header else "first line", len(layout.columns)
                raise FileError(
                    f"Line {rows.line_num} has more values than the {first}, which has {fits}.",
                    given=path,
                    hint="Another mark may separate values: read(…, separator=';').",
                    plan_hint="Another mark may separate values: separator: under data: in the plan.",
                )


def write_delimited(
    frames: Iterable[pl.DataFrame],
    path: Path,
    *,
    separator: str = ",",
    decimal_comma: bool = False,
    header: bool = True,
) -> None:
    """Frames, one below the other, as one text file: UTF-8, missing values empty.

    Numbers have up to 15 digits: more is what computing leaves behind, 11370.460000000001.
    """
    with opened(path, "wb") as stream:
        for i, frame in enumerate(frames):
            frame = frame.with_columns(_15_digits(c) for c in frame.iter_columns() if c.dtype == pl.Float64)
            # With a single column an empty value would be a blank line.
            frame.write_csv(
                stream,
                include_header=header and i == 0,
                separator=separator,
                decimal_comma=decimal_comma,
                null_value="NA" if frame.width == 1 else "",
            )


def _15_digits(column: pl.Series) -> pl.Series:
    """The numbers to 15 significant digits; whole ones stay as they are."""
    known = column.is_not_null().to_numpy()
    values = column.fill_null(0).to_numpy().copy()
    broken = np.flatnonzero(np.isfinite(values) & (values != np.rint(values)))
    shift = 14 - np.floor(np.log10(np.abs(values[broken])))
    exact = (shift >= 0) & (shift <= 22)  # 10²² is the largest power of ten that a double holds
    scale = 10.0 ** shift[exact]
    values[broken[exact]] = np.rint(values[broken[exact]] * scale) / scale
    values[broken[~exact]] = [float(f"{v:.15g}") for v in values[broken[~exact]].tolist()]
    return pl.Series(column.name, values).set(~pl.Series(known), None)


def layout_of(path: Path, options: TableOptions = FOUND_OUT) -> Layout:
    """How the file is written, found out where the options do not say it.

    Refuses files that are not text or name a column twice.
    """
    encoding = encoding_of(path, options.encoding)
    with _lines(path, encoding) as stream:
        blank, first = next(((i, line) for i, line in enumerate(stream) if line.strip()), (0, ""))
    if not first:
        raise FileError("The file is empty.", given=path)
    bare = re.sub(r'"[^"]*"', "", first)
    separator = options.separator or max(SEPARATORS, key=bare.count)
    with _lines(path, encoding) as stream:
        row = next(row for row in csv.reader(stream, delimiter=separator) if row)
    named = row if options.header else [""] * len(row)
    header = tuple(
        name or f"column_{i}" for i, name in enumerate(named, 1)
    )  # SQL needs a name for every column
    require_unique(header)
    skip = 0 if options.header else blank
    return Layout(encoding, separator, header, options.decimal, options.header, skip)


@contextmanager
def _lines(path: Path, encoding: str) -> Iterator[TextIOWrapper]:
    with opened(path) as stream, TextIOWrapper(stream, encoding=encoding, newline="") as text:
        yield text


def _without_blank_lines(texts: pl.DataFrame, path: Path, layout: Layout, most: int | None) -> pl.DataFrame:
    """Polars pads short lines with missing values: leave blank lines out and refuse broken ones."""
    blank = []
    with _lines(path, layout.encoding) as stream:
        rows = csv.reader(stream, delimiter=layout.separator)
        first = next(row for row in rows if row)  # Polars leaves blank lines before it out as well
        read = rows if layout.header else chain([first], rows)
        for i, row in enumerate(islice(read, most)):
            if not row:
                blank.append(i)
            elif len(row) != len(layout.columns):
                whose = "the header" if layout.header else "the first line"
                raise FileError(
                    f"Line {rows.line_num} has {len(row)} values, {whose} has {len(layout.columns)}.",
                    given=path,
                )
    keep = pl.int_range(pl.len()).is_in(blank).not_()
    return texts.filter(keep) if blank else texts


def _integer(column: pl.Expr) -> pl.Expr:
    # A leading zero marks a code ("0110"), not a number.
    code = column.str.contains(r"^ *[+-]?0[0-9]")
    return pl.when(code.not_()).then(column.str.strip_chars(" ").cast(pl.Int64, strict=False))


def _float(column: pl.Expr) -> pl.Expr:
    # So do more than 15 digits without a decimal point; a float would round them.
    code = column.str.contains(r"^ *[+-]?(0[0-9]|[0-9]{16,} *$)")
    number = column.str.strip_chars(" ").cast(pl.Float64, strict=False)
    return pl.when(code.not_()).then(number.fill_nan(None))


def _comma(column: pl.Expr) -> pl.Expr:
    point = column.str.contains(".", literal=True)
    return pl.when(point.not_()).then(_float(column.str.replace(",", ".", literal=True)))


def _boolean(column: pl.Expr) -> pl.Expr:
    lower = column.str.to_lowercase()
    return pl.when(lower.is_in(["true", "false"])).then(lower == "true")


def _date(column: pl.Expr) -> pl.Expr:
    return pl.when(column.str.len_bytes() == 10).then(column.str.to_date("%Y-%m-%d", strict=False))


def _datetime(column: pl.Expr) -> pl.Expr:
    return column.str.replace(" ", "T").str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", strict=False)


# Every type we look for, in the order of preference, and how text becomes it.
TYPES: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "integer": _integer,
    "float": _float,
    "float with comma": _comma,
    "boolean": _boolean,
    "date": _date,
    "datetime": _datetime,
    "text": lambda column: column,
}


def column_types(texts: pl.LazyFrame, layout: Layout, *, whole: bool = False) -> dict[str, str]:
    """The first type in `TYPES` that every value of a column fits; all-missing columns are text.

    whole: the rows are so few that a sample of them would be no help.
    """
    marks = {"float": (None, "."), "float with comma": (None, ",") if layout.separator != "," else (",",)}
    known = [t for t in TYPES if t != "text" and layout.decimal in marks.get(t, (layout.decimal,))]
    possible = dict.fromkeys(layout.columns, known)
    if not whole:
        possible, _ = _fitting(texts.head(SAMPLE), possible)
    types = dict.fromkeys(layout.columns, "text")
    # One pass over all rows for the likeliest types, more only for columns whose likeliest type failed.
    while likeliest := {name: fits[:1] for name, fits in possible.items() if fits}:
        found, present = _fitting(texts, likeliest)
        types |= {name: fits[0] for name, fits in found.items() if fits and present[name]}
        possible = {name: possible[name][1:] for name, fits in found.items() if not fits}
    return types


def _fitting(
    rows: pl.LazyFrame, possible: dict[str, list[str]]
) -> tuple[dict[str, list[str]], dict[str, int]]:
    """The types that every value in these rows fits, and how many values there are."""
    if len(possible) > AT_ONCE:  # the plan of a query over tens of thousands of columns fills the memory
        names = list(possible)
        every: dict[str, list[str]] = {}
        filled: dict[str, int] = {}
        for start in range(0, len(names), AT_ONCE):
            fitting, values = _fitting(rows, {n: possible[n] for n in names[start : start + AT_ONCE]})
            every |= fitting
            filled |= values
        return every, filled
    # Suffixes, each of which ends in another word, so that no name in the data can clash with ours.
    wanted = [pl.col(list(possible)).count().name.suffix(" present")] if possible else []
    for t in TYPES:
        names = [name for name, fits in possible.items() if t in fits]
        wanted += [TYPES[t](pl.col(names)).count().name.suffix(f" {t}")] if names else []
    counts = rows.select(wanted).collect(engine="streaming").row(0, named=True)
    present = {name: counts[f"{name} present"] for name in possible}
    left = {
        name: [t for t in fits if counts[f"{name} {t}"] == present[name]] for name, fits in possible.items()
    }
    return left, present
