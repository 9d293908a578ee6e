"""Files that appear whole or not at all."""

import os
import re
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EEXIST, ENOENT, ENOSPC, ENOTEMPTY
from pathlib import Path
from types import FrameType

from sdckit._support.scratch import Scratch
from sdckit.errors import FileError

# What ends a process that has no answer of its own to it: without ours a half-written file would stay.
ENDS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
WATCHED = "SDCKIT_TEMPORARY_FILES"  # a file in which a process that may be aborted names what it writes
NO_ROOM = re.compile("no space left|not enough space|disk quota|disk full|file too large", re.IGNORECASE)
MOVED = (ENOENT, EEXIST, ENOTEMPTY)  # a folder is gone, or there, that was not a moment ago
_temporary: dict[Path, int] = {}  # files and folders that are being written, and by which process


def is_full(error: BaseException) -> bool:
    """Whether an error says that the disk has no room left, in whatever way its library says so.

    >>> is_full(OSError("No space left on device (os error 28)")), is_full(OSError("gone"))
    (True, False)
    """
    return getattr(error, "errno", None) == ENOSPC or bool(NO_ROOM.search(str(error)))


@contextmanager
def atomic_write(target: Path, ending: str = "") -> Iterator[Path]:
    """A temporary file on the disk of the target that takes its place only when all went well."""
    real = target.resolve()  # a link stays a link
    if not real.parent.is_dir():
        raise FileError("The folder does not exist.", given=real.parent)
    with scratch_folder(real.parent) as scratch:  # which the next process removes if this one is killed
        temporary = scratch / f"new{ending or real.suffix}"
        yield temporary
        flush(temporary)
        if real.exists():
            shutil.copymode(real, temporary)
        temporary.replace(real)


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """A folder for what is half-done, for its owner alone; gone behind the block."""
    made = Scratch(parent)
    try:
        with _removed_at_the_end(made.folder):
            yield made.folder
    finally:
        made.remove()


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """A new folder that takes the place of the target, files and all, only when all went well."""
    real = target.resolve()
    if not real.parent.is_dir():
        raise FileError("The folder does not exist.", given=real.parent)
    with scratch_folder(real.parent) as scratch:
        made = scratch / "new"
        made.mkdir()
        yield made
        for file in made.rglob("*"):
            if file.is_file():
                flush(file)
        _take_place(made, real, scratch)


def _take_place(made: Path, real: Path, scratch: Path) -> None:
    """Put a folder where another one may be, which goes to the scratch folder and is removed with it."""
    # Not to the scratch folder at once: a process killed between two renames must not lose the older files.
    before = real.with_name(f".{real.name}.before")
    try:
        if real.exists():
            shutil.copymode(real, made)
            if before.exists():  # of a process killed when its new files were there already
                before.rename(scratch / "left")
            real.rename(before)
        else:
            made.chmod(0o777 & ~_umask())
        made.rename(real)
    except BaseException as error:
        if before.exists() and not real.exists():
            before.rename(real)
        if isinstance(error, OSError) and error.errno in MOVED:
            raise FileError(
                "Another process wrote to this folder at the same time.",
                given=real,
                hint="Its files are there. Write again if these should be.",
            ) from error
        raise
    with suppress(FileNotFoundError):  # there was none, or another process has removed it
        before.rename(scratch / "before")


def _umask() -> int:
    """The permissions that new files do not get: they can only be asked for by setting them."""
    now = os.umask(0o077)
    os.umask(now)
    return now


def flush(path: Path) -> None:
    """Have the bytes of a file on the disk; a disk without room for them says so here at the latest."""
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


@contextmanager
def _removed_at_the_end(temporary: Path) -> Iterator[None]:
    """Remove a folder behind the block, also if the process is told to end within it.

    Signals that would end the process at once do so after it is removed. A program's own handlers stay:
    if they raise, it is removed as after any error. Only the main thread can be asked about signals.
    """
    ours: list[int] = []
    try:
        ours += remove_at_signals(temporary)
        yield
    finally:
        remove(temporary)
        _temporary.pop(temporary, None)
        for number in ours:
            if signal.getsignal(number) is _end and os.getpid() not in _temporary.values():
                signal.signal(number, signal.SIG_DFL)


def remove_at_signals(temporary: Path) -> list[int]:
    """Have a file or a folder removed first when a signal ends the process; the signals that are now heard.

    What is removed when Python ends (`atexit`) is not when a signal ends it.
    """
    _temporary[temporary] = os.getpid()
    if os.environ.get(WATCHED):
        with Path(os.environ[WATCHED]).open("a", encoding="utf-8") as names:
            names.write(f"{temporary}\n")
    if threading.current_thread() is not threading.main_thread():
        return []
    ours = [number for number in ENDS if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _end)
    return ours


def _end(number: int, _: FrameType | None) -> None:
    """Remove what is half-written, then end as if nobody had listened to the signal."""
    for temporary, process in list(_temporary.items()):
        if process == os.getpid():  # not in a copy of the process, which another one goes on writing
            remove(temporary)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def remove(temporary: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if temporary.is_dir():
        shutil.rmtree(temporary, ignore_errors=True)
    else:
        temporary.unlink(missing_ok=True)


def write_text(text: str, path: str | Path) -> Path:
    """Write a text file, whole or not at all."""
    path = Path(path)
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
