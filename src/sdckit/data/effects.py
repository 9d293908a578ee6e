"""Effects: what a protection did to the file, as data. No behaviour hangs on the name of a method."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from sdckit._support.arrays import Ints
from sdckit.data.privacy import PrivacyLoss

if TYPE_CHECKING:
    from sdckit.data.microdata import Microdata


@runtime_checkable
class Recoding(Protocol):
    """A change of categories that can be carried out on another file in the same way."""

    def apply(self, data: "Microdata", column: str) -> "Microdata":
        """The data with this column in the released categories."""
        ...


@dataclass(frozen=True)
class Effects:
    """What one or more steps did. Several steps together: `first.then(second)`.

    reorders_rows: a row may be another record than before. source_rows: for each row, its row in the file
    before; kept in memory for the data holder, never written, so that records can still be compared one by
    one. drops_rows: records were left out. renames_ids: the ids are new. new_numbers: columns of ids,
    households and clusters whose numbers were drawn at random and follow from nothing. moves_values:
    columns whose values went from record to record. recodes: columns in coarser categories, with the
    recodings in their order. suppresses: columns with suppressed values. randomises: columns whose values
    were changed at random. synthesises: columns with values drawn anew. drops: columns that are gone.
    new_records: no record is that of a person, for all of them were drawn. learned_from: from a model of so
    many records, or of as many with equal weights as tell as much; 0 is not said. resamples: from a model
    of a bootstrap of the records. record_by_record: what became of a record depends on itself, on options and
    on chance alone, not on other records. privacy: what differentially private steps promise. column_rows:
    of columns whose values moved together, the row in the file before that each value is from; kept as
    source_rows are.
    """

    reorders_rows: bool = False
    source_rows: Ints | None = field(default=None, repr=False, compare=False)
    drops_rows: bool = False
    renames_ids: bool = False
    moves_values: tuple[str, ...] = ()
    recodes: Mapping[str, tuple[Recoding, ...]] = field(default_factory=dict)
    suppresses: tuple[str, ...] = ()
    randomises: tuple[str, ...] = ()
    synthesises: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    new_records: bool = False
    resamples: bool = False
    record_by_record: bool = False
    privacy: tuple[PrivacyLoss, ...] = ()
    new_numbers: tuple[str, ...] = ()
    column_rows: Mapping[str, Ints] = field(default_factory=dict, repr=False, compare=False)
    learned_from: float = field(default=0.0, repr=False, compare=False)

    @property
    def rows_differ(self) -> bool:
        """Whether a row of the file may be another record than the row at this place before."""
        return self.reorders_rows or self.drops_rows or self.new_records

    @property
    def rows_known(self) -> bool:
        """Whether the data holder can still tell which record each row was."""
        return not self.new_records and (not self.rows_differ or self.source_rows is not None)

    def then(self, later: "Effects") -> "Effects":
        """The effects of both, this one first."""
        return Effects(
            self.reorders_rows or later.reorders_rows,
            _source(self, later),
            self.drops_rows or later.drops_rows,
            self.renames_ids or later.renames_ids,
            _both(self.moves_values, later.moves_values),
            _recodings(self.recodes, later.recodes),
            _both(self.suppresses, later.suppresses),
            _both(self.randomises, later.randomises),
            _both(self.synthesises, later.synthesises),
            _both(self.drops, later.drops),
            self.new_records or later.new_records,
            self.resamples or later.resamples,
            self.record_by_record and later.record_by_record,
            tuple(dict.fromkeys((*self.privacy, *later.privacy))),
            _both(self.new_numbers, later.new_numbers),
            _column_rows(self, later),
            later.learned_from or self.learned_from,
        )


def merged(effects: Iterable[Effects]) -> Effects:
    """The effects of several steps in their order.

    >>> merged([Effects(suppresses=("age",)), Effects(renames_ids=True)])
    Effects(reorders_rows=False, drops_rows=False, renames_ids=True, moves_values=(), recodes={},
            suppresses=('age',), randomises=(), synthesises=(), drops=(), new_records=False,
            resamples=False, record_by_record=False, privacy=(), new_numbers=())
    """
    found = list(effects)
    return reduce(Effects.then, found) if found else Effects()


def _source(first: Effects, second: Effects) -> Ints | None:
    """The rows before both steps, where both are known."""
    if not (first.rows_known and second.rows_known):
        return None
    return _rows_of_rows(first.source_rows, second.source_rows)


def _rows_of_rows(first: Ints | None, second: Ints | None) -> Ints | None:
    """The rows before two steps; None where rows stay where they are."""
    if first is None or second is None:
        return first if second is None else second
    return np.asarray(first[second])


def _column_rows(first: Effects, second: Effects) -> dict[str, Ints]:
    """From which rows before both steps the values of a column are, where they moved together."""
    if not (first.rows_known and second.rows_known):
        return {}
    lost = {*second.moves_values, *second.synthesises} - {*second.column_rows}
    found = {}
    for column in dict.fromkeys((*first.column_rows, *second.column_rows)):
        before, after = (one.column_rows.get(column, one.source_rows) for one in (first, second))
        rows = _rows_of_rows(before, after)
        if rows is not None and column not in lost:
            found[column] = rows
    return found


def _both(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _recodings(
    first: Mapping[str, tuple[Recoding, ...]], second: Mapping[str, tuple[Recoding, ...]]
) -> dict[str, tuple[Recoding, ...]]:
    return {c: (*first.get(c, ()), *second.get(c, ())) for c in dict.fromkeys((*first, *second))}
