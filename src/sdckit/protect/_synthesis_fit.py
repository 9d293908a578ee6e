"""A synthesis that is fitted to a stratum: from one fit any number of synthetic strata is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit._support.arrays import Codes, Floats, Ints
from sdckit.data.microdata import Microdata
from sdckit.errors import OptionError
from sdckit.protect._synthesis_draft import Draft
from sdckit.protect._synthesis_households import HomePart, homes_of
from sdckit.protect._synthesis_kinds import Asked, Kinds, expressions_of
from sdckit.protect._synthesis_level import Check, Counts, Settings
from sdckit.protect._synthesis_order import codes_of
from sdckit.protect._synthesis_records import Base, Draw, RecordPart
from sdckit.protect._synthesis_rules import Hashes, Rules, absent_pairs, copied_uniques, requirements

STRATUM = 20  # times the smallest leaf: smaller strata are pooled


@dataclass(frozen=True, slots=True)
class Fitted:
    """A stratum. checks: what must hold of all its records. number: keys its draws."""

    number: int
    base: Base
    part: RecordPart | HomePart
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A synthetic stratum, or new values for its records in their order. homes: of new records.

    said: what is added up over the strata, in JSON's types.
    """

    draft: Draft
    homes: Ints | None
    said: dict[str, Any]


def fit_stratum(
    data: Microdata,
    asked: Asked,
    kinds: Kinds,
    unique: Hashes,
    number: int,
    rng: np.random.Generator | None,
) -> Fitted:
    """Grow all trees on a stratum, whose records are in the order of their ids.

    unique: the keys of the whole file that one record has. With random numbers the trees learn from a new
    Bayesian bootstrap of the records or households.
    """
    expressions = expressions_of(data, asked)
    homes = None if kinds.homes is None else homes_of(data, kinds.homes)
    coding = codes_of(data, kinds.columns, kinds.numbers, None if homes is None else homes.of_records)
    if homes is not None:
        coding |= homes.codes()
    settings = Settings(asked.leaf, asked.gain, asked.leaf, asked.tails)
    rules = Rules(data, asked.rules)
    base = Base(data, kinds.scope, kinds.order, coding, rules, expressions, asked.predictors, settings)
    checks = requirements(data, asked.require, kinds.order, expressions)
    if kinds.scope.full and asked.uniques:
        checks += copied_uniques(unique, kinds.keys(data), kinds.order)
    weights = data.weights() if asked.by_weight else None
    if homes is None:
        donors = _learners(np.arange(data.height), weights, rng).astype(np.int32)
        unit = donors if _repeated(donors) else np.empty(0, dtype=np.int32)
        pairs = _pairs(base, asked, donors)
        fitted = RecordPart.fit(base, np.arange(data.height), donors, unit, pairs)
        return Fitted(number, base, fitted, tuple(checks))
    numbers = np.arange(len(homes.start) - 1)
    learners = _learners(numbers, None if weights is None else weights[homes.heads], rng)
    donors = homes.rows[homes.places_of(learners)[0]].astype(np.int32)
    part = HomePart.fit(base, homes, numbers, learners, _pairs(base, asked, donors))
    return Fitted(number, base, part, tuple(checks))


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


def draw_stratum(fitted: Fitted, seed: int, size: int, chosen: Ints | None, *, smooth: bool) -> Drawn:
    """One synthetic stratum of so many records or households, or new values for the chosen records."""
    counts, base = Counts(), fitted.base
    draw = Draw(seed, smooth, fitted.checks, counts)
    draft, homes, rows = fitted.part.draw(draw, fitted.number, size, chosen)
    said = _said(fitted, draft, counts)
    if base.scope.full:
        return Drawn(draft, homes, said)
    whole = Draft(base.data.frame, base.data.height, expressions=dict(base.expressions))
    everybody = np.arange(whole.size)
    for name in kept_and_drawn(base):
        whole.put(name, everybody, everybody.astype(np.int32), None)
    whole.take(draft, rows)
    return Drawn(whole, None, said)


def kept_and_drawn(base: Base) -> tuple[str, ...]:
    """The columns that have donors."""
    return (*base.scope.kept, *base.scope.targets)


def _said(fitted: Fitted, draft: Draft, counts: Counts) -> dict[str, Any]:
    """Numbers of leaves, donors and redrawn records; never a donor, never a value."""
    kinds: dict[str, int] = {}
    for check, number in counts.left.items():
        kinds[check.kind] = kinds.get(check.kind, 0) + number
    broken = {check.text: left for check, left in counts.left.items() if check.strict and left}
    used = [np.bincount(draft.donors[c]).max(initial=0) for c in fitted.base.scope.targets]
    return {
        "records": draft.size,
        "leaves": int(fitted.part.leaves),
        "used": int(max(used)),
        "cut": list(fitted.part.cut),
        "redrawn": counts.redrawn,
        "left": kinds,
        "broken": broken,
    }


def refuse_large_leaf(leaf: int, units: int, kinds: Kinds) -> None:
    """Refuse a leaf that the whole file cannot fill."""
    if leaf > units:
        what = "records" if kinds.homes is None else "households"
        raise OptionError(f"leaf is larger than the number of {what}.", given=leaf, allowed=f"1 to {units:,}")


def sizes_of(units: Sequence[int], size: int | None, kinds: Kinds) -> list[int]:
    """How many records or households are drawn in each stratum, in proportion to those of the original."""
    before = np.array(units)
    if size is None or size == before.sum():
        return [int(n) for n in before]
    if not kinds.scope.full:
        raise OptionError("size is of a fully synthetic file.", given=size)
    edges = np.round(np.cumsum(before) * size / before.sum()).astype(int)
    return [int(n) for n in np.diff(edges, prepend=0)]


def as_stratum(data: Microdata, frame: Any) -> Microdata:
    """Records of a stratum under the roles and labels of their file."""
    return Microdata(frame, data.roles, data.labels)
