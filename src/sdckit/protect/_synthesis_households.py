"""Households in two levels: first each household with its head, then the other members one after another.

Members are drawn given their household, its head, the member before them and their place, so that a household
has one head, couples are of like age, and children are younger than their parents. Leaves count households.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Codes, Ints
from sdckit.data.microdata import Microdata
from sdckit.models.column_codes import ColumnCodes, Predictor, category_codes
from sdckit.protect._households import Households, households
from sdckit.protect._synthesis_draft import Draft
from sdckit.protect._synthesis_level import Check, Level, VariableFit, draw_level, fit_level
from sdckit.protect._synthesis_order import PLACE, SIZE, Candidate
from sdckit.protect._synthesis_records import Base, Draw, build_level

LAST_PLACE = 10  # members behind it are drawn alike
MOST_RELATIONS = 50  # levels of a variable that may tell who is the head


@dataclass(frozen=True, slots=True)
class Homes:
    """The households of a file. rows: its records by household, the head first. start: where each begins.

    members: of the household of each record. place: of each record in it, 0 for the head. shared: variables
    that all members have alike. size_name: the column of them that is the number of members, or SIZE.
    relation: the variable that tells who is the head, or nothing.
    """

    rows: Ints
    start: Ints
    members: Ints
    place: Ints
    shared: tuple[str, ...]
    size_name: str
    relation: str

    @property
    def heads(self) -> Ints:
        """The record of each head."""
        return self.rows[self.start[:-1]]

    @property
    def of_records(self) -> Codes:
        """The household of each record."""
        homes = np.empty(len(self.rows), dtype=np.int32)
        homes[self.rows] = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        return homes

    def places_of(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Of these households one after the other: places of their members in `rows`, and their number."""
        sizes = np.diff(self.start)[numbers]
        home = np.repeat(np.arange(len(numbers)), sizes)
        first = np.cumsum(sizes) - sizes
        return self.start[numbers][home] + np.arange(len(home)) - first[home], home

    def codes(self) -> dict[str, ColumnCodes]:
        """Place and number of members as columns that predict."""
        place = category_codes(pl.Series(self.place))
        place = ColumnCodes(
            np.minimum(self.place, LAST_PLACE).astype(np.uint16),
            0,
            place.classes,
            place.values,
            place.ranks,
            place.alike,
        )
        size = {} if self.size_name != SIZE else {SIZE: category_codes(pl.Series(self.members))}
        return {PLACE: place, **size}


@dataclass(frozen=True, slots=True)
class HomeFacts:
    """What is true of all households of a file. shared, size_name, relation: as in `Homes`.

    head: the value of the relation that exactly one member of every household has.
    """

    shared: tuple[str, ...]
    size_name: str
    relation: str
    head: Any


def home_facts(data: Microdata, columns: Sequence[str]) -> HomeFacts | None:
    """The facts of a file in memory, or None where there is no household role or nobody lives with others."""
    found = households(data)
    if found is None or len(found.first) == data.height:
        return None
    shared = tuple(c for c in columns if found.share(data.frame[c]))
    members = np.bincount(found.number)[found.number]
    counted = [c for c in shared if _is_size(data.frame[c], members)]
    relation, head = _relation(found, data, [c for c in columns if c not in shared])
    return HomeFacts(shared, counted[0] if counted else SIZE, relation, head)


def homes_of(data: Microdata, facts: HomeFacts) -> Homes:
    """The households of a file, or of a stratum of one with these facts, in memory."""
    found = households(data) or Households(np.arange(data.height), np.arange(data.height))
    members = np.bincount(found.number)[found.number]
    rows = np.argsort(found.number, kind="stable")
    if facts.relation:
        column = data.frame[facts.relation]
        rows = _sorted(found, category_codes(column).classes, column.eq_missing(facts.head).to_numpy())
    start = np.concatenate([[0], np.cumsum(np.bincount(found.number))])
    place = np.empty(len(rows), dtype=np.int64)
    place[rows] = np.arange(len(rows)) - start[found.number[rows]]
    return Homes(rows, start, members, place, facts.shared, facts.size_name, facts.relation)


def may_be_relation(kind: Any, different: int) -> bool:
    """Whether a column of this type, with so many different values, may tell who is the head."""
    return not kind.is_float() and different <= MOST_RELATIONS


