"""Dates of writing in the headers of files, set to a fixed one: the same data give the same bytes."""

import re
from datetime import UTC, datetime
from pathlib import Path

from sdckit.errors import FileError

WHEN = datetime(1980, 1, 1, tzinfo=UTC)  # the first date that zip files, and so .xlsx, can have
DATES = {
    ".sav": rb"(?<=\A\$FL[23].{88}).{9}.{8}",
    ".zsav": rb"(?<=\A\$FL[23].{88}).{9}.{8}",
    ".dta": rb"(?<=<timestamp>\x11).{17}(?=</timestamp>)",
    ".xpt": rb"\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d",
}
TEXTS = {
    ".sav": b"01 Jan 8000:00:00",
    ".zsav": b"01 Jan 8000:00:00",
    ".dta": b"01 Jan 1980 00:00",
    ".xpt": b"01JAN80:00:00:00",
}
# Where dates are: at the beginning, before any name or value of the data.
HEADER = {".sav": 176, ".zsav": 176, ".dta": 500, ".xpt": 80 * 7}
EXPECTED = {".sav": 1, ".zsav": 1, ".dta": 1, ".xpt": 4}


def fix_date(path: Path, ending: str) -> None:
    """Put the fixed date where the format has the date of writing; other formats have none."""
    if ending not in DATES:
        return
    with path.open("rb+") as stream:
        header = stream.read(HEADER[ending])
        fixed, count = re.subn(DATES[ending], TEXTS[ending], header, flags=re.DOTALL)
        if count != EXPECTED[ending]:  # an empty file on a full disk, or another version of the writer
            raise FileError(
                f"The {ending} file cannot be written: it has no header.", hint="The disk may be full."
            )
        stream.seek(0)
        stream.write(fixed)
