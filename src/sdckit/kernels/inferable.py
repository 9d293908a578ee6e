"""How well one column tells the values of another, where some of them are blanked."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdckit.kernels._jit import jit

_Codes = npt.NDArray[np.int32]  # 0, 1, …; missing is −1
_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]
NONE, SEVERAL = -1, -2


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
    one, ones, two, twos = _shown_values(column.code, key.shown, column.most, column.there)
    around = _around(one, two) if column.ordered else np.full(column.most, NONE, dtype=np.int32)
    right, wrong = np.zeros(len(key.share)), np.zeros(len(key.share))  # by the value guessed
    _about_shown(one, ones, two, twos, around, right, wrong)
    told = _about_blanked(column.code, key.rows, key.hidden, one, two, around, right, wrong)
    tests = right + wrong
    chance = tests * key.share
    variance = chance * (1 - key.share)
    return Guesses(float(tests.sum()), float(right.sum()), float(chance.sum()), float(variance.sum()), told)


@jit
def _shown_values(
    group: _Codes, shown: _Codes, groups: int, there: int
) -> tuple[_Codes, _Codes, _Codes, _Codes]:
    """By group two values shown in it (NONE, or SEVERAL for the second) and how many records show them.

    A group in which two values are shown twice, or a third one, gives no guess whatever comes after: its
    second value becomes SEVERAL. When all are such groups the rest need not be read.
    """
    one, two = np.full(groups, NONE, dtype=np.int32), np.full(groups, NONE, dtype=np.int32)
    ones, twos = np.zeros(groups, dtype=np.int32), np.zeros(groups, dtype=np.int32)
    for row in range(len(group)):
        g, value = group[row], shown[row]
        if g < 0 or value < 0 or two[g] == SEVERAL:
            continue
        if one[g] == NONE or one[g] == value:
            one[g] = value
            ones[g] += 1
        elif two[g] == NONE or two[g] == value:
            two[g] = value
            twos[g] += 1
        else:
            ones[g] = twos[g] = 2
        if ones[g] > 1 and twos[g] > 1:
            two[g] = SEVERAL
            there -= 1
            if there == 0:
                break
    return one, ones, two, twos


@jit
def _around(one: _Codes, two: _Codes) -> _Codes:
    """By group the one value that the nearest groups below and above both show, or NONE."""
    found = np.full(len(one), NONE, dtype=np.int32)
    near = NONE
    for g in range(len(one)):
        found[g] = near
        if one[g] != NONE:
            near = one[g] if two[g] == NONE else NONE
    near = NONE
    for g in range(len(one) - 1, -1, -1):
        if found[g] != near:
            found[g] = NONE
        if one[g] != NONE:
            near = one[g] if two[g] == NONE else NONE
    return found


@jit
def _about_shown(
    one: _Codes, ones: _Codes, two: _Codes, twos: _Codes, around: _Codes, right: _Floats, wrong: _Floats
) -> None:
    """Each record that is shown, guessed from the others; counted by the value guessed."""
    for g in range(len(one)):
        if two[g] == NONE and ones[g] > 1:
            right[one[g]] += ones[g]
        elif two[g] == NONE and ones[g] == 1 and around[g] != NONE:
            if around[g] == one[g]:
                right[one[g]] += 1
            else:
                wrong[around[g]] += 1
        elif two[g] >= 0:
            if twos[g] == 1:
                wrong[one[g]] += 1
            if ones[g] == 1:
                wrong[two[g]] += 1


@jit
def _about_blanked(
    group: _Codes,
    rows: _Ints,
    hidden: _Codes,
    one: _Codes,
    two: _Codes,
    around: _Codes,
    right: _Floats,
    wrong: _Floats,
) -> _Bools:
    """Which blanked values are guessed right; all guesses are counted by the value guessed."""
    told = np.zeros(len(rows), dtype=np.bool_)
    for j in range(len(rows)):
        g = group[rows[j]]
        if g < 0 or two[g] != NONE:
            continue
        guess = one[g] if one[g] != NONE else around[g]
        if guess == NONE:
            continue
        told[j] = guess == hidden[j]
        if told[j]:
            right[guess] += 1
        else:
            wrong[guess] += 1
    return told


@jit
def ranks(order: _Ints, values: _Floats) -> _Codes:
    """Codes 0, 1, … of numbers whose `argsort` is given; nan, which comes last, is missing."""
    codes = np.full(len(values), NONE, dtype=np.int32)
    code = 0
    for place in range(len(order)):
        now = values[order[place]]
        if np.isnan(now):
            break
        if place > 0 and now != values[order[place - 1]]:
            code += 1
        codes[order[place]] = code
    return codes
