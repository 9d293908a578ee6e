"""Guesses from the other records with the same clue, record by record: the slow twin of risk/_guesses."""

from collections import Counter
from statistics import median


def modal(values):
    """The most frequent value; None for none or several."""
    ranked = Counter(values).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def neighbours(i, clue, given):
    """Records with the next lower and the next higher clue, among those that share what is given."""
    mine = [j for j in range(len(clue)) if given[j] == given[i] and clue[j] is not None and j != i]
    lower = [clue[j] for j in mine if clue[j] < clue[i]]
    higher = [clue[j] for j in mine if clue[j] > clue[i]]
    low = [j for j in mine if lower and clue[j] == max(lower)]
    high = [j for j in mine if higher and clue[j] == min(higher)]
    return low, high


def by_mode(x, clue, given):
    """Who is guessed right by the most frequent value."""
    right = []
    for i in range(len(x)):
        others = [j for j in range(len(x)) if j != i and clue[j] == clue[i] and given[j] == given[i]]
        if others:
            guess = modal([x[j] for j in others])
        elif clue[i] is None:
            guess = None
        else:
            low, high = neighbours(i, clue, given)
            sides = [modal([x[j] for j in side]) for side in (low, high) if side]
            guess = sides[0] if sides and len(set(sides)) == 1 else None
        right.append(guess is not None and guess == x[i])
    return right


def by_median(x, clue, given):
    """The guess by the median; None where there is none."""
    guesses = []
    for i in range(len(x)):
        others = [j for j in range(len(x)) if j != i and clue[j] == clue[i] and given[j] == given[i]]
        if others:
            guesses.append(median(x[j] for j in others))
            continue
        low, high = neighbours(i, clue, given) if clue[i] is not None else ([], [])
        if low and high:
            a, b = clue[low[0]], clue[high[0]]
            p, q = (median(x[j] for j in side) for side in (low, high))
            guesses.append(p + (q - p) * (clue[i] - a) / (b - a))
        else:
            guesses.append(median(x[j] for j in low or high) if low or high else None)
    return guesses
