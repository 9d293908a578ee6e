"""Plain twin of the minimal sample uniques: every record, every set of keys, every other record."""

from collections.abc import Sequence
from itertools import combinations


def minimal_uniques_of_records(
    records: Sequence[Sequence[int]], max_size: int, wildcard: bool
) -> list[set[tuple[int, ...]]]:
    """The minimal uniques of each record as sets of key numbers; -1 is missing."""
    keys = range(len(records[0]))
    found = []
    for i, mine in enumerate(records):
        unique: set[tuple[int, ...]] = set()
        for size in range(1, max_size + 1):
            for subset in combinations(keys, size):
                if any(mine[k] == -1 for k in subset) or any(set(part) < set(subset) for part in unique):
                    continue
                others = [r for j, r in enumerate(records) if j != i]
                if not any(same(mine, other, subset, wildcard) for other in others):
                    unique.add(subset)
        found.append(unique)
    return found


def same(mine: Sequence[int], other: Sequence[int], subset: Sequence[int], wildcard: bool) -> bool:
    return all(mine[k] == other[k] or (wildcard and other[k] == -1) for k in subset)
