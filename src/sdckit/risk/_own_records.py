"""Files of new records: which records are a person's in content, although none was made from one person."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.data.common_columns import is_continuous, role_variables
from sdckit.data.microdata import Microdata
from sdckit.data.values import as_numbers, is_date, texts
from sdckit.methods.recoding import apply_same_recoding
from sdckit.risk._each_other import nearest_among_alike, nearest_to_each_other
from sdckit.risk._in_some_columns import NEARER, InSomeColumns, in_some_columns, spread
from sdckit.risk._known_values import LinkedFiles
from sdckit.risk._other_scales import by_own_scale, by_ratios, in_other_words
from sdckit.risk._whole_households import Homes, whole_households

FEWEST = 3  # columns from which on one may be left aside
FEW_STARTS = 6  # columns of which pairs are looked at first in other scales: there all columns are changed


@dataclass(frozen=True, eq=False)
class Content:
    """People and records in the columns that both files have, on one scale.

    A category differs by 1 from every other, a missing value from every value; a number lies where the
    distribution function of the original has it, so that units and outliers do not matter.
    """

    columns: tuple[str, ...]
    people: Floats
    records: Floats
    nominal: Bools
    others: Floats  # people held back, none where there are none
    ratios: Sequence[Sequence[Floats]] = ()  # of two numbers or dates: people, records, others
    ratio_names: tuple[str, ...] = ()
    homes: Homes | None = None  # None where not both files have households

    @classmethod
    def of(cls, original: Microdata, protected: Microdata, holdout: Microdata | None) -> "Content":
        """The content of both files; the original in the categories of the protected one."""
        files = [original, protected] if holdout is None else [original, protected, holdout]
        names = [c for c in role_variables(original, *files[1:]) if not _nested(c, files)]
        first, _ = apply_same_recoding(original, protected, names)
        frames = [first.frame, protected.frame]
        if holdout is not None:
            frames.append(apply_same_recoding(holdout, protected, names)[0].frame)
        made = [_on_one_scale([frame[c] for frame in frames], original) for c in names]
        tables = [
            np.column_stack([columns[k] for columns, _ in made]) if made else np.empty((frame.height, 0))
            for k, frame in enumerate(frames)
        ]
        nominal = np.array([categories for _, categories in made], dtype=np.bool_)
        nobody = np.empty((0, len(names)))
        ratios, ratio_names = _ratios(frames, [c for c, kind in zip(names, nominal, strict=True) if not kind])
        others = tables[2] if holdout is not None else nobody
        household = [data.roles.household or original.roles.household for data in files]
        homes = Homes.of([data.frame for data in files], [original.roles.household, *household[1:]])
        return cls(tuple(names), tables[0], tables[1], nominal, others, ratios, tuple(ratio_names), homes)


@dataclass(frozen=True, eq=False)
class OwnRecords:
    """The records that are persons' in content, as a link between the files.

    files: every person with their record; −1 where none is theirs. Of several records that are the same
    person's one stays in the file: who makes copies hides nobody. come_back: share of the persons asked who
    have a record. among_others: the same of people who were not in the original; nan without any.
    left_aside: the column that the records were compared without; empty where all counted. in_some: the
    columns in which most persons come back, beyond others.
    """

    files: LinkedFiles
    come_back: float
    among_others: float
    left_aside: str
    in_some: InSomeColumns


def own_records(
    original: Microdata, protected: Microdata, holdout: Microdata | None, asked: Ints
) -> OwnRecords | None:
    """The records that can be nobody else's than one person's; None where the files share no column.

    A record is a person's if its distance from the person is at most a tenth of that from the person to the
    nearest other one in the original who is not equal. One column, that with which most persons come back,
    may be left aside: a column that was drawn anew or renamed hides nobody where all others are true.
    """
    from sdckit.kernels.own_records import nearest_rows, owners

    content = Content.of(original, protected, holdout)
    width = len(content.columns)
    if not width:
        return None
    people, nominal = np.ascontiguousarray(content.people[asked]), content.nominal
    gap, alike = nearest_rows(people, content.people, nominal, same=True)
    limit = NEARER * np.where(np.isfinite(gap), gap, 0.0)
    apart, _ = nearest_rows(people, content.records, nominal, same=False)
    back = apart <= limit + 1e-9
    counted = (back / np.maximum(alike, 1)).sum(axis=0)
    choice = int(counted.argmax()) if width >= FEWEST else width
    if counted[choice] <= counted[width] * (1 + 1e-9):
        choice = width
    owner = owners(people, content.records, nominal, choice, limit[:, choice])
    used = np.arange(width) != choice
    own, kept = _shared_out(content.people[:, used], asked, owner)
    files = LinkedFiles(original, replace(protected, frame=protected.frame[kept]), own)
    among = float("nan")
    if len(content.others):
        others = spread(content.others, len(people))  # as many as persons are asked
        their_gap, _ = nearest_rows(others, content.people, nominal, same=True)
        their_limit = NEARER * np.where(np.isfinite(their_gap), their_gap, 0.0)
        theirs, _ = nearest_rows(others, content.records, nominal, same=False)
        among = float((theirs <= their_limit + 1e-9)[:, choice].mean())
    left_aside = content.columns[choice] if choice < width else ""
    in_some = _in_some(content)
    return OwnRecords(files, float(back[:, choice].mean()), among, left_aside, in_some)


def _in_some(content: Content) -> InSomeColumns:
    """In which columns and in what way most persons come back, beyond others."""
    sides = (content.people, content.records, content.others)
    nominal, names = content.nominal, content.columns
    found = [in_some_columns(*sides, nominal, names), nearest_to_each_other(*sides, nominal)]
    found.append(nearest_among_alike(*sides, nominal, names))
    found.append(whole_households(*sides, nominal, names, content.homes))
    other = in_other_words(content.people, content.records, nominal)
    if other.any():
        renamed = by_own_scale(*sides, nominal, other)
        how = "under other names or in other units"
        found.append(in_some_columns(*renamed, nominal, names, how, FEW_STARTS))
    if content.ratios:
        tables = [np.column_stack([columns[k] for columns in content.ratios]) for k in range(3)]
        joined = [np.hstack([one, two[:, nominal]]) for one, two in zip(tables, sides, strict=True)]
        kinds = np.arange(joined[0].shape[1]) >= len(content.ratios)
        labels = [*content.ratio_names, *(c for c, kind in zip(names, nominal, strict=True) if kind)]
        how = "by what lies between two columns"
        found.append(in_some_columns(joined[0], joined[1], joined[2], kinds, labels, how, FEW_STARTS))
    return max(found, key=lambda one: one.surely)


def _shared_out(people: Floats, asked: Ints, owner: Ints) -> tuple[Ints, Ints]:
    """The record of each person, and the records that stay: persons who are equal share theirs, one each."""
    filled = np.where(np.isnan(people), -1.0, people)
    _, group = np.unique(filled, axis=0, return_inverse=True)
    group = group.ravel()
    theirs = np.where(owner >= 0, group[asked[np.maximum(owner, 0)]], -1)
    own = np.full(len(people), -1, dtype=np.int64)
    persons = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[persons], np.arange(group.max(initial=-1) + 2))
    stays = np.ones(len(owner), dtype=np.bool_)
    given = np.zeros(len(starts), dtype=np.int64)
    for record in np.flatnonzero(theirs >= 0):
        cell = theirs[record]
        place = starts[cell] + given[cell]
        if place < starts[cell + 1]:
            own[persons[place]] = record
            given[cell] += 1
        else:
            stays[record] = False
    new_row = np.cumsum(stays) - 1
    return np.where(own >= 0, new_row[np.maximum(own, 0)], -1), np.flatnonzero(stays)


def _nested(column: str, files: Sequence[Microdata]) -> bool:
    kinds = [data.frame.schema[column] for data in files]
    return any(kind.is_nested() or kind in (pl.Object, pl.Duration, pl.Binary) for kind in kinds)


def _ratios(frames: Sequence[pl.DataFrame], names: Sequence[str]) -> tuple[list[list[Floats]], list[str]]:
    """Ratios of numbers and days between dates, of people, records and others."""
    made: list[list[Floats]] = []
    labels: list[str] = []
    for dates in (False, True):
        some = [c for c in names if is_date(frames[0].schema[c]) == dates]
        values = [[as_numbers(frame[c]) for frame in frames] for c in some]
        full = [[*columns, np.empty(0)][:3] for columns in values]  # nobody was held back
        found, called = by_ratios(full, some, dates=dates)
        made, labels = made + found, labels + called
    return made, labels


def _on_one_scale(columns: Sequence[pl.Series], original: Microdata) -> tuple[list[Floats], bool]:
    """A column of each file as numbers from 0 to 1, or as codes; and whether they are codes."""
    name = columns[0].name
    numbers = all(c.dtype.is_numeric() for c in columns)
    measured = name in original.roles.numeric or is_continuous(original.frame[name], original)
    if not (numbers and measured) and not all(is_date(c.dtype) for c in columns):
        both = pl.concat([texts(c).alias(name) for c in columns])
        codes = (both.rank("dense").cast(pl.Float64)).fill_null(0.0).to_numpy()
        return np.split(codes, np.cumsum([len(c) for c in columns])[:-1]), True
    values = [as_numbers(c) for c in columns]
    known = np.sort(values[0][~np.isnan(values[0])])

    def place(value: Floats) -> Floats:
        ranks = [np.searchsorted(known, value, side) for side in ("left", "right")]
        return np.where(np.isnan(value), np.nan, (ranks[0] + ranks[1]) / (2 * max(len(known), 1)))

    return [place(value) for value in values], False
