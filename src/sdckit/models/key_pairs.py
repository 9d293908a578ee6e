"""Persons' true keys beside the keys of their released records: all an attack on keys needs to know."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.models.category_channel import CategoryChannel, category_channel

_Codes = npt.NDArray[np.signedinteger]


@dataclass(frozen=True, slots=True, eq=False)
class KeyPairs:
    """Pairs of key combinations with the number of persons they stand for.

    A row is one person, or all persons with the same true keys whose records show the same keys (a group-by
    of any engine); results are the same. Codes of a key are common to both files and below `sizes`.
    """

    x: _Codes  # [p, q] true keys; −1 is missing, which is a value
    y: _Codes  # [p, q] released keys; −1 is blank
    sizes: tuple[int, ...]  # number of values of each key
    count: Floats  # [p] persons
    weight: Floats | None = None  # [p] sum of the sampling weights of their records
    released: Bools | None = None  # [p] False for persons without a record (rows dropped); their y is ignored

    @classmethod
    def of_records(
        cls,
        x: _Codes,
        y: _Codes,
        *,
        sizes: Sequence[int] | None = None,
        weight: Floats | None = None,
        released: Bools | None = None,
    ) -> "KeyPairs":
        """One row a person. Without `sizes` codes are below the largest of both files."""
        if sizes is None:
            sizes = [
                int(max(a.max(initial=-1), b.max(initial=-1))) + 1 for a, b in zip(x.T, y.T, strict=True)
            ]
        return cls(x, y, tuple(sizes), np.ones(len(x)), weight, released)

    @property
    def persons(self) -> float:
        """How many there are."""
        return float(self.count.sum())

    @property
    def in_file(self) -> Bools:
        """Which rows have a record."""
        return np.ones(len(self.count), bool) if self.released is None else self.released

    @property
    def complete(self) -> bool:
        """Whether every person has a record."""
        return self.released is None or bool(self.released.all())

    def channels(self, images: Sequence[Ints | None] | None = None) -> tuple[CategoryChannel, ...]:
        """The channel of every key, learned from persons who have a record; maps of the log may be given."""
        kept = slice(None) if self.complete else self.in_file
        known = [None] * len(self.sizes) if images is None else images
        return tuple(
            category_channel(self.x[kept, v], self.y[kept, v], size, count=self.count[kept], image=known[v])
            for v, size in enumerate(self.sizes)
        )
