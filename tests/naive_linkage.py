"""Distances between records, and the risks made of them, written down plainly. None is missing."""

import math
from statistics import stdev


def scales(columns, kinds, distance, ranges):
    """Per variable (unit, far): columns is one list of values a file for each variable."""
    done = []
    for files, kind in zip(columns, kinds, strict=True):
        if kind == "nominal":
            done.append((1.0, 1.0))
            continue
        everything = [v for file in files for v in file if v is not None]
        reach = max(everything) - min(everything)
        if distance == "gower":
            shared = [v for file in files[:ranges] for v in file if v is not None]
            done.append((max(shared) - min(shared), 1.0))
        else:
            unit = stdev(v for v in files[0] if v is not None)
            done.append((unit, reach / unit))
    return done


def naive_distance(query, record, kinds, scale, distance, *, blank_counts):
    """The distance of a query (protected or synthetic) from an original record."""
    terms = []
    for a, b, kind, (unit, far) in zip(query, record, kinds, scale, strict=True):
        if a is None and b is None:
            terms.append(0.0)
        elif a is None:
            terms.append(far if blank_counts else 0.0)
        elif b is None:
            terms.append(far)
        elif kind == "nominal":
            terms.append(0.0 if a == b else far)
        else:
            terms.append(abs(a - b) / unit)
    if distance == "euclidean":
        return math.sqrt(sum(t * t for t in terms))
    return sum(terms) / len(terms) if distance == "gower" else sum(terms)


def useful(columns, kinds, distance, ranges):
    """Which variables vary where their scale comes from and have a value in every file."""
    kept = []
    for i, (files, kind) in enumerate(zip(columns, kinds, strict=True)):
        shared = files[: ranges if distance == "gower" else 1] if kind == "numeric" else files
        values = {v for file in shared for v in file if v is not None}
        if len(values) > 1 and all(any(v is not None for v in file) for file in files):
            kept.append(i)
    return kept


def same(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def naive_linkage(table):
    """Per protected record (originals nearer than the own, as near, credit) from rows of distances."""
    found = []
    for i, row in enumerate(table):
        nearer = sum(d < row[i] and not same(d, row[i]) for d in row)
        ties = sum(same(d, row[i]) for d in row)
        found.append((nearer, ties, 1 / ties if nearer == 0 else 0.0))
    return found


def naive_two_nearest(table, *, own):
    """Nearest and second-nearest distance of each row, itself left out in its own file."""
    rows = [[d for j, d in enumerate(row) if not (own and i == j)] for i, row in enumerate(table)]
    return [sorted([*row, math.inf, math.inf])[:2] for row in rows]


def naive_intervals(x, y, width, method):
    """Per pair whether the original lies inside; None where one is missing. y in eighths, width dyadic."""
    present = [v for v in y if v is not None]
    found = []
    for a, b in zip(x, y, strict=True):
        if a is None or b is None:
            found.append(None)
            continue
        if method == "rank":
            order, steps = sorted(present), math.floor(width * len(present))
            first = order.index(b)
            last = first + order.count(b) - 1
            low, high = order[max(first - steps, 0)], order[min(last + steps, len(order) - 1)]
        else:
            half = width * (abs(b) if method == "percent" else stdev(present) if len(present) > 1 else 0.0)
            low, high = b - half, b + half
        slack = 1e-12 * max(abs(a), abs(b))
        found.append(low - slack <= a <= high + slack)
    return found


def naive_outliers(z, other, inverse, width, neighbour, rule):
    """Per record (r, inside, at risk), z and other standardised, inverse that of the covariance."""
    p, n = len(z[0]), len(z)
    centre = [sum(row[j] for row in z) / n for j in range(p)]
    found = []
    for i in range(n):
        c = [z[i][j] - centre[j] for j in range(p)]
        square = sum(c[a] * inverse[a][b] * c[b] for a in range(p) for b in range(p))
        r = 0.05 * math.sqrt(max(square, 0.0))
        inside = rule(abs(other[i][j] - z[i][j]) < width * r for j in range(p))
        apart = min((math.dist(other[i], other[k]) for k in range(n) if k != i), default=math.inf)
        found.append((r, inside, inside and apart > neighbour))
    return found
