"""Local suppression the slow and plain way: counting, feasibility, and true optima of tiny cases."""

import heapq
from itertools import combinations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp


def match(a, b, columns) -> bool:
    return all(a[j] == b[j] or a[j] < 0 or b[j] < 0 for j in columns)


def wildcard_sizes(codes, columns) -> list[int]:
    rows = [list(map(int, row)) for row in codes]
    return [sum(match(a, b, columns) for b in rows) for a in rows]


def group_sizes(codes) -> list[int]:
    rows = [tuple(map(int, row)) for row in codes]
    return [rows.count(row) for row in rows]


def unreachable(codes, k, cost, subsets) -> list[int]:
    """Records still below k when every column that may be touched is missing in them."""
    found = set()
    for columns, need in zip(subsets, k, strict=True):
        for r, row in enumerate(codes):
            bare = [-1 if np.isfinite(cost[j]) else v for j, v in enumerate(row)]
            if sum(match(bare, other, columns) for i, other in enumerate(codes) if i != r) + 1 < need:
                found.add(r)
    return sorted(found)


def fewest_cells(codes, k, cost) -> float:
    """Least total cost when any cell of any record may be suppressed (integer programme)."""
    n, q = codes.shape
    pairs = list(combinations(range(n), 2))
    size = n * q + len(pairs)
    objective = np.concatenate([np.tile(cost, n), np.zeros(len(pairs))])
    rows, low = [], []
    for p, (a, b) in enumerate(pairs):
        for j in range(q):
            if codes[a, j] >= 0 and codes[b, j] >= 0 and codes[a, j] != codes[b, j]:
                row = np.zeros(size)  # a matching pair needs a missing cell wherever it differs
                row[a * q + j] = row[b * q + j] = 1
                row[n * q + p] = -1
                rows.append(row)
                low.append(0)
    for r in range(n):
        row = np.zeros(size)
        row[[n * q + p for p, pair in enumerate(pairs) if r in pair]] = 1
        rows.append(row)
        low.append(k - 1)
    result = milp(
        objective,
        constraints=LinearConstraint(np.array(rows), lb=np.array(low)),
        integrality=np.ones(size),
        bounds=Bounds(0, 1),
    )
    return round(float(result.fun), 6)


def fewest_cells_by_need(codes, k, cost) -> float:
    """Least total cost when a record loses cells only while below k, and only a smallest set that helps.

    Uniform-cost search over all orders and all choices; cells are never given back.
    """
    q = codes.shape[1]
    every = [c for size in range(1, q + 1) for c in combinations(range(q), size)]
    queue = [(0.0, tuple(tuple(map(int, row)) for row in codes))]
    seen = set()
    while queue:
        spent, rows = heapq.heappop(queue)
        if rows in seen:
            continue
        seen.add(rows)
        needy = [r for r, size in enumerate(wildcard_sizes(rows, range(q))) if size < k]
        if not needy:
            return spent
        for r in needy:
            helpful: list[tuple[int, ...]] = []
            for columns in every:
                if any(set(smaller) <= set(columns) for smaller in helpful):
                    continue
                row = tuple(-1 if j in columns else v for j, v in enumerate(rows[r]))
                if sum(match(row, other, range(q)) for i, other in enumerate(rows) if i != r) + 1 >= k:
                    helpful.append(columns)
                    price = sum(cost[j] for j in columns if rows[r][j] >= 0)
                    heapq.heappush(queue, (spent + price, (*rows[:r], row, *rows[r + 1 :])))
    raise ValueError("no solution")
