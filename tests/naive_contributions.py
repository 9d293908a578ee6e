"""Plain twin of the rules of magnitude tables: records are (cell, holding, value, weight), weights whole."""

from collections import defaultdict


def judged(records, p, n, k, fewest):
    """For each cell its total, error, and whether each rule makes it sensitive."""
    sums, counts = defaultdict(float), defaultdict(int)
    for i, (cell, holding, value, weight) in enumerate(records):
        if value is None:
            continue
        unit = (cell, ("alone", i) if holding is None else ("group", holding))
        sums[unit] += value
        counts[unit] = weight  # the same for all records of a holding in these tests
    found = {}
    for cell in {c for c, _ in sums}:
        units = [u for u in sums if u[0] == cell]
        expanded = sorted((abs(sums[u]) for u in units for _ in range(counts[u])), reverse=True)
        total = sum(expanded)
        contributors = sum(1 for u in units if sums[u] != 0)
        if total == 0:
            found[cell] = (0.0, None, False, False, False)
            continue
        first, second = [*expanded, 0.0, 0.0][:2]
        alone = contributors == 1
        error = 0.0 if alone else (total - first - second) / first
        found[cell] = (
            total,
            error,
            alone or error * 100 < p - 1e-9,
            alone or sum(expanded[:n]) * 100 > k * total + 1e-9,
            contributors < fewest,
        )
    return found
