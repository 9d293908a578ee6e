"""A synthesis that is fitted to a file: from one fit any number of synthetic files is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdckit._support.arrays import Codes, Floats, Ints
from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.errors import OptionError
from sdckit.protect._strata import pooled_strata
from sdckit.protect._synthesis_draft import Draft
from sdckit.protect._synthesis_households import HomePart, Homes, homes_of
from sdckit.protect._synthesis_level import Check, Settings
from sdckit.protect._synthesis_names import refuse_names, refuse_rare_spikes
from sdckit.protect._synthesis_order import Scope, after_conditions, codes_of, order_of, scope_of
from sdckit.protect._synthesis_records import Base, Draw, RecordPart
from sdckit.protect._synthesis_rules import (
    Rule,
    Rules,
    absent_pairs,
    copied_uniques,
    parsed,
    requirements,
)

STRATUM = 20  # times the smallest leaf: smaller strata are pooled


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that a fit depends on. apart: columns that are neither drawn nor predict."""

    variables: tuple[str, ...]
    order: tuple[str, ...]
    predictors: Mapping[str, Sequence[str]]
    leaf: int
    gain: float
    tails: int
    spikes: Mapping[str, Sequence[float]] | None
    categories: tuple[str, ...]
    rules: tuple[Rule, ...]
    require: tuple[str, ...]
    derive: Mapping[str, str]
    zeros: bool
    uniques: bool
    by: tuple[str, ...]
    apart: tuple[str, ...]
    some: bool
    by_weight: bool
    smooth: bool


@dataclass(frozen=True, slots=True)
class Fitted:
    """All strata of a file. checks: what must hold in all of them."""

    base: Base
    parts: tuple[RecordPart | HomePart, ...]
    checks: tuple[Check, ...]

    @property
    def leaves(self) -> int:
        """The leaves of all trees."""
        return sum(part.leaves for part in self.parts)

    @property
    def cut(self) -> list[str]:
        """Variables whose predictors were chosen among too many."""
        return list(dict.fromkeys(name for part in self.parts for name in part.cut))


def fit_file(data: Microdata, asked: Asked, rng: np.random.Generator | None) -> Fitted:
    """Grow all trees; with random numbers on a new Bayesian bootstrap of the records or households."""
    rules = Rules(data, asked.rules)
    expressions = {name: parsed(text, data, "derive") for name, text in asked.derive.items()}
    for name, expression in expressions.items():
        data.require(name)
        computed = [c for c in expression.meta.root_names() if c in expressions]
        if computed:  # a column of itself would be the person's own, and a circle has no end
            raise OptionError(
                f"The computed column {name!r} needs columns that are computed, too.",
                given=join_names(computed),
                allowed="columns that are drawn or kept",
            )
    scope = scope_of(data, asked.variables, (*asked.derive, *asked.apart), some=asked.some)
    columns = (*scope.kept, *scope.targets)
    homes = homes_of(data, columns)
    if (
        homes is not None and not scope.full and homes.size_name in scope.targets
    ):  # members stay what they are
        kept = (*scope.kept, homes.size_name)
        scope = Scope(tuple(c for c in scope.targets if c != homes.size_name), kept, full=False)
    _refuse(data, asked, homes, rules, scope)
    codes_only = asked.categories if homes is None else (*asked.categories, homes.size_name)
    coding = codes_of(data, columns, codes_only, asked.spikes)
    refuse_names(data, scope, coding, smooth=asked.smooth)
    refuse_rare_spikes(data, asked.spikes or {}, asked.leaf)
    order = order_of(data, scope.targets, coding, asked.order)
    if homes is not None:
        coding |= homes.codes()
        order = sorted(
            order, key=lambda c: (c != homes.size_name, c not in homes.shared, c != homes.relation)
        )
    order = after_conditions(order, rules.conditions())
    settings = Settings(asked.leaf, asked.gain, asked.leaf, asked.tails)
    base = Base(data, scope, tuple(order), coding, rules, expressions, asked.predictors, settings)
    checks = requirements(data, asked.require, order, expressions)
    if scope.full and asked.uniques:
        checks += copied_uniques(data, coding, order)
    if homes is None:
        records = _records(base, asked, rng)
        return Fitted(base, tuple(records), tuple(checks))
    return Fitted(base, tuple(_households(base, homes, asked, rng)), tuple(checks))


