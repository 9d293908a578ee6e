"""Numba options in one place: compiled on first use, kept on disk, no fast-math."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast
from zlib import crc32

import numba

from sdckit._version import __version__

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile a kernel in nopython mode with an on-disk cache.

    Numba takes a cached kernel for fresh when the kernel's own file is unchanged, whatever became of kernels
    it calls in other files. Files of the cache are named after the function's qualified name, wherever the
    cache is; so this gets the version of the package and a checksum of those other files.
    """
    function.__qualname__ += f"-{__version__}{_imported(function)}"
    return cast("F", numba.njit(cache=True, nogil=True)(function))


def _imported(function: Callable[..., Any]) -> str:
    """A checksum of the files of all kernels that the function's module imports, and of what these import."""
    kernels = [getattr(value, "py_func", None) for value in function.__globals__.values()]
    others = {k.__code__.co_filename: k for k in kernels if k and k.__module__ != function.__module__}
    names = [f"{_checksum(path)} {k.__qualname__}" for path, k in sorted(others.items())]
    return f"-{crc32(' '.join(names).encode()):08x}" if names else ""


@lru_cache
def _checksum(path: str) -> int:
    try:
        return crc32(Path(path).read_bytes())
    except OSError:  # not a file: in an archive, which the version must be enough for
        return 0
