"""The file formats: what their names end with, and which can be read and written."""

from pathlib import Path

from sdckit._support.messages import join_names
from sdckit.errors import FileError

DELIMITED = (".csv", ".csv.gz")
STATISTICAL = (".sav", ".zsav", ".dta", ".sas7bdat", ".xpt")
READABLE = (*DELIMITED, ".parquet", *STATISTICAL, ".xlsx")
WRITABLE = tuple(ending for ending in READABLE if ending != ".sas7bdat")
# The formats that DuckDB and Spark can use without loading them into memory.
STREAMED = (*DELIMITED, ".parquet")
SHUT = "no permission, or it is open in another program"


def ending_of(path: Path) -> str:
    """What the file name ends with, in lower case; `.csv.gz` counts as one ending.

    >>> ending_of(Path("Survey.2024.CSV.gz"))
    '.csv.gz'
    """
    name = path.name.lower()
    return ".csv.gz" if name.endswith(".csv.gz") else Path(name).suffix


def readable(path: Path) -> str:
    """The ending of a file that is there and of a kind we read."""
    try:
        if path.is_file():
            path.open("rb").close()
    except PermissionError:
        raise FileError(f"The file cannot be read: {SHUT}.", given=path) from None
    if not path.exists():
        raise FileError("The file does not exist.", given=path)
    if path.is_dir():
        raise FileError("This is a folder, not a file.", given=path, allowed=f"a file {join_names(READABLE)}")
    ending = ending_of(path)
    if ending not in READABLE:
        raise FileError(
            f"Files ending in {ending!r} cannot be read.", given=path.name, allowed=join_names(READABLE)
        )
    if path.stat().st_size == 0:
        raise FileError("The file is empty.", given=path)
    return ending


def writable(path: Path) -> str:
    """The ending of a file that can be written where it is asked for."""
    ending = ending_of(path)
    if ending == ".sas7bdat":
        raise FileError(
            "No library can write .sas7bdat files.",
            given=path.name,
            allowed=join_names(WRITABLE),
            hint="SAS reads .xpt and .sav.",
        )
    if ending not in WRITABLE:
        raise FileError(
            f"Files ending in {ending!r} cannot be written.",
            given=path.name,
            allowed=join_names(WRITABLE),
            hint="" if ending else "A folder of files is written with partition_by.",
            plan_hint="" if ending else "A folder of files is written with --partition-by.",
        )
    if path.is_dir():
        raise FileError("This is a folder, not a file.", given=path)
    if not path.parent.is_dir():
        raise FileError("The folder to write into does not exist.", given=path.parent)
    return ending
