"""Numba options in one place: compiled on first use, kept on disk, no fast-math."""

import os
import stat
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any, TypeVar, cast
from zlib import crc32

import numba
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from sdckit._version import __version__

F = TypeVar("F", bound=Callable[..., Any])

ENTRY: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
INNER = {"nopython": True, "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
INSIDE = (0, 68)  # the numba whose inside `_Part` knows; with any other inner functions are compiled its way
KERNELS: list[Any] = []  # every kernel whose module was imported so far


def jit(function: F) -> F:
    """Compile a kernel in nopython mode with an on-disk cache.

    Numba takes a cached kernel for fresh when the kernel's own file is unchanged, whatever became of kernels
    it calls in other files. Files of the cache are named after the function's qualified name, wherever the
    cache is; so this gets the version of the package and a checksum of those other files.

    The cache is where NUMBA_CACHE_DIR says, else beside the package, else in the home folder; where none of
    these can be written to, in a temporary folder of the user; without any the kernel is compiled in every
    process.
    """
    _name_after_sources(function)
    try:
        kernel = numba.njit(cache=True, **ENTRY)(function)
    except RuntimeError:  # numba found no folder that it can write to
        kernel = _cached_elsewhere(function)
    KERNELS.append(kernel)
    return cast("F", kernel)


def inner(function: F) -> F:
    """Part of kernels that only they call; in Python it is the plain function.

    It becomes machine code with the first kernel of a process that calls it, without an entrance from Python:
    that would be dear where arguments are many arrays. It neither allocates nor returns arrays, which
    therefore need not be counted, and has nothing to do with Python objects.
    """
    _name_after_sources(function)
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    compiler = _InnerCompiler if numba.version_info.short == INSIDE else Compiler
    return cast("F", _Inner(function, targetoptions=dict(INNER), pipeline_class=compiler))


class _Inner(CPUDispatcher):
    """A compiled function for other compiled functions, once for literal and other arguments."""

    def __call__(self, *given: Any) -> Any:
        return self.py_func(*given)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """How a kernel calls the function, compiled for these types."""
        kinds = [types.unliteral(kind) for kind in args]  # type: ignore[no-untyped-call]
        return super().get_call_template(kinds, kws)


class _InnerCompiler(Compiler):
    """Numba's compiler with another end: see `_Part`."""

    def __init__(self, typing: Any, target: Any, library: Any, *others: Any) -> None:
        if library is None:
            library = _Part(target.codegen(), "inner")  # type: ignore[no-untyped-call]
        super().__init__(typing, target, library, *others)  # type: ignore[no-untyped-call]


class _Part(JITCodeLibrary):
    """The code of an inner function, handed to the kernels that call it as it is.

    Numba would optimise it and make machine code of it, with all it calls, although only kernels run it, and
    they optimise it once more: at every level of calls, a quarter of the time that large kernels take.
    """

    def finalize(self) -> None:
        """Collect what the function calls."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: there is no machine code to point to."""
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return 0

    @property
    def codegen(self) -> "_Part":
        """Asked only for `set_env`."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing: Python objects, which an environment holds, do not occur in inner functions."""


def _cached_elsewhere(function: F) -> Any:
    folder = temporary_cache()
    if folder is None:
        return numba.njit(**ENTRY)(function)
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        return numba.njit(cache=True, **ENTRY)(function)
    finally:  # other packages keep their own places
        settings.CACHE_DIR = before


@lru_cache
def temporary_cache() -> Path | None:
    """A folder of this user alone among the temporary files; None where there cannot be one.

    It holds machine code that is run as it is found. A folder that somebody else made or may write to under
    the expected name is therefore not used.
    """
    user = os.getuid() if hasattr(os, "getuid") else None  # on Windows each user has temporary files apart
    try:
        folder = Path(gettempdir()) / ("sdckit-kernels" if user is None else f"sdckit-kernels-{user}")
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode) or not os.access(folder, os.W_OK | os.X_OK):
        return None
    if user is not None and (found.st_uid != user or stat.S_IMODE(found.st_mode) & 0o077):
        return None
    return folder


def cache_folder() -> Path | None:
    """Where kernels of this package are kept on disk; None where they are not."""
    path = _probe.stats.cache_path if hasattr(_probe, "stats") else None
    return None if path is None else Path(path)


def cached_files(kernel: Any) -> list[Path]:
    """The files on disk of a kernel that was compiled: an index, and one for each kind of arguments."""
    path = kernel.stats.cache_path if hasattr(kernel, "stats") else None
    name = kernel.py_func.__qualname__ if path is not None else ""
    return [] if path is None else sorted(Path(path).glob(f"*.{name}-*.nb?"))


@lru_cache
def source_checksum() -> int:
    """A checksum of the sources of all kernels, also of those not imported yet."""
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    return crc32(repr([_checksum(str(path)) for path in sources]).encode())


def _name_after_sources(function: Callable[..., Any]) -> None:
    function.__qualname__ += f"-{__version__}{_imported(function)}"


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


@jit
def _probe() -> int:
    """Tells where kernels are kept; never called."""
    return 0
