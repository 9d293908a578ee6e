"""What the readers of all formats say of a file that cannot be read, as errors of ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from sdckit.engine.duckdb_session import interrupts_heard
from sdckit.errors import ColumnError, EngineError, FileError, SdcError


@contextmanager
def reading_errors(path: Path, ending: str) -> Iterator[None]:
    """A block that reads a file of this ending."""
    try:
        with interrupts_heard():
            yield
    except (SdcError, MemoryError):
        raise
    except pl.exceptions.DuplicateError as error:
        raise ColumnError("Column names must differ.", given=_first_line(error)) from error
    except ImportError as error:  # too little memory to load it, or a broken installation: not the file
        raise EngineError(
            "A package that reads this file cannot be loaded.", given=path, hint=f"{_first_line(error)}."
        ) from error
    # The readers of six formats have no error class in common; whatever they say, the file is at fault.
    except (Exception, pl.exceptions.PanicException) as error:
        raise FileError(
            f"The file cannot be read as {ending}.",
            given=path,
            hint=f"It may be broken or of another format ({_first_line(error)}).",
        ) from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
