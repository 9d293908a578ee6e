"""Which columns are synthesised, as numbers or as categories, in which order and from which predictors."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdckit._support.arrays import Codes, Ints
from sdckit._support.messages import join_names
from sdckit.data.microdata import Microdata
from sdckit.errors import ColumnError, OptionError
from sdckit.models.column_codes import SEVERAL, ColumnCodes, category_codes, number_codes
from sdckit.protect._synthesis_facts import ColumnFacts

FEW = 20  # different numbers up to which they are categories
CLOSE = 0.8  # share of the whole numbers between least and largest that a key must have to be a number
MOST_PREDICTORS = 30
MOST_LEVELS = 65_535  # of a column that predicts others
SAMPLED = 2_000  # records by which the best predictors are chosen
CLASSES = 8  # of a column when its information about others is measured


SIZE = "\0members of the household"  # known of every member; no column is called so
PLACE = "\0place in the household"
STRUCTURE = (SIZE, PLACE)  # predictors that are never left out


@dataclass(frozen=True, slots=True)
class Scope:
    """targets: columns to synthesise. kept: predictors that stay. full: nothing of a record stays."""

    targets: tuple[str, ...]
    kept: tuple[str, ...]
    full: bool


def scope_of(data: Microdata, variables: Sequence[str], apart: Iterable[str], *, some: bool) -> Scope:
    """The columns to synthesise in the order of the file. apart: columns that are computed, not drawn.

    some: only some records get new values, so that the others stay what they are.
    """
    roles = data.roles
    never = {c for c in (roles.id, roles.household, *roles.direct) if c is not None}
    wrong = [c for c in variables if c in never]
    if wrong:
        raise OptionError(
            "synthesize draws no ids, household numbers or direct identifiers.",
            given=join_names(wrong),
            hint="Ids of a fully synthetic file are new; use drop or new_ids for others.",
        )
    never.update(apart)
    possible = [c for c in data.columns if c not in never]
    data.require_categories(possible)
    targets = [c for c in possible if c in variables] if variables else possible
    if not targets:
        raise ColumnError("synthesize has no column to draw.", hint="Name columns in the option variables.")
    kept = [c for c in possible if c not in targets]
    return Scope(tuple(targets), tuple(kept), full=not kept and not some)


def numbers_of(
    data: Microdata,
    facts: Mapping[str, ColumnFacts],
    categories: Sequence[str],
    spikes: Mapping[str, Sequence[float]] | None,
) -> dict[str, tuple[float, ...]]:
    """The columns that are drawn as numbers, with the values that are classes of their own."""
    names = [c for c, column in facts.items() if c not in categories and is_number(data, column)]
    if spikes is None:
        return {n: tuple(sorted({*facts[n].spikes(), *_labelled(data, facts[n])})) for n in names}
    return {name: tuple(spikes.get(name, ())) for name in names}


def codes_of(
    data: Microdata,
    columns: Sequence[str],
    numbers: Mapping[str, Sequence[float]],
    homes: Codes | None,
) -> dict[str, ColumnCodes]:
    """Every column as codes; numbers: those that are, with their spikes. homes: of the records, if any."""
    return {
        name: number_codes(data.frame[name], numbers[name], homes)
        if name in numbers
        else category_codes(data.frame[name])
        for name in columns
    }


def is_number(data: Microdata, column: ColumnFacts) -> bool:
    """Whether values lie between others: numbers and dates with many values, but no codes.

    Keys and strata of whole numbers are codes unless nearly all numbers of their range occur, as with age.
    Labels of most values make codes, those of −9 or of the top of a scale do not.
    """
    kind, name, roles = column.kind, column.name, data.roles
    if not (kind.is_numeric() or kind.is_temporal()):
        return False
    if name in roles.numeric or name == roles.weight:
        return True
    if data.labels.name_most(name, column.different):
        return False
    coded = name in (*roles.keys, *roles.strata, roles.cluster)
    if kind.is_temporal():
        return True
    if column.different <= FEW:
        return column.amounts() and not (coded and kind.is_integer())
    if not coded or not kind.is_integer():
        return True
    return bool(column.different >= CLOSE * (int(column.largest) - int(column.least) + 1))


def _labelled(data: Microdata, column: ColumnFacts) -> list[float]:
    """Codes among the numbers: labelled values that several have, such as −9 for no answer."""
    coded = [float(code) for code in data.labels.values.get(column.name, ()) if isinstance(code, int | float)]
    return [x for x, count in zip(coded, column.counts_of(coded), strict=True) if count >= SEVERAL]


def order_of(
    data: Microdata, targets: Sequence[str], numbers: Collection[str], order: Sequence[str]
) -> list[str]:
    """The targets in the order in which they are drawn: those named, then by role, then as in the file."""
    strange = [c for c in order if c not in targets]
    if strange:
        raise OptionError("order names columns that are not synthesised.", given=join_names(strange))
    roles = data.roles

    def group(name: str) -> int:
        groups = (roles.strata, (roles.cluster,), roles.keys, roles.sensitive)
        if name == roles.weight:
            return len(groups) + 1
        if name in numbers and name not in roles.keys:
            return len(groups)
        return next((i for i, names in enumerate(groups) if name in names), len(groups) - 1)

    return [*order, *sorted((c for c in targets if c not in order), key=group)]


def after_conditions(order: Sequence[str], conditions: Mapping[str, Iterable[str]]) -> list[str]:
    """The order with every variable behind those that its rule asks about."""
    done: list[str] = []
    waiting = list(order)
    while waiting:
        ready = next(
            (c for c in waiting if not any(o in waiting and o != c for o in conditions.get(c, ()))), None
        )
        if ready is None:
            raise OptionError("rules ask for each other in a circle.", given=join_names(waiting))
        waiting.remove(ready)
        done.append(ready)
    return done


@dataclass(frozen=True, slots=True)
class Candidate:
    """A column that may predict others: of which variable, and the original's row of each record."""

    key: str
    variable: str
    rows: Codes