def _relation(found: Households, data: Microdata, columns: Sequence[str]) -> tuple[str, Any]:
    """The variable and the value that exactly one member of every household has: the head's."""
    count = len(found.first)
    for name in columns:
        column = data.frame[name]
        if not may_be_relation(column.dtype, column.n_unique()):
            continue
        for value in in_one_order(column.unique()):
            holders = found.number[column.eq_missing(value).to_numpy()]
            if len(holders) == count == len(np.unique(holders)):
                return name, value
    return "", None


def in_one_order(values: pl.Series) -> pl.Series:
    """Different values in an order that is the same on every engine; missing is the last."""
    texts = values.dtype in (pl.String, pl.Categorical, pl.Enum)
    return (values.cast(pl.String) if texts else values).sort(nulls_last=True)


def _sorted(found: Households, classes: Codes, is_head: Bools) -> Ints:
    """Records by household: the head, then members by their relation in the order these mostly have.

    Any order will do that is the same in all households: then a second spouse never follows a child.
    """
    by_home = np.argsort(found.number, kind="stable")
    n = len(by_home)
    start = np.concatenate([[0], np.cumsum(np.bincount(found.number))])
    place = np.empty(n)
    place[by_home] = np.arange(n) - start[found.number[by_home]]
    mean = np.bincount(classes, weights=place) / np.maximum(np.bincount(classes), 1)
    rank = np.argsort(np.argsort(mean, kind="stable"))
    return np.lexsort((np.arange(n), np.where(is_head, -1, rank[classes]), found.number))


def _is_size(column: pl.Series, members: Ints) -> bool:
    """Whether a column says how many members a household has."""
    return (
        column.dtype.is_numeric() and not column.null_count() and bool((column == pl.Series(members)).all())
    )


