"""Records one by one: the trees of a stratum of records, and synthetic records drawn from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import polars as pl

from sdckit._support.arrays import Codes, Ints
from sdckit.data.microdata import Microdata
from sdckit.models.column_codes import ColumnCodes
from sdckit.models.tree_synthesis import Table
from sdckit.protect._synthesis_draft import Draft
from sdckit.protect._synthesis_level import (
    Check,
    Counts,
    Drawing,
    Level,
    Settings,
    VariableFit,
    draw_level,
    fit_level,
)
from sdckit.protect._synthesis_order import Candidate, Scope, predictors_of
from sdckit.protect._synthesis_rules import Rules


@dataclass(frozen=True, slots=True)
class Base:
    """What is the same for all strata of a file. order: the variables as they are drawn."""

    data: Microdata
    scope: Scope
    order: tuple[str, ...]
    coding: Mapping[str, ColumnCodes]
    rules: Rules
    expressions: Mapping[str, pl.Expr]
    wanted: Mapping[str, Sequence[str]]
    settings: Settings


@dataclass(frozen=True, slots=True)
class Draw:
    """One synthetic file that is being drawn. smooth: numbers are drawn between the neighbours of donors."""

    seed: int
    smooth: bool
    checks: tuple[Check, ...]
    counts: Counts

    def drawing(
        self, base: Base, fits: Mapping[str, VariableFit], checks: Sequence[Check], *key: int
    ) -> Drawing:
        """What a level needs; each variable draws from a stream of its own."""

        def stream(name: str) -> np.random.Generator:
            return np.random.default_rng([self.seed, crc32(name.encode()), *key])

        settings = Settings(
            base.settings.leaf,
            base.settings.gain,
            base.settings.leaf if self.smooth else 0,
            base.settings.tails,
        )
        every = (*checks, *self.checks)
        return Drawing(fits, base.coding, settings, stream, every, base.rules.give, self.counts)


def build_level(
    base: Base, known: Sequence[Candidate], names: Sequence[str], rows: Codes, unit: Codes
) -> tuple[Level, list[str]]:
    """A level that draws `names` for these rows from the known columns and from each other, in order.

    Also the variables with so many predictors that the best were chosen.
    """
    columns = [*known, *(Candidate(name, name, rows) for name in names)]
    place = {column.key: number for number, column in enumerate(columns)}
    predictors, cut = {}, []
    for number, name in enumerate(names, len(known)):
        keys, shortened = predictors_of(name, columns[:number], base.wanted, base.coding, rows)
        predictors[name] = np.array([place[key] for key in keys], dtype=np.int32)
        cut += [name] if shortened else []
    codes = np.stack([base.coding[c.variable].codes[c.rows] for c in columns])
    levels = np.array([base.coding[c.variable].levels for c in columns], dtype=np.int32)
    taking = {name: base.rules.free(name, rows) for name in base.rules.variables if name in names}
    use = {name: some for name, some in taking.items() if some is not None}
    sources = dict.fromkeys(names, rows)
    return Level(tuple(names), Table(codes, levels, unit), place, sources, predictors, use), cut


@dataclass(frozen=True, slots=True)
class RecordPart:
    """A stratum of records without households."""

    base: Base
    rows: Ints
    level: Level
    fits: Mapping[str, VariableFit]
    checks: tuple[Check, ...]
    cut: tuple[str, ...]

    @classmethod
    def fit(cls, base: Base, rows: Ints, donors: Codes, unit: Codes, checks: Sequence[Check]) -> "RecordPart":
        """Grow the trees. donors: the records to learn from; unit: leaves count these, records if empty."""
        known = [Candidate(name, name, donors) for name in base.scope.kept]
        level, cut = build_level(base, known, base.order, donors, unit)
        fits = fit_level(level, base.coding, base.settings)
        return cls(base, rows, level, fits, tuple(checks), tuple(cut))

    @property
    def size(self) -> int:
        """Records of the original."""
        return len(self.rows)

    @property
    def leaves(self) -> int:
        """The leaves of all trees."""
        return sum(fit.trees.leaves for fit in self.fits.values())

    def draw(
        self, draw: Draw, number: int, size: int, chosen: Ints | None
    ) -> tuple[Draft, Ints | None, Ints]:
        """New records, or new values for the chosen ones: the draft, no households, and the old rows."""
        base = self.base
        rows = self.rows if chosen is None else np.intersect1d(self.rows, chosen)
        count = size if base.scope.full else len(rows)
        draft = Draft(base.data.frame, count, expressions=dict(base.expressions))
        codes = np.zeros((len(self.level.table.codes), count), dtype=np.uint16)
        for name in base.scope.kept:
            draft.put(name, np.arange(count), rows.astype(np.int32), None)
            codes[self.level.place[name]] = base.coding[name].codes[rows]
        draw_level(self.level, draw.drawing(base, self.fits, self.checks, number), codes, draft)
        return draft, None, rows
