"""A file among the options of a method: a population register, records held back from synthesis."""

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic_core import CoreSchema, core_schema

from sdckit.data.microdata import Microdata
from sdckit.io.read import read

MAX_KEPT = 4  # files held in memory: a register may be large, and a plan names one or two


class _AsMicrodata:
    """Tells pydantic to read what is given, and a form to ask for a file."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(as_microdata)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"type": "string", "format": "file", "description": "a file, in Python also a table"}


# An option that is a file: a path, any data frame or microdata. In options and reports only its size shows.
TableOption = Annotated[Microdata, _AsMicrodata()]


def as_microdata(given: Any) -> Microdata:
    """Microdata from a path, any data frame or microdata; a file is read once, until it is written again."""
    if isinstance(given, Microdata):
        return given
    if isinstance(given, str | Path):
        path = Path(given).expanduser()
        try:
            found = path.stat() if path.is_file() else None
        except (OSError, ValueError):  # no name of a file, which `read` says
            found = None
        if found is not None:
            return _read(str(path.resolve()), found.st_mtime_ns, found.st_size)
    return read(given)


@lru_cache(maxsize=MAX_KEPT)
def _read(path: str, changed: int, size: int) -> Microdata:
    """The file as it was at this time and of this size."""
    return read(path)
