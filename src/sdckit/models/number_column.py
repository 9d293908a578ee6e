"""A number of a file with its values in order: sorted once, however many attacks ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """Values of a number, nan where missing, and what is found by sorting them, at the first request."""

    values: Floats
    alike: "NumberColumn | None" = None  # another column with the same values present, in other rows

    @cached_property
    def present(self) -> Bools:
        """Which values are not missing."""
        return ~np.isnan(self.values)

    @cached_property
    def complete(self) -> bool:
        """Whether no value is missing."""
        return bool(self.present.all())

    @cached_property
    def order(self) -> Ints:
        """The rows with a value, in the order of the values."""
        return np.argsort(self.values)[: int(self.present.sum())]  # nan comes last

    @cached_property
    def ordered(self) -> Floats:
        """The values that are present, in order."""
        if self.alike is not None:
            return self.alike.ordered
        if "order" in self.__dict__:
            return np.asarray(self.values[self.order])
        return np.sort(self.values)[: int(self.present.sum())]

    @cached_property
    def _starts(self) -> Ints:
        """Where in the order the different values begin."""
        ordered = self.ordered
        return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: ordered.size])

    @cached_property
    def distinct(self) -> Floats:
        """The different values, in order."""
        return np.asarray(self.ordered[self._starts])

    @cached_property
    def count(self) -> Ints:
        """How often each of the different values occurs."""
        return np.diff(np.append(self._starts, self.ordered.size))

    @cached_property
    def place(self) -> Ints:
        """The number of each row's value among the different ones; −1 where it is missing."""
        found = np.full(self.values.size, -1, dtype=np.int64)
        found[self.order] = np.repeat(np.arange(self.count.size), self.count)
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
