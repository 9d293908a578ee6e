"""Whether a process and all it started have come to a standstill: how much they worked."""

import os
from collections import defaultdict
from pathlib import Path

PROC = Path("/proc")


def worked(process: int) -> int | None:
    """Nanoseconds that a process and all that it started have worked, all threads; None if that is not known.

    A server that waits for somebody still looks around from time to time. Threads of which one could not be
    started do not: the sum then stays the same for ever. A thread that waits for a disk counts as at work.
    """
    children = defaultdict(list)
    for folder in PROC.glob("[0-9]*"):
        parent = _parent(folder)
        if parent is not None:
            children[parent].append(int(folder.name))
    total, waiting = 0, [process]
    while waiting:
        one = waiting.pop()
        waiting += children[one]
        for thread in (PROC / str(one) / "task").glob("[0-9]*"):
            spent = _spent(thread)
            if spent is None:
                return None
            total += spent
    return total


def _parent(folder: Path) -> int | None:
    fields = _fields(folder)
    return int(fields[1]) if fields else None


def _fields(folder: Path) -> list[str]:
    """State, parent and so on of a process or thread; nothing when it has ended meanwhile."""
    try:
        return (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _spent(thread: Path) -> int | None:
    fields = _fields(thread)
    if not fields:
        return 0
    if fields[0] == "D":
        return int.from_bytes(os.urandom(4))  # never the same twice
    try:
        return int((thread / "schedstat").read_text().split()[0])
    except (OSError, IndexError):
        return None
