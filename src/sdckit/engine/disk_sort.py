"""Rows that are sorted outside memory: cut into parts by limits of their keys, each part sorted in memory."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sdckit._support.arrays import Ints
from sdckit.engine.disk_arrays import Array
from sdckit.kernels.parts_of_order import Keys, parts_of_order

TOGETHER = 1_000_000  # rows of a part, about
MOST = 500  # parts: each is an open file

Columns = Mapping[str, Array]


def parts_for(n: int) -> int:
    """Into how many parts n rows are best cut."""
    return min(max(n // TOGETHER, 1), MOST)


class DiskSort:
    """Rows in the order of `major` (whole numbers), among equals of `minor`, and then of `last`.

    `limits`: ascending keys at which a new part begins. They decide how much is in memory together, not what
    comes out. `kinds`: the types of the three keys and of what else a row has.
    """

    def __init__(self, folder: Path, limits: Keys, kinds: Mapping[str, Any]) -> None:
        self._limits = limits
        self._row = np.dtype([(name, np.dtype(kind)) for name, kind in kinds.items()])
        self._folder = TemporaryDirectory(dir=folder)
        paths = [Path(self._folder.name) / str(part) for part in range(len(limits[0]) + 1)]
        self._files = [path.open("w+b") for path in paths]

    def add(self, columns: Columns) -> None:
        """Some more rows, as columns with the names of `kinds`."""
        rows = np.empty(len(columns["major"]), dtype=self._row)
        for name, values in columns.items():
            rows[name] = values
        if len(self._files) == 1:
            rows.tofile(self._files[0])
            return
        part = parts_of_order(keys_of(columns), self._limits)
        rows = _taken(rows, np.argsort(part, kind="stable"))  # of 16 bits, which takes no comparisons
        ends = np.cumsum(np.bincount(part, minlength=len(self._files)))
        for file, start, end in zip(self._files, np.append(0, ends[:-1]), ends, strict=True):
            if end > start:
                rows[start:end].tofile(file)

    def sorted_parts(self) -> Iterator[Array]:
        """The rows in order, part by part, once: what was read is gone."""
        for file in self._files:
            file.flush()
            file.seek(0)
            rows = np.fromfile(file, dtype=self._row)
            file.truncate(0)
            file.close()
            if len(rows):
                yield _taken(rows, _order(rows))
        self._folder.cleanup()


def keys_of(columns: Columns) -> Keys:
    """The keys of rows, numbers in 64 bits."""
    minor = columns["minor"]
    kind = np.float64 if minor.dtype.kind == "f" else np.int64
    return columns["major"].astype(np.int64), minor.astype(kind), columns["last"].astype(np.int64)


def limits_of(keys: Keys, parts: int) -> Keys:
    """Limits that cut rows, of which these are the keys of a sample, into about equal parts."""
    order = np.lexsort(keys[::-1])
    at = order[order.size * np.arange(1, parts) // parts] if order.size else order
    return keys[0][at], keys[1][at], keys[2][at]


def _taken(rows: Array, order: Ints) -> Array:
    """rows[order], as bytes, which is much faster."""
    taken: Array = rows.view(np.uint8).reshape(len(rows), -1).take(order, axis=0)
    return taken.view(rows.dtype).ravel()


def _order(rows: Array) -> Ints:
    """The order of rows by major, minor and last, in which what is in order already costs little."""
    order = np.arange(len(rows))
    for name in ("last", "minor", "major"):
        keys = rows[name][order]
        if (keys[1:] < keys[:-1]).any():
            order = order[np.argsort(keys, kind="stable")]
    return order
