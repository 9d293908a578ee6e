"""How well one column tells the values of another, where some of them are blanked."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import inner, jit

_Codes = npt.NDArray[np.int32]  # 0, 1, …; missing is −1
_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]
NONE, SEVERAL = -1, -2
# what is found by group: two values shown in it, how many records show them, the one value shown around it
ONE, ONES, TWO, TWOS, AROUND = 0, 1, 2, 3, 4
RIGHT, WRONG = 0, 1


class Groups(NamedTuple):
    """A column that may tell: the group of each record, and whether groups have an order."""

    code: _Codes
    ordered: bool
    most: int  # codes are below
    there: int  # how many of them occur

    @classmethod
    def of(cls, code: _Codes, *, ordered: bool) -> "Groups":
        """The groups with these codes."""
        sizes = np.bincount(code[code >= 0])
        return cls(code, ordered, len(sizes), int(np.count_nonzero(sizes)))


class Blanks(NamedTuple):
    """A column with blanks: the codes still shown, the rows blanked, what they had, and how common it is."""

    shown: _Codes
    rows: _Ints
    hidden: _Codes
    share: _Floats

    @classmethod
    def of(cls, code: _Codes, gone: _Bools) -> "Blanks":
        """The column with these codes, some of them gone."""
        rows = np.flatnonzero(gone & (code >= 0))
        counts = np.bincount(code[code >= 0]).astype(np.float64)
        return cls(np.where(gone, np.int32(NONE), code), rows, code[rows], counts / max(counts.sum(), 1.0))


class Guesses(NamedTuple):
    """What guessing from a column gives.

    tests, right: guesses about all records, and how many are right. chance, variance: mean and variance of
    the number that would be right if records had nothing to do with the column. told: which of the blanked
    values are guessed right.
    """

    tests: float
    right: float
    chance: float
    variance: float
    told: _Bools


def guess_from(column: Groups, key: Blanks) -> Guesses:
    """Guess values from the records of the same group, or else from the nearest groups.

    A record's value is guessed where all others shown in its group are the same. Where its group has no
    other that is shown and groups are ordered, it is guessed where the nearest groups below and above that
    show any show one and the same value.
    """
    found = np.full((column.most, 5), NONE, dtype=np.int32)  # what belongs to a group lies together
    found[:, ONES] = found[:, TWOS] = 0
    told = np.zeros(len(key.rows), dtype=np.bool_)
    guesses = np.zeros((2, len(key.share)))  # by the value guessed
    groups = (column.code, column.there, column.ordered)
    _guess(*groups, key.shown, key.rows, key.hidden, found, guesses, told)
    right, wrong = guesses[RIGHT], guesses[WRONG]
    tests = right + wrong
    chance = tests * key.share
    variance = chance * (1 - key.share)
    return Guesses(float(tests.sum()), float(right.sum()), float(chance.sum()), float(variance.sum()), told)


@inner
def _shown_values(group: _Codes, shown: _Codes, there: int, found: _Codes) -> None:
    """By group two values shown in it (NONE, or SEVERAL for the second) and how many records show them.

    A group in which two values are shown twice, or a third one, gives no guess whatever comes after: its
    second value becomes SEVERAL. When all are such groups the rest need not be read.
    """
    for row in range(len(group)):
        g, value = group[row], shown[row]
        if g < 0 or value < 0 or found[g, TWO] == SEVERAL:
            continue
        if found[g, ONE] == NONE or found[g, ONE] == value:
            found[g, ONE] = value
            found[g, ONES] += 1
        elif found[g, TWO] == NONE or found[g, TWO] == value:
            found[g, TWO] = value
            found[g, TWOS] += 1
        else:
            found[g, ONES] = found[g, TWOS] = 2
        if found[g, ONES] > 1 and found[g, TWOS] > 1:
            found[g, TWO] = SEVERAL
            there -= 1
            if there == 0:
                break


@inner
def _around(found: _Codes) -> None:
    """By group the one value that the nearest groups below and above both show, or NONE."""
    near, groups = NONE, found.shape[0]
    for g in range(groups):
        found[g, AROUND] = near
        if found[g, ONE] != NONE:
            near = found[g, ONE] if found[g, TWO] == NONE else NONE
    near = NONE
    for g in range(groups - 1, -1, -1):
        if found[g, AROUND] != near:
            found[g, AROUND] = NONE
        if found[g, ONE] != NONE:
            near = found[g, ONE] if found[g, TWO] == NONE else NONE


@inner
def _about_shown(found: _Codes, guesses: _Floats) -> None:
    """Each record that is shown, guessed from the others; counted by the value guessed."""
    for g in range(found.shape[0]):
        one, two, around = found[g, ONE], found[g, TWO], found[g, AROUND]
        ones, twos = found[g, ONES], found[g, TWOS]
        if two == NONE and ones > 1:
            guesses[RIGHT, one] += ones
        elif two == NONE and ones == 1 and around != NONE:
            if around == one:
                guesses[RIGHT, one] += 1
            else:
                guesses[WRONG, around] += 1
        elif two >= 0:
            if twos == 1:
                guesses[WRONG, one] += 1
            if ones == 1:
                guesses[WRONG, two] += 1


@jit
def _guess(
    group: _Codes,
    there: int,
    ordered: bool,
    shown: _Codes,
    rows: _Ints,
    hidden: _Codes,
    found: _Codes,
    guesses: _Floats,
    told: _Bools,
) -> None:
    """Which blanked values are guessed right; all guesses are counted by the value guessed."""
    _shown_values(group, shown, there, found)
    if ordered:
        _around(found)
    _about_shown(found, guesses)
    for j in range(len(rows)):
        g = group[rows[j]]
        if g < 0 or found[g, TWO] != NONE:
            continue
        guess = found[g, ONE] if found[g, ONE] != NONE else found[g, AROUND]
        if guess == NONE:
            continue
        told[j] = guess == hidden[j]
        if told[j]:
            guesses[RIGHT, guess] += 1
        else:
            guesses[WRONG, guess] += 1