def predictors_of(
    name: str,
    before: Sequence[Candidate],
    wanted: Mapping[str, Sequence[str]],
    coding: Mapping[str, ColumnCodes],
    rows: Codes,
) -> tuple[list[str], bool]:
    """The keys of the columns that predict a variable, and whether some were left out as too many.

    before: the columns that are known when it is drawn; rows: the original's rows of its own values.
    """
    usable = [c for c in before if coding[c.variable].levels <= MOST_LEVELS]
    if name in wanted:
        refuse_late(name, wanted[name], [c.variable for c in before])
        usable = [c for c in usable if c.variable in (*wanted[name], *STRUCTURE)]
    if len(usable) <= MOST_PREDICTORS:
        return [c.key for c in usable], False
    some = slice(None, None, max(1, len(rows) // SAMPLED))
    mine = _classes(coding[name], rows[some])
    told = {c.key: _information(mine, _classes(coding[c.variable], c.rows[some])) for c in usable}
    best = sorted(told, key=lambda key: (key not in STRUCTURE, -told[key]))[:MOST_PREDICTORS]
    return [c.key for c in usable if c.key in best], True


def refuse_late(name: str, wanted: Sequence[str], before: Iterable[str]) -> None:
    """Refuse predictors that are not known when a variable is drawn."""
    known = list(dict.fromkeys(before))
    late = [v for v in wanted if v not in known]
    if late:
        raise OptionError(
            f"Predictors of {name!r} must be drawn before it.",
            given=join_names(late),
            allowed=join_names(known),
            hint="Name the columns in the option order, the predictors first.",
        )


def _classes(coding: ColumnCodes, rows: Codes) -> Ints:
    """A column in a few classes: quantiles of numbers, the most frequent levels and the rest."""
    codes = coding.codes[rows].astype(np.int64)
    if coding.levels == 0:
        place = np.unique(codes, return_inverse=True)[1]
        middle = np.cumsum(np.bincount(place)) - np.bincount(place) / 2
        return np.asarray((middle * CLASSES / len(codes)).astype(np.int64)[place])
    count = np.bincount(codes, minlength=coding.levels)
    number = np.full(len(count), CLASSES - 1)
    number[np.argsort(-count, kind="stable")[: CLASSES - 1]] = np.arange(min(CLASSES - 1, len(count)))
    return np.asarray(number[codes])


def _information(first: Ints, second: Ints) -> float:
    """The mutual information of two columns of classes."""
    joint = np.bincount(first * CLASSES + second, minlength=CLASSES**2).reshape(CLASSES, -1) / len(first)
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / apart[some])).sum())
