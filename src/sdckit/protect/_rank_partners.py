"""Whose value each record receives in rank swapping: the same wherever the records are."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

import numpy as np

from sdckit._support.arrays import Ints
from sdckit.kernels.swapping import draw_partners, swap_in_window


def groups_of(n: int, distance: float) -> int:
    """Into how many groups n ranks are cut: as few as keep |i−j|/n below the distance, of 2 ranks or more."""
    largest = math.ceil(max(distance, 2 / max(n, 2)) * n - 1e-9)  # 0.07 · 100 is a little above 7
    return min(math.ceil(n / max(largest, 1)), max(n, 1))


@dataclass(frozen=True, slots=True)
class Strata:
    """The present values of a variable by rank, strata behind each other: their numbers and sizes."""

    numbers: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def starts(self) -> Ints:
        """Where each stratum begins."""
        sizes = np.array(self.sizes, dtype=np.int64)
        return np.cumsum(sizes) - sizes

    def spread(self, places: Ints) -> tuple[Ints, Ints, Ints]:
        """Of each place its stratum here, the place within it and its size."""
        starts = self.starts
        stratum = np.searchsorted(starts, places, side="right") - 1
        return stratum, places - starts[stratum], np.array(self.sizes, dtype=np.int64)[stratum]

    def groups(self, places: Ints, distance: float) -> Ints:
        """A number for the group of each place, ascending."""
        counts = np.array([groups_of(n, distance) for n in self.sizes], dtype=np.int64)
        stratum, place, size = self.spread(places)
        return place * counts[stratum] // size + (np.cumsum(counts) - counts)[stratum]


@dataclass(frozen=True, slots=True)
class Windows:
    """Partners within windows of a variable's ranks: a chain of draws through each stratum.

    What is drawn depends on the seed and the number and size of the stratum, not on the records.
    """

    seed: int
    distance: float
    strata: Strata

    def partners(self) -> Ints:
        """For each place the one whose value it receives, in memory."""
        found = [swap_in_window(n, *self._draw(number, n)) + start for start, number, n in self._each()]
        return np.concatenate([np.empty(0, dtype=np.int64), *found])

    def fill(self, partners: Ints) -> None:
        """The same into an array."""
        for start, number, n in self._each():
            mine = partners[start : start + n]
            for piece in _pieces(mine):
                mine[piece] = np.arange(piece.start, piece.stop)
            draw_partners(mine, *self._draw(number, n))
            for piece in _pieces(mine) if start else ():
                mine[piece] += start

    def of(self, places: Ints) -> Ints:
        """The partners of some places; all are drawn once in a process."""
        return _partners_once(self)[places]

    def _each(self) -> Iterator[tuple[int, int, int]]:
        return zip(self.strata.starts.tolist(), self.strata.numbers, self.strata.sizes, strict=True)

    def _draw(self, stratum: int, n: int) -> tuple[int, int]:
        """The window, 0.29 · 100 being a little below 29 in floating point, and the seed of a stratum."""
        window = max(math.floor(self.distance * n + 1e-9), 1)
        if stratum == 0:
            return window, self.seed
        digest = sha256(f"{self.seed}/{stratum}".encode()).digest()
        return window, int.from_bytes(digest[:8], "big") >> 1


@lru_cache(maxsize=1)
def _partners_once(windows: Windows) -> Ints:
    return windows.partners()


def _pieces(values: Ints, size: int = 1_000_000) -> Iterator[slice]:
    for start in range(0, len(values), size):
        yield slice(start, min(start + size, len(values)))


def strata_of(stratum: Ints) -> Strata:
    """The strata of ascending numbers."""
    numbers, sizes = np.unique(stratum, return_counts=True)
    return Strata(tuple(numbers.tolist()), tuple(sizes.tolist()))


def joined(parts: Sequence[Strata]) -> Strata:
    """One after the other; a stratum that ends one may begin the next."""
    sizes: dict[int, int] = {}
    for part in parts:
        for number, n in zip(part.numbers, part.sizes, strict=True):
            sizes[number] = sizes.get(number, 0) + n
    return Strata(tuple(sizes), tuple(sizes.values()))
