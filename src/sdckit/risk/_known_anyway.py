"""What of a hidden variable is known without any other column, and where a column tells more."""

from dataclasses import dataclass

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.risk._guesses import Truth, right_guesses
from sdckit.risk._released_columns import ENOUGH, Hidden

HELPS = 2.0  # standard errors by which a column must be better before it is used


@dataclass(frozen=True, slots=True)
class KnownAnyway:
    """For each record with a true value: its class, and by each criterion whether it is guessed right.

    A class are the records with the same released value: they look alike to the intruder, whether or not the
    value is the true one. Values of fewer than 30 records are one class, missing is always one of its own. Of
    a class without any hidden value nothing is asked: it is −1.
    """

    classes: Ints
    right: list[Bools]


def known_anyway(hidden: Hidden) -> KnownAnyway:
    """In each class the best of: the released value itself, one value for all, the others' with the same."""
    truth = hidden.truth
    classes = _classes(hidden)
    most = truth.codes == _most_frequent(classes, truth)[classes]
    attacks: list[list[Bools]] = [[most] for _ in range(truth.criteria)]
    if truth.values is not None:
        _add(attacks, truth.hit(_medians(classes, truth.values)))
        _add(attacks, truth.hit(hidden.guess))
    if hidden.released is not None:
        _add(attacks, [~hidden.changed] * truth.criteria)
        member = () if hidden.member is None else (hidden.member,)
        for found, more in zip(attacks, right_guesses(truth, hidden.released, *member), strict=True):
            found += more
    right = [_best_by_class(found, classes) for found in attacks]
    changes = np.bincount(classes, hidden.changed) > 0
    return KnownAnyway(np.where(changes[classes], classes, -1), right)


def where_it_helps(told: Bools, anyway: Bools, classes: Ints) -> Bools:
    """Who is guessed right if a column is used in those classes in which it clearly tells more."""
    more = np.bincount(classes, told & ~anyway)
    fewer = np.bincount(classes, anyway & ~told)
    use = more - fewer > HELPS * np.sqrt(more + fewer)
    return np.where(use[classes], told, anyway)


def _add(attacks: list[list[Bools]], rights: list[Bools]) -> None:
    for found, right in zip(attacks, rights, strict=True):
        found.append(right)


def _classes(hidden: Hidden) -> Ints:
    """0 for rare released values, 1 for missing, further numbers for frequent values."""
    released = hidden.released
    if released is None:
        return np.zeros(len(hidden.rows), dtype=np.int64)
    missing = np.isnan(released.place)
    frequent = np.bincount(released.codes, minlength=released.size) >= ENOUGH
    number = np.where(frequent, np.cumsum(frequent) + 1, 0)
    return np.where(missing, 1, number[released.codes])


def _most_frequent(classes: Ints, truth: Truth) -> Ints:
    """The code of the most frequent true value in each class."""
    cells, counts = np.unique(classes * truth.size + truth.codes, return_counts=True)
    modes = np.zeros(classes.max() + 1, dtype=np.int64)
    order = np.argsort(counts, kind="stable")
    modes[cells[order] // truth.size] = cells[order] % truth.size  # the last one written is the largest
    return modes


def _medians(classes: Ints, values: Floats) -> Floats:
    """For each record the median of its class, of an even number the lower one."""
    order = np.lexsort((values, classes))
    size = np.bincount(classes)
    middle = np.cumsum(size) - size + (size - 1) // 2  # of a class without records this is never looked up
    return np.asarray(values[order][np.clip(middle, 0, len(values) - 1)][classes])


def _best_by_class(attacks: list[Bools], classes: Ints) -> Bools:
    sums: Floats = np.array([np.bincount(classes, right) for right in attacks])
    choice = sums.argmax(axis=0)
    return np.asarray(np.choose(choice[classes], attacks))
