"""A number of a file with its values in order: sorted once, however many attacks ask."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """Values of a number, nan where missing, and what is found by sorting them, at the first request.

    Columns are sorted several at a time; Python's cached properties would wait for each other.
    """

    values: Floats
    alike: "NumberColumn | None" = None  # another column with the same values present, in other rows
    _found: dict[str, Any] = field(default_factory=dict, repr=False)

    def _once(self, name: str, find: Callable[[], Any]) -> Any:
        if name not in self._found:
            self._found[name] = find()
        return self._found[name]

    @property
    def present(self) -> Bools:
        """Which values are not missing."""
        found: Bools = self._once("present", lambda: ~np.isnan(self.values))
        return found

    @property
    def complete(self) -> bool:
        """Whether no value is missing."""
        return bool(self.present.all())

    @property
    def order(self) -> Ints:
        """The rows with a value, in the order of the values."""
        present = int(self.present.sum())
        found: Ints = self._once("order", lambda: np.argsort(self.values)[:present])  # nan comes last
        return found

    @property
    def ordered(self) -> Floats:
        """The values that are present, in order."""
        if self.alike is not None:
            return self.alike.ordered
        found: Floats = self._once("ordered", self._in_order)
        return found

    def _in_order(self) -> Floats:
        if "order" in self._found:
            return np.asarray(self.values[self.order])
        return np.sort(self.values)[: int(self.present.sum())]

    @property
    def _starts(self) -> Ints:
        """Where in the order the different values begin."""
        ordered = self.ordered
        found: Ints = self._once(
            "starts", lambda: np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: ordered.size])
        )
        return found

    @property
    def distinct(self) -> Floats:
        """The different values, in order."""
        return np.asarray(self.ordered[self._starts])

    @property
    def count(self) -> Ints:
        """How often each of the different values occurs."""
        return np.diff(np.append(self._starts, self.ordered.size))

    @property
    def place(self) -> Ints:
        """The number of each row's value among the different ones; −1 where it is missing."""
        found: Ints = self._once("place", self._places)
        return found

    def _places(self) -> Ints:
        found = np.full(self.values.size, -1, dtype=np.int64)
        found[self.order] = np.repeat(np.arange(self._starts.size), self.count)
        return found

    def only(self, rows: Bools) -> "NumberColumn":
        """The column in some of the rows."""
        kept = int(rows.sum())
        if kept == rows.size:
            return self
        same = int((rows & self.present).sum()) == int(self.present.sum())
        return NumberColumn(self.values[rows], self if same else None)


def number_columns(values: Floats | Sequence[NumberColumn]) -> tuple[NumberColumn, ...]:
    """The columns of a matrix; what is not finite is missing."""
    if not isinstance(values, np.ndarray):
        return tuple(values)
    finite = np.isfinite(values)
    cleaned = values if finite.all() else np.where(finite, values, np.nan)
    return tuple(NumberColumn(np.ascontiguousarray(column)) for column in cleaned.T)


def frequent_values(ordered: Floats, least: float) -> Floats:
    """The different values that occur at least so often among values in order.

    >>> frequent_values(np.array([1.0, 1.0, 2.0, 3.0, 3.0, 3.0]), 1.5)
    array([1., 3.])
    """
    often = max(ceil(least), 1)
    first = ordered[: max(ordered.size - often + 1, 0)]
    return np.unique(first[first == ordered[often - 1 :]])


def is_among(values: Floats, some: Floats) -> Bools:
    """Which values are among some others, which are in order."""
    if not some.size:
        return np.zeros(values.shape, dtype=np.bool_)
    return np.asarray(some[np.searchsorted(some, values).clip(max=some.size - 1)] == values)
