"""Folders for what is half-done: only their owner can look into them, and they do not outlive their process.

They hold microdata: results on their way to a file, and what DuckDB puts on disk when memory is short. A
process that is killed cannot remove its folder; the next one that works in the same place does.
"""

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

PREFIX = ".sdckit-"
LOCK = "lock"


class Scratch:
    """A folder for its owner alone (0700), locked as long as this process holds it."""

    def __init__(self, parent: Path) -> None:
        remove_abandoned(parent)
        made = Path(tempfile.mkdtemp(prefix=f".new{PREFIX}", dir=parent))  # mkdtemp makes it 0700
        self._lock: IO[bytes] | None = (made / LOCK).open("wb")
        _locked(self._lock)
        self.folder = made.rename(
            parent / made.name.removeprefix(".new")
        )  # under this name only with its lock

    def remove(self) -> None:
        """Remove the folder and all in it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        shutil.rmtree(self.folder, ignore_errors=True)


def remove_abandoned(parent: Path) -> None:
    """Remove folders that a process left behind: those that nobody holds a lock on."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody else's, or gone in the meantime
            with (folder / LOCK).open("rb+") as lock:
                free = _locked(lock)
            if free:
                shutil.rmtree(folder, ignore_errors=True)


def _locked(lock: IO[bytes]) -> bool:
    """Lock a file that no other process has locked; False where one has, or where that is not known."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
