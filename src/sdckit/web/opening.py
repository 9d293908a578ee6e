"""What the page opens: the file as it is read, before it is prepared, and how it was read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sdckit.choose.plan import TABLE, demo_data
from sdckit.data.microdata import Microdata
from sdckit.io import read
from sdckit.io.formats import DELIMITED, ending_of
from sdckit.io.preview import preview_file
from sdckit.io.table_options import WORKBOOKS


def opened(source: Mapping[str, Any]) -> Microdata:
    """The file or the demo that a source names."""
    if "file" in source:
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
