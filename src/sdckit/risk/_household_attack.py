"""Households as targets: an intruder who knows the keys of all members together."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from sdckit._support.arrays import Bools, Ints
from sdckit._support.messages import join_names
from sdckit._support.number_text import percent
from sdckit.data.intruder import Intruder
from sdckit.data.values import is_date
from sdckit.models.household_intruder import any_member, attack_households
from sdckit.models.key_intruder import KeyAttack, attack_keys
from sdckit.models.key_pairs import KeyPairs
from sdckit.risk._household_numbers import found_by_numbers
from sdckit.risk._known_values import (
    CountedPairs,
    KnownKeys,
    LinkedFiles,
    changed_like_numbers,
    moved_nearby,
)
from sdckit.risk._moved_dates import household_intervals
from sdckit.risk._moved_to_few import moved_to_few
from sdckit.risk._outcome import Outcome
from sdckit.risk._told_households import told_households

TOGETHER = 1.05  # runs of rows per household up to which members stand together in the file
ONE_BY_ONE = "The file does not show who lives together, so that members are attacked one by one."


def household_outcome(
    files: LinkedFiles,
    intruder: Intruder,
    keys: KnownKeys,
    numbers: dict[str, float],
    notes: tuple[str, ...],
    of_persons: Callable[[], Outcome],
) -> Outcome:
    """What an intruder finds who knows whole households; one by one where the file does not show them.

    of_persons: what the same intruder finds who looks for persons. The attack on whole households only knows
    equal and unequal keys: where keys moved like numbers, as dates do, the risk is said not to be judged.
    numbers: those of all members, and how exactly they are known; the strongest attack counts, also that on
    each member alone.
    """
    name = files.original.roles.household or ""
    homes = household_numbers(files, name)
    counted = CountedPairs.of(files, keys)
    moved = changed_like_numbers(files, keys, counted)
    single: Outcome | None = None
    told = np.ones(len(homes), dtype=np.bool_)
    if not (intruder.in_file and visible_households(files, name, homes)):
        ways = [] if moved else [_one_by_one(files, intruder, keys, homes, notes)]
        ways += [_any_member(intruder, homes, of_persons(), notes)] if moved or numbers else []
        single = _strongest(ways)
        if not intruder.in_file or not (told := told_households(files, homes)).any():
            return single
    few = moved_to_few(files, keys, counted)
    dates = [c for c in moved if is_date(files.original.frame.schema[c])]
    if dates:
        keys = household_intervals(files, keys, dates, homes)
        notes += (
            f"Of {join_names(dates)} only the days between members of a household were used: the risk may "
            "be higher.",
        )
    near = [c for c in moved if c not in dates and moved_nearby(files, c)]
    if near:
        notes += (f"{join_names(near)} of all members moved nearby, which was not used: it tells more.",)
    unlearned = [c for c, one in zip(keys.names, counted.channels, strict=True) if not one.learnable]
    not_judged = tuple(dict.fromkeys((*dates, *near, *unlearned, *few)))
    together = _together(files, intruder, keys, homes, notes, not_judged)
    if single is not None:
        return _where_told(together, single, told)
    if not numbers:
        return together
    near_ones = found_by_numbers(files, intruder, keys, numbers, homes, notes)
    whole = together if near_ones is None else _strongest([together, near_ones])
    members = _any_member(intruder, homes, of_persons(), notes)  # of a large file only some
    return whole if whole.value >= members.value else members.beside(whole)


def _strongest(ways: Sequence[Outcome]) -> Outcome:
    """The attack that finds most; what could not be judged in one of them is not judged."""
    first, *others = sorted(ways, key=lambda one: -one.value)
    return reduce(Outcome.beside, others, first)


def _where_told(together: Outcome, single: Outcome, told: Bools) -> Outcome:
    """Members together where columns show who they are and that finds more, else one by one.

    Only households that were attacked one by one as well: of a large file these are a sample.
    """
    place = np.full(len(told), -1, dtype=np.int64)
    place[single.persons] = np.arange(len(single.persons))
    kept = np.flatnonzero(place[together.persons] >= 0)
    first = together.persons[kept]
    other = place[first]
    shown = told[first] & (together.found[kept] >= single.found[other])
    found = np.where(shown, together.found[kept], single.found[other])
    notes = [*together.notes, *(n for n in single.notes if n != ONE_BY_ONE)]
    if told[first].any():
        part = percent(float(told[first].mean()))
        notes.append(f"Columns that members share show who lives together in {part} of the households.")
    return replace(
        together,
        persons=first,
        found=found,
        believed=np.where(shown, together.believed[kept], single.believed[other]),
        posterior=np.where(shown, together.posterior[kept], single.posterior[other]),
        risks=found,
        notes=tuple(dict.fromkeys(notes)),
        more=(),
        not_judged=tuple(dict.fromkeys((*together.not_judged, *single.not_judged))),
    )


def _any_member(intruder: Intruder, homes: Ints, persons: Outcome, notes: tuple[str, ...]) -> Outcome:
    """The chance that somebody of the household is found by what was found of persons: 1 − Π(1 − r)."""
    of_persons = homes[persons.persons]
    labels, found = any_member(persons.found, of_persons)
    _, believed = any_member(persons.believed, of_persons)
    risks = found if persons.certain else any_member(persons.risks, of_persons)[1]
    whole = len(persons.persons) == persons.total
    notes += (*persons.notes, ONE_BY_ONE)
    return Outcome(
        intruder,
        _first_rows(homes, labels),
        found,
        believed,
        found,
        risks,
        persons.attack,
        len(labels),
        notes,
        persons.not_judged if whole else ("members who were not attacked",),
    )


def _together(
    files: LinkedFiles,
    intruder: Intruder,
    keys: KnownKeys,
    homes: Ints,
    notes: tuple[str, ...],
    not_judged: tuple[str, ...],
) -> Outcome:
    present = files.own >= 0
    y = np.full(keys.true.shape, -1, dtype=np.int64)
    y[present] = keys.released[files.own[present]]
    pairs = KeyPairs(keys.true, y, keys.sizes, np.ones(len(y)), None, present)
    found = attack_households(
        pairs, homes, ordered=_ordered(files, homes), rng=files.draws(), images=keys.images
    )
    best = found.strongest
    if len(found.households) < found.total:
        notes += (
            f"{int(found.drawn.sum()):,} of {found.total:,} households, drawn at random, were attacked.",
        )
    first = _first_rows(homes, found.households)
    everybody = Outcome(
        intruder,
        first,
        best.found,
        best.believed,
        best.posterior,
        best.found,
        str(best.strongest),
        found.total,
        notes,
        not_judged,
    )
    return everybody if found.drawn.all() else everybody.drawn(found.drawn)


def _one_by_one(
    files: LinkedFiles,
    intruder: Intruder,
    keys: KnownKeys,
    homes: Ints,
    notes: tuple[str, ...],
) -> Outcome:
    """The chance that somebody of the household is found: 1 − Π(1 − r) over the members."""
    counted = CountedPairs.of(files, keys)
    by_keys = attack_keys(counted.pairs, counted.channels)
    if not isinstance(by_keys, KeyAttack):
        notes += ("There are too many key combinations to attack households one by one.",)
        nobody = np.zeros(files.original.height)
        return Outcome(
            intruder,
            np.arange(len(nobody)),
            nobody,
            nobody,
            nobody,
            nobody,
            "none",
            len(nobody),
            notes,
            keys.names,
        )
    journalist = not intruder.in_file and files.weights is not None
    labels, found = any_member(by_keys.found[counted.cell], homes)
    _, believed = any_member(by_keys.believed[counted.cell], homes)
    risks = any_member(by_keys.risks()[counted.cell], homes)[1] if journalist else found
    first = _first_rows(homes, labels)
    notes += (ONE_BY_ONE,)
    return Outcome(
        intruder,
        first,
        found,
        believed,
        found,
        risks,
        str(by_keys.strongest),
        len(labels),
        notes,
    )


def household_numbers(files: LinkedFiles, name: str) -> Ints:
    """A number for each person's household; persons without one are households of their own."""
    homes = files.original.frame[name].rank("dense").fill_null(0).cast(int).to_numpy().astype(np.int64)
    return np.asarray(np.where(homes == 0, homes.max(initial=0) + 1 + np.arange(len(homes)), homes))


def visible_households(files: LinkedFiles, name: str, homes: Ints) -> bool:
    """Whether the file shows who lives together: by a number, or because members stand together."""
    if name in files.protected.columns:
        return True
    order = homes[np.argsort(np.where(files.own >= 0, files.own, np.iinfo(np.int64).max), kind="stable")]
    order = order[: int((files.own >= 0).sum())]
    runs = 1 + int((np.diff(order) != 0).sum()) if len(order) else 0
    return len(np.unique(order)) < len(order) and runs <= TOGETHER * len(np.unique(order))


def _ordered(files: LinkedFiles, homes: Ints) -> bool:
    """Whether members are released in the order they have in the original."""
    rows = np.flatnonzero(files.own >= 0)
    order = rows[np.lexsort((rows, homes[rows]))]
    same = np.diff(homes[order]) == 0
    return bool((np.diff(files.own[order])[same] > 0).all())


def _first_rows(homes: Ints, labels: Ints) -> Ints:
    known, first = np.unique(homes, return_index=True)
    return np.asarray(first[np.searchsorted(known, labels)])
