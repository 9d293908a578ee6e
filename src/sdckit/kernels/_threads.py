"""Compiled work shared among threads: kernels let go of the interpreter while they run."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[Any]
T = TypeVar("T")

FEW = 1_000  # rows from which on threads are worth starting
PIECES = 8  # for each thread, since some rows take longer than others

_alone = Lock()


def threads() -> int:
    """How many threads there should be: one in each process where several share the cores."""
    return min(numba.get_num_threads(), 4)


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra in one thread. The limit is the process's, so only one piece of work at a time has it.

    Of two at once the second would bring back the limit of the first when it ends.
    """
    from threadpoolctl import threadpool_limits

    with _alone, threadpool_limits(1):
        yield


def in_order(work: Callable[..., T], *given: Sequence[Any]) -> list[T]:
    """What `work` gives for the first of each sequence, the second, …, several of them at a time.

    >>> in_order(max, [1, 5], [2, 3])
    [2, 5]
    """
    if threads() == 1:
        return list(map(work, *given))
    with ThreadPoolExecutor(threads()) as pool:
        return list(pool.map(work, *given))


def by_rows(work: Callable[..., tuple[Rows, ...]], *rows: Rows) -> tuple[Rows, ...]:
    """What `work` gives for the rows of these arrays, which it must treat each on its own.

    >>> by_rows(lambda x: (x + 1, -x), np.arange(3))
    (array([1, 2, 3]), array([ 0, -1, -2]))
    """
    if threads() == 1 or len(rows[0]) < FEW:
        return work(*rows)
    found = in_order(work, *(np.array_split(array, PIECES * threads()) for array in rows))
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))
