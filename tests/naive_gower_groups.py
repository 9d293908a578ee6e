"""MDAV of mixed records by Gower's distance, as its definition reads."""


def naive_gower_groups(rows, nominal, k):
    """The group of each row, in the order the groups are formed."""

    def distance(a, b):
        return sum((x != y) if n else abs(x - y) for x, y, n in zip(a, b, nominal, strict=True))

    def centre(records):
        columns = list(zip(*(rows[r] for r in records), strict=True))
        return [
            min(set(c), key=lambda v, c=c: (-c.count(v), v)) if n else sum(c) / len(c)
            for c, n in zip(columns, nominal, strict=True)
        ]

    labels, left, label = [0] * len(rows), list(range(len(rows))), 0

    def take(start):
        nearest = sorted((r for r in left if r != start), key=lambda r: (distance(rows[r], rows[start]), r))
        for r in [start, *nearest[: k - 1]]:
            labels[r] = label
            left.remove(r)

    while len(left) >= 2 * k:
        middle = centre(left)
        start = min(left, key=lambda r: (-distance(rows[r], middle), r))
        take(start)
        label += 1
        if len(left) >= 2 * k:
            take(min(left, key=lambda r: (-distance(rows[r], rows[start]), r)))
            label += 1
    for r in left:
        labels[r] = label
    return labels