def _records(base: Base, asked: Asked, rng: np.random.Generator | None) -> list[RecordPart]:
    parts = []
    for rows in pooled_strata(base.data, asked.by, STRATUM * asked.leaf):
        donors = _learners(rows, base.data.weights()[rows] if asked.by_weight else None, rng).astype(np.int32)
        unit = np.empty(0, dtype=np.int32) if donors is rows or not _repeated(donors) else donors
        parts.append(RecordPart.fit(base, rows, donors, unit, _pairs(base, asked, donors)))
    return parts


def _households(base: Base, homes: Homes, asked: Asked, rng: np.random.Generator | None) -> list[HomePart]:
    heads = replace(base.data, frame=base.data.frame[homes.heads])
    parts = []
    for numbers in pooled_strata(heads, asked.by, STRATUM * asked.leaf):
        weights = base.data.weights()[homes.heads[numbers]] if asked.by_weight else None
        learners = _learners(numbers, weights, rng)
        donors = homes.rows[homes.places_of(learners)[0]].astype(np.int32)
        parts.append(HomePart.fit(base, homes, numbers, learners, _pairs(base, asked, donors)))
    return parts


def _pairs(base: Base, asked: Asked, donors: Codes) -> list[Check]:
    return absent_pairs(base.coding, base.scope.kept, base.order, donors) if asked.zeros else []


def _learners(rows: Ints, weights: Floats | None, rng: np.random.Generator | None) -> Ints:
    """The records or households to learn from: all, or as many drawn by weight or for a proper synthesis.

    By weight: systematically, so that each is there as often as its weight says, rounded. Bayesian bootstrap:
    drawn with the probabilities of a flat Dirichlet distribution.
    """
    if rng is not None:
        shares = rng.standard_exponential(len(rows)) * (1.0 if weights is None else weights)
        return np.sort(rng.choice(rows, size=len(rows), p=shares / shares.sum()))
    if weights is None:
        return rows
    edges = np.cumsum(weights) / weights.sum() * len(rows)
    return np.asarray(rows[np.searchsorted(edges, np.arange(len(rows)) + 0.5)])


def _repeated(rows: Codes) -> bool:
    return len(np.unique(rows)) < len(rows)


def draw_file(
    fitted: Fitted, draw: Draw, sizes: Sequence[int], chosen: Ints | None
) -> tuple[Draft, Ints | None]:
    """One synthetic file and its households: so many records a stratum, or new values for the chosen."""
    drafts, homes, places = [], [], []
    for number, (part, size) in enumerate(zip(fitted.parts, sizes, strict=True)):
        draft, home, rows = part.draw(draw, number, size, chosen)
        drafts.append(draft)
        homes.append(home)
        places.append(rows)
    base = fitted.base
    if base.scope.full and len(drafts) == 1:
        return drafts[0], homes[0]
    if base.scope.full:
        whole = Draft(base.data.frame, sum(d.size for d in drafts), expressions=dict(base.expressions))
        start = 0
        for draft in drafts:
            whole.take(draft, np.arange(start, start + draft.size))
            start += draft.size
        return whole, _numbered(homes)
    whole = Draft(base.data.frame, base.data.height, expressions=dict(base.expressions))
    everybody = np.arange(whole.size)
    for name in (*base.scope.kept, *base.scope.targets):
        whole.put(name, everybody, everybody.astype(np.int32), None)
    for draft, rows in zip(drafts, places, strict=True):
        whole.take(draft, rows)
    return whole, None


def _numbered(homes: Sequence[Ints | None]) -> Ints | None:
    """The households of all strata, numbered on."""
    numbered = []
    start = 0
    for home in homes:
        if home is None:
            return None
        numbered.append(home + start)
        start += int(home.max(initial=-1)) + 1
    return np.concatenate(numbered)


def _refuse(data: Microdata, asked: Asked, homes: Homes | None, rules: Rules, scope: Scope) -> None:
    units = data.height if homes is None else len(homes.start) - 1
    if asked.leaf > units:
        what = "records" if homes is None else "households"
        raise OptionError(
            f"leaf is larger than the number of {what}.", given=asked.leaf, allowed=f"1 to {units:,}"
        )
    strange = [c for c in rules.variables if c not in scope.targets]
    if strange:
        raise OptionError("rules give values to columns that are not drawn.", given=join_names(strange))
