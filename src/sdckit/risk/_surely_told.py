"""Persons who are told with near certainty, though the column that tells them says nothing of the others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log, sqrt

import numpy as np

from sdckit._support.arrays import Bools, Ints
from sdckit.risk._guesses import Clue
from sdckit.risk._released_columns import CLASSES, Released, classes_of

SURE = 0.9  # of the guesses in a class are right
HALF = 0.5  # of what is not known anyway in a class must be told there
ACCIDENT = 0.05  # chance that one class of all that are tried stands out without reason
GUESSES = 4  # attacks a column, on average
MOST = 20_000  # records in which persons are counted


@dataclass
class SurelyTold:
    """Who is told by any column, among the records of each sample.

    Records are put into classes by what is released, and the guesses of an attack are counted in each. So a
    column that is a copy for one person in three and blank for the others tells one person in three, and a
    total of households tells the income of those who live alone.
    """

    released: Released
    _told: dict[tuple[str, int], Bools] = field(default_factory=dict)
    _by: dict[str, float] = field(default_factory=dict)
    _tables: dict[tuple[str, int], "_Classes"] = field(default_factory=dict)

    @cached_property
    def _errors(self) -> float:
        """Standard errors by which a class must stand out, the more the more classes are tried."""
        tests = GUESSES * CLASSES * (len(self.released.clues) + 1) ** 2
        return sqrt(2 * log(tests / ACCIDENT))

    def add(
        self,
        label: str,
        sample: tuple[str, int],
        rows: Ints,
        attacks: Iterable[tuple[Bools, Bools]],
        clues: Sequence[Clue | Ints],
    ) -> None:
        """Count whom an attack tells. rows: the records asked, of a sample named by its column and size.

        attacks: who is guessed right with the columns `label`, and who without. clues: what the columns say,
        and how sure the guesses are, where that is no released column.
        """
        told = np.zeros(min(len(rows), MOST), dtype=bool)
        for right, anyway in attacks:
            if int((right & ~anyway).sum()) >= self._errors**2:
                classes = [_numbers(c) for c in clues]
                told |= self._table(sample, rows).surely(right, anyway, classes, self._errors)
        if told.any():
            self._by[label] = max(self._by.get(label, 0.0), float(told.mean()))
            self._told[sample] = self._told.get(sample, False) | told

    def _table(self, sample: tuple[str, int], rows: Ints) -> "_Classes":
        if sample not in self._tables:
            if sample[0]:  # of a sample for one column only the last is kept
                self._tables = {key: table for key, table in self._tables.items() if not key[0]}
            self._tables[sample] = _Classes.of(self.released, rows)
        return self._tables[sample]

    @property
    def share(self) -> float:
        """The share of the records asked; at most so many where columns were asked in different samples."""
        shares: dict[str, float] = {}
        for (column, _), told in self._told.items():
            shares[column] = max(shares.get(column, 0.0), float(told.mean()))
        return min(1.0, sum(shares.values()))

    @property
    def by(self) -> list[str]:
        """The columns, those that tell most persons first; of equally telling ones the first tried."""
        return sorted(self._by, key=lambda label: -round(self._by[label], 2))


def _numbers(clue: Clue | Ints) -> Ints:
    return classes_of(clue) if isinstance(clue, Clue) else clue


@dataclass(frozen=True, slots=True)
class _Classes:
    """The classes of some records by each released column: one row a column, and the sizes of the classes."""

    some: Ints  # the records in which persons are counted
    classes: Ints
    sizes: Ints

    @classmethod
    def of(cls, released: Released, rows: Ints) -> "_Classes":
        some = np.arange(len(rows))
        if len(rows) > MOST:
            some = np.sort(released.draws().choice(len(rows), MOST, replace=False))
        classes = np.array([released.classes(c)[rows[some]] for c in released.clues])
        return cls(some, classes, _counted(classes))

    def surely(self, right: Bools, anyway: Bools, more: Sequence[Ints], errors: float) -> Bools:
        """Who is guessed right in a class whose guesses are nearly all right, and mostly unknown without."""
        right, known = right[self.some], anyway[self.some]
        gained = right & ~known
        told = np.zeros(len(right), dtype=bool)
        tables = [(self.classes, self.sizes)]
        tables += [(table, _counted(table)) for table in (c[self.some][None, :] for c in more)]
        for table, sizes in tables:
            found = _counted(table[:, right])
            likely = (found >= SURE * sizes) & (found >= errors**2)
            for column in np.flatnonzero(likely.any(axis=1)):
                classes = table[column]
                unknown = np.bincount(classes[~known], minlength=CLASSES)
                won = np.bincount(classes[gained], minlength=CLASSES)
                lost = sizes[column] - unknown - (found[column] - won)
                clear = (won - lost > errors * np.sqrt(won + lost)) & (won - lost >= HALF * unknown)
                told |= gained & (likely[column] & clear)[classes]
        return told


def _counted(classes: Ints) -> Ints:
    """How many records each class of each row has."""
    rows = len(classes)
    flat = classes + CLASSES * np.arange(rows, dtype=np.int64)[:, None]
    return np.bincount(flat.ravel(), minlength=CLASSES * rows).reshape(rows, CLASSES)
