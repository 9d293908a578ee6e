"""Trees in plain Python: what the best split of some records is, found by trying all of them."""

from collections.abc import Iterator, Sequence
from itertools import combinations


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


def best_gain(
    predictors: Sequence[Sequence[int]],
    categories: Sequence[bool],
    target: Sequence[float],
    *,
    classes: bool,
    leaf: int,
) -> float:
    """The largest gain of any split that leaves enough records on both sides; 0 where there is none."""
    best = 0.0
    for codes, category in zip(predictors, categories, strict=True):
        for left in splits(codes, category, target, leaf):
            count = sum(code in left for code in codes)
            if min(count, len(codes) - count) >= leaf:
                best = max(best, gain_of(codes, left, target, classes))
    return best
