"""Households found by the numbers of all their members together, where the file shows who lives together."""

from dataclasses import dataclass

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.data.intruder import Intruder
from sdckit.kernels.hashing import distinct_rows
from sdckit.models.household_intruder import APART
from sdckit.models.number_intruder import known_values
from sdckit.risk._known_values import KnownKeys, LinkedFiles, numbers_of
from sdckit.risk._outcome import Outcome

ALL = 2_000  # households up to which all are attacked
ASKED = 1_000  # drawn at random of more
NEAREST = "nearest household"
LEAST = 1e-4  # of a number's spread: by so much it has moved at least, for a likelihood
ROUNDING = 1e-12  # of the largest number: smaller differences are errors of rounding
PAIRS = 4_000_000  # of households that are compared at a time


@dataclass(frozen=True, eq=False)
class _Homes:
    """Persons or records by household: `start` of each one's members in `order`, and how many they are."""

    order: Ints
    start: Ints
    size: Ints
    label: Ints


def found_by_numbers(
    files: LinkedFiles,
    intruder: Intruder,
    keys: KnownKeys,
    numbers: dict[str, float],
    homes: Ints,
    notes: tuple[str, ...],
) -> Outcome | None:
    """What an intruder finds who knows the numbers of all members: the household that is nearest in all.

    Members stand in the order of keys that no step changed and of the number in question, and only
    households with the same such keys are compared. How far numbers moved is known. None without numbers.
    """
    known = numbers_of(files, numbers)
    if not known.names:
        return None
    rows = np.flatnonzero(files.own >= 0)
    true = known_values(np.column_stack([c.values for c in known.true]), known.errors, files.identity)
    shown = np.column_stack([c.values for c in known.released])[files.own[rows]]
    true, shown = _on_one_scale(true, shown, rows)
    if not shown.size:
        return None
    same, same_shown = _unchanged_keys(files, keys, rows)
    people, records = _homes(homes, same), _homes(homes[rows], same_shown)
    _, kind = distinct_rows([*_composition(people, same, records, same_shown)])
    first, second = kind[: len(people.label)], kind[len(people.label) :]
    drawn, attacked = _attacked(files, first)
    figures = np.zeros((3, len(attacked)))
    for one in np.unique(first[attacked]):
        mine, theirs = np.flatnonzero(first[attacked] == one), np.flatnonzero(second == one)
        if len(mine) and len(theirs):
            x = _vectors(people, same, true, attacked[mine])
            y = _vectors(records, same_shown, shown, theirs)
            own = people.label[attacked[mine]], records.label[theirs]
            step = max(1, PAIRS // len(theirs))
            for begin in range(0, len(mine), step):
                some = slice(begin, begin + step)
                figures[:, mine[some]] = _nearest(x[some], y, own[0][some, None] == own[1][None, :])
    found, believed, posterior = figures
    if len(drawn) < len(people.label):
        notes += (f"{len(drawn):,} of {len(people.label):,} households, drawn at random, were attacked.",)
    firsts = people.order[people.start[attacked]]
    total = len(people.label)
    everybody = Outcome(intruder, firsts, found, believed, posterior, found, NEAREST, total, notes)
    return everybody if len(drawn) == len(attacked) else everybody.drawn(np.isin(attacked, drawn))


def _on_one_scale(true: Floats, shown: Floats, rows: Ints) -> tuple[Floats, Floats]:
    """Both in units of the spread of what each number changed by, as somebody knows who knows the method.

    The usual change is undone, and 0 is in the middle: of squares of numbers far from it no digits would be
    left. What is missing is in the middle, and numbers that no record has are left out.
    """
    true, shown = (np.where(np.isfinite(x), x, np.nan) for x in (true, shown))
    there = np.isfinite(true[rows] - shown).any(axis=0)
    true, shown = true[:, there], shown[:, there]
    true = true + np.nanmedian(shown - true[rows], axis=0)
    change, spread = (np.nanstd(x, axis=0) for x in (shown - true[rows], shown))
    least = np.fmax(np.nanmax(np.abs(shown), axis=0, initial=0.0) * ROUNDING, np.finfo(float).tiny)
    unit = np.fmax(np.fmax(change, LEAST * spread), least)
    middle = np.nanmedian(shown, axis=0)
    return np.nan_to_num((true - middle) / unit), np.nan_to_num((shown - middle) / unit)


def _unchanged_keys(files: LinkedFiles, keys: KnownKeys, rows: Ints) -> tuple[Ints, Ints]:
    """One code for all keys that stand as they stood, of persons and of records; 0 where none does."""
    columns = []
    for j, (images, size) in enumerate(zip(keys.images, keys.sizes, strict=True)):
        true = keys.true[:, j]
        if images is not None:
            true = np.where(images[true] == size, -1, images[true])
        if np.array_equal(true[rows], keys.released[files.own[rows], j]):
            columns.append(true)
    if not columns:
        return np.zeros(files.original.height, dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    codes = np.asarray(distinct_rows(columns)[1], dtype=np.int64)
    return codes, codes[rows]


def _homes(homes: Ints, codes: Ints) -> _Homes:
    order = np.lexsort((codes, homes))
    label, start, size = np.unique(homes[order], return_index=True, return_counts=True)
    return _Homes(order, start, size, label)


def _attacked(files: LinkedFiles, kind: Ints) -> tuple[Ints, Ints]:
    """Households at random, and with those of whose kind there are fewest; all where they are not many."""
    n, draws = len(kind), files.draws()
    if n <= ALL:
        return np.arange(n), np.arange(n)
    drawn = np.sort(draws.choice(n, ASKED, replace=False))
    apart = np.lexsort((draws.random(n), np.bincount(kind)[kind]))[:APART]
    return drawn, np.union1d(drawn, apart)


def _composition(people: _Homes, codes: Ints, records: _Homes, shown: Ints) -> list[Ints]:
    """Of the households of both files the size and the keys of their members, in order."""
    parts = [(people, codes), (records, shown)]
    most = max(int(homes.size.max(initial=0)) for homes, _ in parts)
    columns = [np.concatenate([homes.size for homes, _ in parts])]
    for place in range(most):
        column = []
        for homes, of in parts:
            at = np.minimum(homes.start + place, len(homes.order) - 1)
            column.append(np.where(place < homes.size, of[homes.order[at]], -1))
        columns.append(np.concatenate(column))
    return [c.astype(np.int64) for c in columns]


def _vectors(homes: _Homes, codes: Ints, values: Floats, some: Ints) -> Floats:
    """The numbers of all members of households of one size: each number in the order of keys and values."""
    size = int(homes.size[some[0]])
    members = homes.order[homes.start[some][:, None] + np.arange(size)]
    groups, blocks = codes[members], []
    for v in range(values.shape[1]):
        column = values[members, v]
        sorted_members = np.lexsort((column, groups), axis=1)
        blocks.append(np.take_along_axis(column, sorted_members, axis=1))
    return np.hstack(blocks)


def _nearest(x: Floats, y: Floats, own: Bools) -> Floats:
    """Found, believed and the own record's probability: the likelihood of normal changes, the most likely."""
    away = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1)[None, :] - 2 * x @ y.T
    away = np.maximum(away - away.min(axis=1, keepdims=True), 0.0)
    likely = np.exp(-away / 2)
    best = away <= 1e-9
    chance = likely / likely.sum(axis=1, keepdims=True)
    found = (best & own).sum(axis=1) / best.sum(axis=1)
    return np.array([found, chance.max(axis=1), (chance * own).sum(axis=1)])
