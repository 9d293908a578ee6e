"""What the page opens: the file as it is read, before it is prepared, and how it was read."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

from sdckit._support.messages import join_names
from sdckit.choose.plan import TABLE, demo_data
from sdckit.data.microdata import Microdata
from sdckit.io import read
from sdckit.io.codebook_labels import ProposedMissing, proposed_missing
from sdckit.io.excel import sheets_of
from sdckit.io.formats import DELIMITED, ending_of
from sdckit.io.preview import preview_file
from sdckit.io.table_options import WORKBOOKS
from sdckit.methods.registry import find
from sdckit.methods.spec import Kind


def opened(source: Mapping[str, Any]) -> Microdata:
    """The file or the demo that a source names."""
    if "file" in source:
        with catch_warnings():
            simplefilter("ignore", ProposedMissing)  # a note says it, of the file as prepared
            return read(source["file"], **{name: source[name] for name in TABLE if name in source})
    made = demo_data(source.get("demo"))
    return Microdata.of(made.frame, labels=made.labels)


def reading(source: Mapping[str, Any]) -> dict[str, Any]:
    """How a text file or a workbook was read, found out or said; nothing of other files."""
    if "file" not in source or ending_of(Path(source["file"])) not in (*DELIMITED, *WORKBOOKS):
        return {}
    found: dict[str, Any] = preview_file(
        source["file"], rows=1, **{name: source[name] for name in TABLE if name in source}
    )["found"]
    return found


def reading_notes(source: Mapping[str, Any], raw: Microdata, found: Mapping[str, Any]) -> list[str]:
    """What to look at after a file was read: what was guessed, and columns without names or values."""
    notes = []
    if "sheet" in found and "sheet" not in source and len(sheets := sheets_of(Path(source["file"]))) > 1:
        others = join_names([name for name in sheets if name != found["sheet"]], 6)
        notes.append(
            f"Of the workbook the first sheet was read, {found['sheet']}; not read: {others}. "
            "Under “How the file was read”, on the screen Data, another can be chosen."
        )
    if found.get("encoding", "utf-8") != "utf-8" and "encoding" not in source:
        words = [*raw.columns, *(text for text in raw.labels.variables.values())]
        odd = [word for word in words if not word.isascii()]
        named = f": {join_names(odd, 6)}" if odd else ""
        notes.append(
            f"The text is not UTF-8 and was read as {found['encoding']}. Are the letters right{named}?"
        )
    nameless = [c for c in raw.columns if re.fullmatch(r"column_[0-9]+", c)]
    if nameless:
        notes.append(f"Columns have no name in the file: {join_names(nameless, 6)}.")
    empty = [c.name for c in raw.frame.iter_columns() if c.null_count() == raw.height]
    if empty:
        notes.append(
            f"Only missing values: {join_names(empty, 6)}. "
            f"The preparation “{find('drop_empty', Kind.PREPARATION).title}” leaves them out."
        )
    return [*notes, *proposed_missing(raw)]
