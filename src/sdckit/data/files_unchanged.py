"""Files that stay on disk are read again and again: they must stay those that were read first."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.errors import FileError


@contextmanager
def files_unchanged(files: Sequence[Microdata | Sequence[Microdata]]) -> Iterator[None]:
    """A block whose result is refused where files changed meanwhile, as is the reason of any error in it."""
    try:
        yield
    except Exception:
        require_unchanged(files)
        raise
    require_unchanged(files)


def require_unchanged(files: Sequence[Microdata | Sequence[Microdata]]) -> None:
    """Refuse data outside memory whose files changed after they were read, so that parts would not fit."""
    every = [one for some in files for one in ([some] if isinstance(some, Microdata) else some)]
    readings = {id(data.reading.stamps): data.reading for data in every if data.engine != "polars"}
    changed = {file for reading in readings.values() for file in reading.changed_files()}
    if changed:
        raise FileError(
            "Files have changed since they were read, so results and protection may not fit the records.",
            given=join_names(map(str, sorted(changed))),
            hint="Read them again and begin anew, once nobody writes them any more.",
        )
