"""Plain-Python twins of the table functions: rows are dicts, NULL is None."""

from collections import Counter, defaultdict
from hashlib import sha256
from math import floor


def cells(rows, keys, weight):
    count, mass = Counter(), defaultdict(float)
    for row in rows:
        key = tuple(row[k] for k in keys)
        count[key] += 1
        mass[key] += 1.0 if weight is None else row[weight]
    return {key: (count[key], mass[key]) for key in count}


def mean(x, w):
    return sum(a * b for a, b in zip(x, w, strict=True)) / sum(w)


def covariance(x, y, w):
    n, mx, my = len(x), mean(x, w), mean(y, w)
    return n / (n - 1) * sum(c * (a - mx) * (b - my) for a, b, c in zip(x, y, w, strict=True)) / sum(w)


def quantile(values, p):
    values = sorted(values)
    at = (len(values) - 1) * p
    low = floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def keyed_uniform(id, seed, step):
    """The definition of `random.uniform` in Python's integers of any size."""
    from sdckit.engine.random import PRIME

    size = -1 - id if id < 0 else id
    parts = [size % PRIME, size // PRIME % PRIME, size // PRIME // PRIME + (4 if id < 0 else 0)]
    words = []
    for word in ("__sdckit_x", "__sdckit_y"):
        x, number = 0, 0
        for part, rounds in zip(parts, (3, 2, 3), strict=True):
            x += part
            for _ in range(rounds):
                digest = sha256(f"{seed}/{step}/{number}/{word}".encode()).digest()
                x = pow(x + int.from_bytes(digest[:8], "big"), 3, PRIME)
                number += 1
        words.append(x)
    digits = PRIME // 1024 + 1
    return (words[0] * digits + words[1] // 1024 + 0.5) * (1.0 / (PRIME * digits))