@dataclass(frozen=True, slots=True)
class HomePart:
    """A stratum of households: trees of households with their heads, and trees of the other members.

    numbers: the households of the stratum. own: the variables that members have for themselves.
    """

    base: Base
    homes: Homes
    numbers: Ints
    first: Level
    first_fits: Mapping[str, VariableFit]
    second: Level | None
    second_fits: Mapping[str, VariableFit]
    checks: tuple[Check, ...]
    cut: tuple[str, ...]

    @classmethod
    def fit(
        cls, base: Base, homes: Homes, numbers: Ints, learners: Ints, checks: Sequence[Check]
    ) -> "HomePart":
        """Grow the trees. learners: the households to learn from, some of them several times perhaps."""
        heads = homes.heads[learners].astype(np.int32)
        repeated = len(np.unique(learners)) < len(learners)
        unit = learners.astype(np.int32) if repeated else np.empty(0, dtype=np.int32)
        size = homes.size_name
        drawn = [size, *(c for c in base.order if c != size)] if base.scope.full else list(base.order)
        known = dict.fromkeys((*base.scope.kept, *(() if base.scope.full else (size,))))
        first, cut = build_level(base, [Candidate(c, c, heads) for c in known], drawn, heads, unit)
        first_fits = fit_level(first, base.coding, base.settings)
        places, home = homes.places_of(learners)
        rows = homes.rows[places].astype(np.int32)
        others = np.flatnonzero(homes.place[rows] > 0)
        own = [c for c in base.order if c not in homes.shared and c != size]
        second, second_fits = None, {}
        if len(others) and own:
            context = _context(base, homes, rows[others], heads[home[others]], rows[others - 1])
            second, also = build_level(
                base, context, own, rows[others], learners[home[others]].astype(np.int32)
            )
            second_fits = fit_level(second, base.coding, base.settings)
            cut = [*dict.fromkeys((*cut, *also))]
        return cls(base, homes, numbers, first, first_fits, second, second_fits, tuple(checks), tuple(cut))

    @property
    def size(self) -> int:
        """Households of the original."""
        return len(self.numbers)

    @property
    def leaves(self) -> int:
        """The leaves of all trees."""
        return sum(fit.trees.leaves for fits in (self.first_fits, self.second_fits) for fit in fits.values())

    def draw(
        self, draw: Draw, number: int, size: int, chosen: Ints | None
    ) -> tuple[Draft, Ints | None, Ints]:
        """New households, or new values for the chosen ones: the draft, the households, and the old rows."""
        base, homes = self.base, self.homes
        numbers = self.numbers
        if chosen is not None:
            asked = np.zeros(len(homes.rows), dtype=bool)
            asked[chosen] = True
            numbers = numbers[np.add.reduceat(asked[homes.rows], homes.start[:-1])[numbers] > 0]
        heads = homes.heads[numbers].astype(np.int32)
        count = size if base.scope.full else len(numbers)
        top = Draft(base.data.frame, count, expressions=dict(base.expressions))
        codes = np.zeros((len(self.first.table.codes), count), dtype=np.uint16)
        for name in self.first.place:
            if name not in self.first.names:
                top.put(name, np.arange(count), heads, None)
                codes[self.first.place[name]] = base.coding[name].codes[heads]
        if homes.size_name not in top.donors and not base.scope.full:
            top.put(homes.size_name, np.arange(count), heads, None)
        draw_level(self.first, draw.drawing(base, self.first_fits, self.checks, number, 0), codes, top)
        sizes = homes.members[top.donors[homes.size_name]]
        home = np.repeat(np.arange(count), sizes)
        rows = np.empty(0, dtype=np.int64) if base.scope.full else homes.rows[homes.places_of(numbers)[0]]
        return self._members(draw, number, top, sizes, home, rows), home, rows

    def _members(self, draw: Draw, number: int, top: Draft, sizes: Ints, home: Ints, rows: Ints) -> Draft:
        """All members: the heads, then those in the second place of every household, the third, ….

        rows: the original's rows of the members where they are kept.
        """
        base = self.base
        start = np.cumsum(sizes) - sizes
        whole = Draft(base.data.frame, len(home), expressions=dict(base.expressions))
        shared = [c for c in top.donors if c in (*self.homes.shared, self.homes.size_name)]
        whole.take(top.only(shared).some(home), np.arange(len(home)))
        whole.take(top.only([c for c in top.donors if c not in shared]), start)
        for place in range(1, int(sizes.max(initial=1))):
            homes = np.flatnonzero(sizes > place)
            at = start[homes] + place
            part = top.only(shared).some(homes)
            for name in base.scope.kept:
                if name not in shared:
                    part.put(name, np.arange(len(at)), rows[at].astype(np.int32), None)
            if self.second is not None:
                codes = self._codes(self.second, top, whole, homes, at, rows, place)
                key = (number, place)
                draw_level(self.second, draw.drawing(base, self.second_fits, self.checks, *key), codes, part)
            whole.take(part.only([c for c in part.donors if c not in shared]), at)
        return whole

    def _codes(
        self, level: Level, top: Draft, whole: Draft, homes: Ints, at: Ints, rows: Ints, place: int
    ) -> Predictor:
        """What is known of the members in one place when they are drawn."""
        coding = self.base.coding
        codes = np.zeros((len(level.table.codes), len(at)), dtype=np.uint16)
        for key, number in level.place.items():
            name, _, part = key.partition(OF)
            if key == PLACE:
                codes[number] = min(place, LAST_PLACE)
            elif part == "before":
                codes[number] = coding[name].codes[whole.donors[name][at - 1]]
            elif part == "head" or name in (*self.homes.shared, self.homes.size_name):
                codes[number] = coding[name].codes[top.donors[name][homes]]
            elif name in self.base.scope.kept:
                codes[number] = coding[name].codes[rows[at]]
        return codes


OF = "\0of the "  # between the name of a variable and whose it is; no column is called so


def _context(base: Base, homes: Homes, rows: Codes, heads: Codes, before: Codes) -> list[Candidate]:
    """What is known of a member who is to be drawn: household, place, head, member before, kept values."""
    person = [c for c in (*base.scope.kept, *base.order) if c not in homes.shared and c != homes.size_name]
    shared = [c for c in (*base.scope.kept, *base.order) if c in homes.shared and c != homes.size_name]
    return [
        Candidate(PLACE, PLACE, rows),
        Candidate(homes.size_name, homes.size_name, heads),
        *(Candidate(c, c, heads) for c in shared),
        *(Candidate(f"{c}{OF}head", c, heads) for c in person),
        *(Candidate(f"{c}{OF}before", c, before) for c in person),
        *(Candidate(c, c, rows) for c in base.scope.kept if c in person),
    ]
