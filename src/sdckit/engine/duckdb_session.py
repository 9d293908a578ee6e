"""The DuckDB connection of this process: files are read through it, and it leaves memory to others.

It is not DuckDB's shared default connection, whose settings and tables are the user's. Relations of different
connections cannot be joined, so there is one for all files.
"""

import atexit
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from sdckit._support.files import NO_ROOM, remove_at_signals, scratch_folder
from sdckit._support.memory import free_memory
from sdckit._support.scratch import Scratch
from sdckit.errors import EngineError, FileError, SdcError

SPILLED = "spilled"
SHARE = 4  # DuckDB gets a quarter of the free memory,
MOST = 5 * 2**28  # and no more bytes than this: an assessment of 10⁸ records takes no longer than with 2 GB
LEAST = 256 * 2**20  # bytes: with less, work that spills to disk fails as well

INTERRUPTED = "Query interrupted"  # DuckDB's words for Ctrl-C; no class tells it apart

_open: dict[int, Any] = {}  # by process: a connection does not survive a fork
_scratch: dict[int, Scratch] = {}


def connection() -> Any:
    """The connection of this process, opened at its first use."""
    if os.getpid() not in _open:
        import duckdb

        scratch = Scratch(_folder_for_temporary_files())
        _open.clear()
        _scratch.clear()
        made = duckdb.connect()
        remove_at_signals(scratch.folder)
        _set(made, "temp_directory", str(scratch.folder / SPILLED))
        _set(made, "preserve_insertion_order", "false")
        _set(made, "TimeZone", "UTC")  # months and days would follow the zone of the machine
        _set(made, "enable_progress_bar", "false")  # drawn to standard output, among tables and JSON
        free = free_memory()
        if free is not None:
            _set(made, "memory_limit", f"{max(min(free // SHARE, MOST), LEAST) // 2**20}MiB")
        _open[os.getpid()] = made
        _scratch[os.getpid()] = scratch
        atexit.register(_closed, os.getpid(), scratch)
    return _open[os.getpid()]


def _folder_for_temporary_files() -> Path:
    """Where the system says; not where Python looks next, for whoever names a folder wants no other disk."""
    named = os.environ.get("TMPDIR")
    if named and not (Path(named).is_dir() and os.access(named, os.W_OK)):
        raise FileError(
            "TMPDIR names no folder that can be written, and what does not fit into memory goes there.",
            given=named,
            hint="Make it, or have TMPDIR name another one.",
        )
    return Path(tempfile.gettempdir())


def scratch_path() -> Path:
    """A folder for what the connection of this process leaves on disk; it does not outlive the process."""
    connection()
    return _scratch[os.getpid()].folder


def with_function(function: Callable[[Any], Any], kind: str) -> str:
    """The name under which SQL of our connection knows a function of arrays of whole numbers.

    It is called for some two thousand records at a time, none of them NULL; kind: the type of its results.
    """
    import pyarrow as pa

    def called(numbers: Any) -> Any:
        return pa.array(function(numbers.to_numpy()))

    made, name = connection(), f"sdckit_{uuid4().hex}"
    made.create_function(name, called, ["bigint"], kind, type="arrow")
    return name


def _closed(process: int, scratch: Scratch) -> None:
    if process == os.getpid():  # a copy of the process leaves the folder to the one that made it
        made = _open.pop(process, None)
        if made is not None and os.name == "nt":  # which removes no open files; elsewhere the end closes all
            made.close()
        scratch.remove()


@contextmanager
def spilling_beside(parent: Path) -> Iterator[None]:
    """Have what does not fit into memory written to a folder in `parent`, where there is room for the result.

    DuckDB does not leave a folder it has used: that one is removed when the process ends, others at once.
    """
    made = connection()
    before = made.execute("select current_setting('temp_directory')").fetchall()[0][0]
    stack = ExitStack()
    folder = stack.enter_context(scratch_folder(parent))
    if not _switched(made, str(folder / SPILLED)):
        stack.close()
        yield
        return
    try:
        yield
    finally:
        if _switched(made, before):
            stack.close()
        else:
            atexit.register(stack.close)


def _switched(made: Any, folder: str) -> bool:
    import duckdb

    try:
        _set(made, "temp_directory", folder)
    except duckdb.Error:  # in use, or an interrupted query is not yet over
        return False
    return True


@contextmanager
def duckdb_errors() -> Iterator[None]:
    """Ctrl-C as Python knows it, and what DuckDB cannot do in words of ours."""
    import duckdb

    try:
        with interrupts_heard():
            yield
    except duckdb.Error as error:
        raise _ours(error) from error


@contextmanager
def interrupts_heard() -> Iterator[None]:
    """Ctrl-C as Python knows it: DuckDB makes an error of it, whose class depends on how rows are fetched."""
    try:
        yield
    except Exception as error:
        if INTERRUPTED in str(error):
            raise KeyboardInterrupt from None
        raise


def _ours(error: Exception) -> SdcError:
    """What DuckDB says of work that failed, as an error that says what to do."""
    import duckdb

    said = str(error).strip().splitlines()[0]
    if isinstance(error, duckdb.OutOfMemoryException) or NO_ROOM.search(said):
        return EngineError(
            "DuckDB has too little memory, or no room on disk for what does not fit into it.",
            hint="Close other programs, or have the variable TMPDIR name a folder on a larger disk. "
            f"({said})",
        )
    if isinstance(error, duckdb.IOException):
        return FileError(
            "DuckDB cannot read or write a file.",
            given=said,
            hint="Files of a table must stay as they are until the work is done.",
        )
    return EngineError("DuckDB could not finish the work.", hint=said)


def quoted(name: str) -> str:
    """A column name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def same_connection(one: Any, other: Any) -> bool:
    """Whether two relations can be joined."""
    import duckdb

    try:
        one.set_alias("one").cross(other.set_alias("other"))
    except duckdb.InvalidInputException:  # of different connections
        return False
    return True


@contextmanager
def rows_in_order() -> Iterator[None]:
    """Results in the order of their rows, for the time of a block: for a file whose order was drawn."""
    _set(connection(), "preserve_insertion_order", "true")
    try:
        yield
    finally:
        _set(connection(), "preserve_insertion_order", "false")


def _set(to: Any, name: str, value: str) -> None:
    quoted = value.replace("'", "''")
    to.execute(f"set {name} = '{quoted}'")
