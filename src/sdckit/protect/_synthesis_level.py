"""One level of a synthesis (records, or households and their members): trees for all variables, and draws."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sdckit._support.arrays import Bools, Codes, Floats, Ints
from sdckit.kernels._threads import in_order
from sdckit.models.column_codes import REST, ColumnCodes, Predictor
from sdckit.models.released_numbers import Tail, fit_tails, release_numbers
from sdckit.models.tree_synthesis import (
    Drawn,
    Table,
    VariableTrees,
    draw_again,
    draw_donors,
    fit_variable,
)
from sdckit.protect._synthesis_draft import Draft

TRIES = 10  # draws from the same leaf before the search goes up
TRIES_ABOVE = 3  # from each node above it
TRIES_AT_ROOT = 50  # from all records, where a breach is an error


@dataclass(frozen=True, slots=True)
class Settings:
    """How trees are grown and numbers released. common: numbers that fewer records have are smoothed."""

    leaf: int
    gain: float
    common: int
    tails: int


@dataclass(frozen=True, slots=True)
class Level:
    """What the trees of some variables are grown on.

    names: the variables in the order in which they are drawn. place: the row of the table of codes in which
    the codes of a variable are. sources: the original's row of each record, by variable. predictors: rows of
    the table by variable. use: records that take part in the trees of a variable, where not all do.
    """

    names: tuple[str, ...]
    table: Table
    place: Mapping[str, int]
    sources: Mapping[str, Codes]
    predictors: Mapping[str, Codes]
    use: Mapping[str, Bools] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VariableFit:
    """The trees of a variable and the tails of its numbers."""

    trees: VariableTrees
    tails: tuple[Tail, ...]


def fit_level(level: Level, coding: Mapping[str, ColumnCodes], settings: Settings) -> dict[str, VariableFit]:
    """The trees of all variables: none depends on what is drawn, so several are grown at a time."""

    def fit(name: str) -> VariableFit:
        target, rows = coding[name], level.sources[name]
        use = level.use.get(name)
        trees = fit_variable(
            level.table, level.predictors[name], target, rows, settings.leaf, settings.gain, use
        )
        taking = rows if use is None else rows[use]
        rest = taking[target.classes[taking] == REST] if target.is_number else taking[:0]
        return VariableFit(trees, fit_tails(target.once(rest), settings.tails))

    return dict(zip(level.names, in_order(fit, level.names), strict=True))


@dataclass(frozen=True, slots=True)
class Check:
    """What must hold of synthetic records as soon as the variable `after` is drawn.

    broken: which records of a draft break it. strict: records that still do at the end are an error.
    """

    after: str
    broken: Callable[[Draft], Bools]
    strict: bool
    text: str
    kind: str


@dataclass(slots=True)
class Counts:
    """What happened while records were drawn: how many were drawn again, and how many breaches are left."""

    redrawn: dict[str, int] = field(default_factory=dict)
    left: dict[Check, int] = field(default_factory=dict)

    def add(self, kind: str, number: int) -> None:
        """More records drawn again."""
        self.redrawn[kind] = self.redrawn.get(kind, 0) + number


Gives = Callable[[str, Draft], "tuple[Bools, list[tuple[Bools, object]]]"]
Stream = Callable[[str], np.random.Generator]


@dataclass(frozen=True, slots=True)
class Drawing:
    """All that a draw needs besides the level: the trees, the codes, and what must hold."""

    fits: Mapping[str, VariableFit]
    coding: Mapping[str, ColumnCodes]
    settings: Settings
    stream: Stream
    checks: Sequence[Check]
    gives: Gives
    counts: Counts


def draw_level(level: Level, drawing: Drawing, codes: Predictor, draft: Draft) -> None:
    """Draw all variables of the level into the draft. codes (q, k) is filled in on the way.

    Columns of the table that are not drawn, and those columns of the draft, must be there before.
    """
    for name in level.names:
        rng = drawing.stream(name)
        fit, target = drawing.fits[name], drawing.coding[name]
        bound, values = drawing.gives(name, draft)
        free = np.flatnonzero(~bound)
        drawn = draw_donors(fit.trees, codes[:, free] if bound.any() else codes, rng)
        numbers = _numbers(fit, drawn, drawing.settings, rng)
        draft.put(name, free, drawn.donors, numbers)
        if values:
            draft.given[name] = values
        codes[level.place[name]] = draft.codes(name, target)
        checks = [check for check in drawing.checks if check.after == name]
        if checks:
            _draw_until_met(name, level, drawing, codes, draft, checks, free, drawn, rng)


def _numbers(fit: VariableFit, drawn: Drawn, settings: Settings, rng: np.random.Generator) -> Floats | None:
    if not fit.trees.target.is_number:
        return None
    return release_numbers(fit.trees, drawn, fit.tails, common=settings.common, rng=rng)


def _draw_until_met(
    name: str,
    level: Level,
    drawing: Drawing,
    codes: Predictor,
    draft: Draft,
    checks: Sequence[Check],
    free: Ints,
    drawn: Drawn,
    rng: np.random.Generator,
) -> None:
    """Draw records that break a check again: from their leaf, then from the nodes above it, to the root."""
    fit, target = drawing.fits[name], drawing.coding[name]
    place_of = np.full(draft.size, -1)
    place_of[free] = np.arange(len(free))
    broken = np.zeros(draft.size, dtype=bool)
    for check in checks:
        found = check.broken(draft)
        drawing.counts.add(check.kind, int((found & (place_of >= 0)).sum()))
        broken |= found
    rows = np.flatnonzero(broken & (place_of >= 0))
    up, tries, at_root = 0, TRIES, False
    while len(rows):
        each = np.repeat(rows, tries)  # so many candidates for each record, of which the first that will do
        again = draw_again(fit.trees, drawn.some(place_of[each]), up, rng)
        part = draft.some(each)
        part.put(name, np.arange(len(each)), again.donors, _numbers(fit, again, drawing.settings, rng))
        failed = np.any([check.broken(part) for check in checks], axis=0).reshape(-1, tries)
        chosen = np.arange(len(rows)) * tries + np.argmin(failed, axis=1)
        numbers = part.numbers.get(name)
        draft.put(name, rows, again.donors[chosen], None if numbers is None else numbers[chosen])
        codes[level.place[name], rows] = target.codes[again.donors[chosen]]
        rows = rows[failed.all(axis=1)]
        if at_root:
            break
        up += 1
        at_root = not _climbed(fit.trees, drawn.some(place_of[rows]), up)
        tries = TRIES_ABOVE
        if at_root:
            tries = TRIES_AT_ROOT if any(check.strict for check in checks) else TRIES
    _count_left(draft, drawing.counts, checks, broken)


def _climbed(trees: VariableTrees, drawn: Drawn, up: int) -> bool:
    """Whether some record is not at the root so many levels up."""
    pairs = ((trees.classes, drawn.class_nodes), (trees.numbers, drawn.nodes))
    return any(tree is not None and bool(tree.climb(at, up).any()) for tree, at in pairs)


def _count_left(draft: Draft, counts: Counts, checks: Sequence[Check], broken: Bools) -> None:
    rows = np.flatnonzero(broken)
    part = draft.some(rows)
    for check in checks:
        left = int(check.broken(part).sum()) if len(rows) else 0
        counts.left[check] = counts.left.get(check, 0) + left
