"""What sdckit notes in a folder it writes: labels, and types of columns that stand in names of folders."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from sdckit._support.messages import join_names
from sdckit.data.labels import Labels
from sdckit.errors import DataError
from sdckit.io.parquet import labels_of_text, metadata_text

NAME = "_sdckit.json"  # programs pass over names that begin with _
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # the folder of records without a value, in all programs
WHOLE = (pl.Int8(), pl.Int16(), pl.Int32(), pl.Int64(), pl.UInt8(), pl.UInt16(), pl.UInt32(), pl.UInt64())
# What a column in names of folders can be, by the names that are noted.
KINDS: Mapping[str, pl.DataType] = {str(k): k for k in (*WHOLE, pl.String(), pl.Boolean(), pl.Date())}
RESERVED = re.compile(
    "[\x00-\x1f\x7f\"#%'*/:=?\\\\{\\[\\]^|<>]"
)  # with a meaning in some file system or program


@dataclass(frozen=True, slots=True)
class FolderNotes:
    """labels: None where no notes are there. partitions: columns in names of folders, with their types."""

    labels: Labels | None = None
    partitions: Mapping[str, pl.DataType] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "FolderNotes":
        """The notes of a folder; of one that another program wrote there are none."""
        file = folder / NAME
        if not file.is_file():
            return cls()
        content = json.loads(file.read_text(encoding="utf-8"))
        kinds = {column: KINDS[kind] for column, kind in content["partitions"].items() if kind in KINDS}
        return cls(labels_of_text(content["labels"]), kinds)

    def write(self, folder: Path) -> None:
        """Put the notes into a folder."""
        kinds = {name: str(kind) for name, kind in self.partitions.items()}
        content = {"labels": metadata_text(self.labels or Labels()), "partitions": kinds}
        (folder / NAME).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def folder_name(column: str, value: object) -> str:
    """The name of the folder with the records of one value.

    >>> folder_name("region", "a/b"), folder_name("region", None)
    ('region=a%2Fb', 'region=__HIVE_DEFAULT_PARTITION__')
    """
    return f"{_escaped(column)}={NO_VALUE if value is None else _escaped(value_text(value))}"


def value_text(value: object) -> str:
    """A value as the name of a folder has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _escaped(text: str) -> str:
    """Only reserved signs, not letters beyond ASCII: Spark takes each byte of %C3%A4, an ä, for a letter."""
    return RESERVED.sub(lambda found: f"%{ord(found[0]):02X}", text)


def check_folder_values(column: str, values: Iterable[object]) -> None:
    """Refuse values that would not come back from names of folders as they are."""
    texts = [value_text(value) for value in values if value is not None]
    odd = [text for text in texts if not text.strip(" .") or text == NO_VALUE or text != text.strip()]
    if odd:
        raise DataError(
            f"Values of {column!r} cannot be names of folders.",
            given=join_names(map(repr, odd)),
            hint="Empty texts and blanks at the ends are lost there.",
        )
    seen: dict[str, str] = {}
    for text in texts:
        other = seen.setdefault(unicodedata.normalize("NFC", text).casefold(), text)
        if other != text:
            raise DataError(
                f"Values of {column!r} differ by upper and lower case alone, and some disks make one folder "
                "of them.",
                given=join_names([other, text]),
            )
