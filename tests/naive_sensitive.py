"""Plain twins of l-diversity and t-closeness: every record against every record."""

import math
from collections import Counter
from collections.abc import Sequence

from naive_counts import match


def group(codes: Sequence[Sequence[int]], i: int, rule: str) -> list[int]:
    """The records that cannot be told apart from record i; -1 is a missing key."""
    if rule == "wildcard":
        return [j for j in range(len(codes)) if match(codes[i], codes[j])]
    if rule == "nothing" and -1 in codes[i]:
        return [i]
    return [j for j in range(len(codes)) if codes[j] == codes[i]]


def diversity(values: Sequence[object], c: float) -> tuple[int, float, int] | None:
    """Distinct, entropy and recursive l of the values of one group; None where there is none."""
    counts = sorted(Counter(values).values(), reverse=True)
    if not counts:
        return None
    shares = [r / sum(counts) for r in counts]
    recursive = 1
    for l in range(1, len(counts) + 1):  # noqa: E741
        if counts[0] < c * sum(counts[l - 1 :]):
            recursive = l
    return len(counts), math.exp(-sum(p * math.log(p) for p in shares)), recursive


def distribution(values: Sequence[object], weights: Sequence[float], domain: Sequence[object]) -> list[float]:
    total = sum(weights)
    return [sum(w for v, w in zip(values, weights, strict=True) if v == d) / total for d in domain]


def earth_movers_distance(p: Sequence[float], q: Sequence[float], *, ordered: bool) -> float:
    if not ordered:
        return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    if len(p) == 1:
        return 0.0
    return sum(abs(sum(p[: i + 1]) - sum(q[: i + 1])) for i in range(len(p))) / (len(p) - 1)
