"""Plain twins of the microaggregation kernels: full scans and full enumeration."""

from collections.abc import Iterator


def squared(a: list[float], b: list[float]) -> float:
    total = 0.0
    for u, v in zip(a, b, strict=True):
        total += (u - v) * (u - v)
    return total


def naive_mdav(rows: list[list[float]], k: int) -> list[int]:
    """MDAV by scanning all remaining records; lowest row number wins ties."""
    left = list(range(len(rows)))
    groups: list[list[int]] = []

    def farthest(point: list[float]) -> int:
        return max(left, key=lambda i: (squared(rows[i], point), -i))

    def take(seed: int) -> None:
        others = sorted((i for i in left if i != seed), key=lambda i: (squared(rows[i], rows[seed]), i))
        groups.append([seed, *others[: k - 1]])
        for i in groups[-1]:
            left.remove(i)

    def centre() -> list[float]:
        return [sum(column) / len(left) for column in zip(*(rows[i] for i in left), strict=True)]

    while len(left) >= 3 * k:
        r = farthest(centre())
        take(r)
        take(farthest(rows[r]))
    if len(left) >= 2 * k:
        take(farthest(centre()))
    if left:
        groups.append(left)
    return [next(g for g, members in enumerate(groups) if i in members) for i in range(len(rows))]


def sum_of_squares(rows: list[list[float]], labels: list[int]) -> float:
    """Squared distances of the records to the mean of their group."""
    total = 0.0
    for g in set(labels):
        members = [row for row, label in zip(rows, labels, strict=True) if label == g]
        centre = [sum(column) / len(members) for column in zip(*members, strict=True)]
        total += sum(squared(row, centre) for row in members)
    return total


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    """All ways to put items into groups."""
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        yield [[items[0]], *rest]
        for at, group in enumerate(rest):
            yield [*rest[:at], [items[0], *group], *rest[at + 1 :]]


def least_sum_of_squares(values: list[float], k: int) -> float:
    """Least sum of squares over every partition into groups of at least k values."""
    best = float("inf")
    for partition in partitions(list(range(len(values)))):
        if min(len(group) for group in partition) >= k:
            labels = [next(g for g, m in enumerate(partition) if i in m) for i in range(len(values))]
            best = min(best, sum_of_squares([[v] for v in values], labels))
    return best
