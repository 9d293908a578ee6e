"""Local suppression the slow and plain way: counting, attacks, and true optima of small files."""

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_matrix


@st.composite
def tables(draw, max_rows=24, max_keys=5):
    """Small files of keys as codes, some with missing values (−1)."""
    n, q = draw(st.integers(1, max_rows)), draw(st.integers(1, max_keys))
    levels = draw(st.lists(st.integers(0, 4), min_size=q, max_size=q))
    low = draw(st.sampled_from([-1, 0]))
    rows = st.tuples(*(st.integers(low, max(low, top)) for top in levels))
    return np.array(draw(st.lists(rows, min_size=n, max_size=n)), dtype=np.int32)


def cells_of(codes):
    """Distinct rows and how often each occurs."""
    cells, counts = np.unique(codes, axis=0, return_counts=True)
    return np.ascontiguousarray(cells, dtype=np.int32), counts.astype(np.int64)


def records_of(cells, release):
    """The records of a release, one row each: their keys before and after."""
    before = np.repeat(cells[release.cell], release.records, axis=0)
    after = np.repeat(
        [
            [-1 if int(blank) >> j & 1 else v for j, v in enumerate(row)]
            for row, blank in zip(cells[release.cell].tolist(), release.blank, strict=True)
        ],
        release.records,
        axis=0,
    )
    return before, after.astype(np.int32).reshape(before.shape)


def price_of(cells, release, cost):
    """What the suppressed values of a release cost."""
    before, after = records_of(cells, release)
    return float((((after < 0) & (before >= 0)) @ np.where(np.isfinite(cost), cost, 0.0)).sum())


def match(a, b, columns) -> bool:
    return all(a[j] == b[j] or a[j] < 0 or b[j] < 0 for j in columns)


def wildcard_sizes(codes, columns) -> list[int]:
    rows = [list(map(int, row)) for row in codes]
    return [sum(match(a, b, columns) for b in rows) for a in rows]


def group_sizes(codes, columns=None) -> list[int]:
    """How often each row occurs, a blank being a value of its own."""
    rows = [
        tuple(row) for row in np.asarray(codes)[:, slice(None) if columns is None else list(columns)].tolist()
    ]
    counts = Counter(rows)
    return [counts[row] for row in rows]


def unreachable(codes, k, cost, subsets) -> list[int]:
    """Records below k by the wildcard rule even when every column that may be touched is missing in them."""
    found = set()
    for columns, need in zip(subsets, k, strict=True):
        for r, row in enumerate(codes):
            bare = [-1 if np.isfinite(cost[j]) else v for j, v in enumerate(row)]
            if sum(match(bare, other, columns) for i, other in enumerate(codes) if i != r) + 1 < need:
                found.add(r)
    return sorted(found)


def alone_on_shown_keys(released) -> int:
    """Records without a blank whose pattern nobody else has: the exact match finds them."""
    sizes = group_sizes(released)
    return sum(size == 1 and min(row) >= 0 for size, row in zip(sizes, np.asarray(released), strict=True))


def posterior(true, released, rates) -> np.ndarray:
    """The chance of the right row for an intruder who knows a person's keys and how often each is blank.

    Each key is blank with its own rate, whatever the value. A key that is missing in `true` is known to the
    intruder and to nobody else: rows that show it do not fit.
    """
    found = []
    for i, x in enumerate(true):
        likelihood = [
            np.prod(
                [rate if z < 0 else (1 - rate) * (z == v) for v, z, rate in zip(x, row, rates, strict=True)]
            )
            for row in released
        ]
        found.append(likelihood[i] / sum(likelihood))
    return np.array(found)


def fewest_sound_cells(codes, k, cost, seconds=20.0) -> float | None:
    """The least total cost at which every released pattern occurs k times or not at all; None if not proven.

    Facility location with lower bounds: y[cell, set] records of a cell with a set blanked, b[pattern] whether
    it is used.
    """
    q = codes.shape[1]
    cells = Counter(map(tuple, np.asarray(codes).tolist()))
    touchable = [j for j in range(q) if np.isfinite(cost[j])]
    slots, reach = [], defaultdict(list)
    for cell, records in cells.items():
        there = [j for j in touchable if cell[j] >= 0]
        for size in range(len(there) + 1):
            for gone in combinations(there, size):
                pattern = tuple(-1 if j in gone else v for j, v in enumerate(cell))
                reach[pattern].append(len(slots))
                slots.append((cell, records, sum(cost[j] for j in gone)))
    number = {pattern: p for p, pattern in enumerate(reach)}
    n_slots, n = len(slots), len(slots) + len(number)
    rows, columns, values, low, high = [], [], [], [], []

    def constraint(entries, least, most):
        for column, value in entries:
            rows.append(len(low))
            columns.append(column)
            values.append(value)
        low.append(least)
        high.append(most)

    by_cell = defaultdict(list)
    for s, (cell, _, _) in enumerate(slots):
        by_cell[cell].append((s, 1.0))
    for cell, entries in by_cell.items():
        constraint(entries, cells[cell], cells[cell])
    for pattern, mine in reach.items():
        used = n_slots + number[pattern]
        constraint([*((s, 1.0) for s in mine), (used, -float(k))], 0, np.inf)
        for s in mine:
            constraint([(s, 1.0), (used, -float(slots[s][1]))], -np.inf, 0)
    result = milp(
        np.array([price for _, _, price in slots] + [0.0] * len(number)),
        constraints=LinearConstraint(
            coo_matrix((values, (rows, columns)), shape=(len(low), n)).tocsc(), low, high
        ),
        integrality=np.ones(n),
        bounds=Bounds(0, np.append([s[1] for s in slots], np.ones(len(number)))),
        options={"time_limit": seconds, "mip_rel_gap": 0},
    )
    return round(float(result.fun), 6) if result.status == 0 else None
