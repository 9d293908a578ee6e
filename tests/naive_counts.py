"""Plain twins of the counting kernels: every record against every record."""

from collections.abc import Sequence


def match(a: Sequence[int], b: Sequence[int]) -> bool:
    return all(x == y or x == -1 or y == -1 for x, y in zip(a, b, strict=True))


def wildcard_counts_of_records(
    records: Sequence[Sequence[int]], weights: Sequence[float], alpha: float
) -> tuple[list[float], list[float]]:
    """Sample and population count of each record; -1 is missing and matches anything."""
    sample, population = [], []
    for i, mine in enumerate(records):
        count, total = 1.0, float(weights[i])
        for j, other in enumerate(records):
            if j != i and match(mine, other):
                share = alpha if -1 in other and list(other) != list(mine) else 1.0
                count += share
                total += share * weights[j]
        sample.append(count)
        population.append(total)
    return sample, population
