"""Numba options in one place: compiled on first use, kept on disk, no fast-math."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile a kernel in nopython mode with an on-disk cache."""
    return cast("F", numba.njit(cache=True, nogil=True)(function))
