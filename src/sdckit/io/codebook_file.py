"""Codebooks that are read: what somebody wrote down of the variables and values of a file."""

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from sdckit._support.messages import join_names
from sdckit.errors import FileError, preview
from sdckit.io.codebook_xml import described_in_xml
from sdckit.io.delimited import layout_of
from sdckit.io.encoding import opened
from sdckit.io.formats import ending_of

LARGEST = 20_000_000  # bytes of a codebook: anything longer is another file
COLUMNS = ("variable", "label", "value", "value_label", "missing")  # of a codebook in a text file
YES, NO = ("yes", "y", "true", "1"), ("no", "n", "false", "0", "")


@dataclass(frozen=True, slots=True)
class Description:
    """What a codebook says of one variable.

    values: what each code means, empty where it speaks for itself. missing: codes for a missing answer. Codes
    are texts as they stand in the codebook: of which type they are, the data tell.
    """

    label: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


def read_codebook(path: str | Path) -> dict[str, Description]:
    """What a codebook says of each variable: DDI-Codebook (.xml), or a text file with a row for each value.

    A text file has the columns variable, label, value and value_label, and may say in `missing` (yes, no)
    that a value stands for a missing answer; other columns are left out. A row without a value is about the
    variable.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise FileError("There is no such codebook.", given=path)
    size = path.stat().st_size
    if size > LARGEST:
        raise FileError(
            "The codebook is too large.", given=f"{path}, {size:,} bytes", allowed=f"{LARGEST:,} bytes"
        )
    read = _from_xml if ending_of(path) == ".xml" else _from_text
    try:
        found = read(path)
    except FileError:
        raise
    except (OSError, csv.Error) as error:
        raise FileError("The codebook cannot be read.", given=path, hint=f"{error}.") from error
    if not found:
        raise FileError("The codebook describes no variable.", given=path)
    return found


def _from_xml(path: Path) -> dict[str, Description]:
    made: dict[str, Description] = {}
    for name, label, values, missing in described_in_xml(path.read_bytes(), path):
        made.setdefault(name, Description(label, values, missing))  # of the first file of several
    return made


@dataclass(slots=True)
class _Rows:
    """What the rows about one variable say together."""

    label: str = ""
    values: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def _from_text(path: Path) -> dict[str, Description]:
    layout = layout_of(path)
    columns = [name.strip().lower() for name in layout.columns]
    if "variable" not in columns or not {"label", "value_label"} & set(columns):
        raise FileError(
            "The codebook lacks a column.",
            given=join_names(layout.columns, 6),
            allowed=f"{', '.join(COLUMNS[:-1])}; {COLUMNS[-1]} may be left out",
        )
    if "value" not in columns and {"value_label", "missing"} & set(columns):
        raise FileError("The codebook lacks the column value.", given=join_names(layout.columns, 6))
    found: dict[str, _Rows] = {}
    with opened(path) as stream:
        text = stream.read().decode(layout.encoding)
    rows = csv.reader(StringIO(text, newline=""), delimiter=layout.separator)
    next(row for row in rows if row)
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        cells = dict(zip(columns, (cell.strip() for cell in row), strict=False))
        _add(found, {name: cells.get(name, "") for name in COLUMNS}, _refusal(path, rows.line_num))
    return {name: Description(one.label, one.values, tuple(one.missing)) for name, one in found.items()}


Refusal = Callable[[str, object], FileError]


def _refusal(path: Path, line: int) -> Refusal:
    def refused(what: str, given: object) -> FileError:
        return FileError(f"Line {line:,} of the codebook {what}.", given=f"{preview(given)} in {path.name}")

    return refused


def _add(found: dict[str, _Rows], cells: Mapping[str, str], refused: Refusal) -> None:
    """One row, refused where it contradicts one above."""
    name, label, value = cells["variable"], cells["label"], cells["value"]
    if not name:
        raise refused("names no variable", value or label or cells["value_label"])
    known = found.setdefault(name, _Rows())
    if label and known.label not in ("", label):
        raise refused(f"gives another label to {name!r}", label)
    known.label = known.label or label
    missing = cells["missing"].lower()
    if missing not in (*YES, *NO):
        raise refused("says neither yes nor no in the column missing", missing)
    if not value:
        if cells["value_label"] or missing in YES:
            raise refused("has no value", cells["value_label"] or missing)
        return
    if value in known.values:
        raise refused(f"gives a value of {name!r} that stands above", value)
    known.values[value] = cells["value_label"]
    if missing in YES:
        known.missing.append(value)
