"""The files that were opened last, for this user alone: their paths, no values."""

import json
from contextlib import suppress
from pathlib import Path

from sdckit._support.files import write_text
from sdckit.errors import SdcError

KEPT = 8


class RecentFiles:
    """Paths of data files and plans, the newest first; kept on disk where there is a place for it."""

    def __init__(self, memory: Path | None) -> None:
        self._memory = None if memory is None else memory.with_name("recent.json")

    def paths(self) -> list[Path]:
        """Those that are still there."""
        if self._memory is None:
            return []
        try:
            found = json.loads(self._memory.read_text(encoding="utf-8"))
            return [path for path in map(Path, found) if path.is_file()]
        except (OSError, ValueError, TypeError):  # none yet, or not ours
            return []

    def add(self, path: Path) -> None:
        """Put a file first."""
        if self._memory is None:
            return
        kept = [str(path), *(str(p) for p in self.paths() if p != path)][:KEPT]
        try:
            self._memory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._memory.parent.chmod(0o700)
            write_text(json.dumps(kept), self._memory)
            self._memory.chmod(0o600)
        except (OSError, SdcError):  # a home that cannot be written: nothing is remembered
            return

    def forget(self) -> None:
        """Remove the list."""
        if self._memory is not None:
            with suppress(OSError):
                self._memory.unlink(missing_ok=True)
