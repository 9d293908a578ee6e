"""How much memory is free."""

import os
from pathlib import Path

MEMINFO = Path("/proc/meminfo")
CONTAINER = Path("/sys/fs/cgroup")  # a container may be allowed less than the machine has


def free_memory() -> int | None:
    """Bytes that a program can still have, None where the system does not tell.

    On Linux what is available, within the limit of a container; on macOS all memory of the machine.
    """
    found = [size for size in (_available(), _container()) if size is not None]
    return max(min(found), 0) if found else None


def _available() -> int | None:
    if MEMINFO.is_file():
        for line in MEMINFO.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows
        return None


def _container() -> int | None:
    try:
        limit = (CONTAINER / "memory.max").read_text(encoding="ascii").strip()
        used = int((CONTAINER / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return int(limit) - used if limit.isdigit() else None
