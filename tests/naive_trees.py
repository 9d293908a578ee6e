"""Trees in plain Python: what the best split of some records is, found by trying all of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from math import log, sqrt


def impurity(target: Sequence[float], classes: bool) -> float:
    """Records times the Gini index of classes, or the sum of squares about the mean."""
    n = len(target)
    if classes:
        return n - sum(list(target).count(c) ** 2 for c in set(target)) / n
    mean = sum(target) / n
    return sum((y - mean) ** 2 for y in target)


def splits(
    codes: Sequence[int], category: bool, target: Sequence[float], leaf: int
) -> Iterator[frozenset[int]]:
    """Every set of codes that may go left.

    Of categories every subset; where leaves must be larger than one record the levels in the order of their
    mean target only, for the subset that is best without that condition is found among these, not the best
    with it.
    """
    seen = sorted(set(codes))
    if category and leaf > 1:
        means = {c: [y for code, y in zip(codes, target, strict=True) if code == c] for c in seen}
        seen.sort(key=lambda c: sum(means[c]) / len(means[c]))
    if not category or leaf > 1:
        for i in range(1, len(seen)):
            yield frozenset(seen[:i])
        return
    for size in range(1, len(seen) // 2 + 1):
        for chosen in combinations(seen, size):
            yield frozenset(chosen)


def gain_of(codes: Sequence[int], left: frozenset[int], target: Sequence[float], classes: bool) -> float:
    """By how much a split lowers the impurity."""
    sides = ([], [])
    for code, y in zip(codes, target, strict=True):
        sides[code not in left].append(y)
    return impurity(target, classes) - sum(impurity(side, classes) for side in sides)


def enough(
    codes: Sequence[int], category: bool, target: Sequence[float], classes: bool, gain: float
) -> float:
    """How much a split by this predictor must gain, by the dial `gain`."""
    seen = len(set(codes))
    ways = 2 ** (seen - 1) - 1 if category else seen - 1
    asked = gain * (1 + log(ways) / 4)
    if asked > 1 and classes and len(set(target)) > 1:
        shares = [count / len(target) for count in Counter(target).values()]
        covariance = [
            [(p if i == j else 0) - p * q for j, q in enumerate(shares)] for i, p in enumerate(shares)
        ]
        trace = sum(covariance[i][i] for i in range(len(shares)))
        dimensions = trace**2 / sum(value**2 for row in covariance for value in row)
        asked = 1 + (asked - 1) / sqrt(dimensions)
    return asked * impurity(target, classes) / len(target)


def best_gain(
    predictors: Sequence[Sequence[int]],
    categories: Sequence[bool],
    target: Sequence[float],
    *,
    classes: bool,
    leaf: int,
    gain: float = 0.0,
) -> float:
    """The largest gain of any split that gains enough and leaves enough records on both sides, or 0."""
    best = 0.0
    for codes, category in zip(predictors, categories, strict=True):
        for left in splits(codes, category, target, leaf):
            count = sum(code in left for code in codes)
            reached = gain_of(codes, left, target, classes)
            if (
                min(count, len(codes) - count) >= leaf
                and reached > enough(codes, category, target, classes, gain) + 1e-9
            ):
                best = max(best, reached)
    return best


def spread_places(
    at: Sequence[int], ranges: dict[int, tuple[int, int]], u: Sequence[float], block: int
) -> list[int]:
    """Donors of records: those of a node in a random order, their u's spread over runs of its donors."""
    places = [-1] * len(at)
    for node in set(at):
        mine: list[tuple[int, float]] = []
        for i in [i for i, where in enumerate(at) if where == node]:
            j, rest = divmod(u[i] * (len(mine) + 1), 1.0)
            mine.append((i, rest))
            mine[-1], mine[int(j)] = mine[int(j)], mine[-1]
        low, high = ranges[node]
        runs = max(min(len(mine), (high - low) // block), 1)
        edges = [run * len(mine) // runs for run in range(runs + 1)]
        for begin, end in pairwise(edges):
            for i, rest in mine[begin:end]:
                share = (begin + (end - begin) * rest) / len(mine)
                places[i] = low + min(int(share * (high - low)), high - low - 1)
    return places
