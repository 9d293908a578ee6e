"""Arrays as long as a file has records, on disk: what is read or written of them is memory for a while."""

import mmap
import os
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

PIECE = 1_000_000  # elements that are worked on at a time


class DiskArray:
    """n elements of one type in a file without a name, which is gone with the array."""

    def __init__(self, folder: Path, n: int, dtype: Any) -> None:
        self.n = n
        handle, path = mkstemp(dir=folder)
        try:
            os.truncate(handle, max(n, 1) * np.dtype(dtype).itemsize)  # zeros, without room on the disk yet
            self._pages = mmap.mmap(handle, 0)
        finally:
            os.close(handle)
            with suppress(OSError):  # Windows removes no open files: the folder goes when the process ends
                Path(path).unlink()
        self.values: Array = np.frombuffer(self._pages, dtype=dtype)[:n]

    def leave(self) -> None:
        """Give the memory back that holds what was used of the array; its values stay."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._pages.madvise(mmap.MADV_DONTNEED)
