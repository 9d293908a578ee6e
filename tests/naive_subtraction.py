"""Every union of columns less the rows inside of it, one by one."""

from itertools import chain, combinations


def few_by_subtraction(counts: list[list[int]], few: int) -> bool:
    columns = range(len(counts[0]))
    for union in chain.from_iterable(combinations(columns, size) for size in range(len(columns) + 1)):
        inside = [row for row in counts if all(n == 0 or j in union for j, n in enumerate(row))]
        left = sum(row[j] for row in counts for j in union) - sum(map(sum, inside))
        if 0 < left < few:
            return True
    return False
