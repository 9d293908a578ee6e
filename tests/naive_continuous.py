"""Plain-Python twins of the measures of continuous variables: lists of numbers, None is missing."""

from math import atan, pi, sqrt


def mean(x, w):
    return sum(a * b for a, b in zip(x, w, strict=True)) / sum(w)


def spread(x, w):
    m = mean(x, w)
    return sqrt(len(x) / (len(x) - 1) * mean([(a - m) ** 2 for a in x], w))


def below(x, w, at):
    return sum(b for a, b in zip(x, w, strict=True) if a <= at) / sum(w)


def distances(x, w, y, u):
    """Kolmogorov–Smirnov, Cramér–von Mises and the unscaled Wasserstein distance."""
    points = sorted({*x, *y})
    gaps = [abs(below(x, w, t) - below(y, u, t)) for t in points]
    cramer = 0.0
    for values, weights in ((x, w), (y, u)):
        cramer += sum(
            b / sum(weights) / 2 * gaps[points.index(a)] ** 2 for a, b in zip(values, weights, strict=True)
        )
    moved = sum(g * (b - a) for g, a, b in zip(gaps, points, points[1:], strict=False))
    return max(gaps), cramer, moved


def quantile(x, w, p):
    """The first ordered value whose cumulated share of weight exceeds p."""
    done = 0.0
    pairs = sorted(zip(x, w, strict=True))
    for a, b in pairs:
        done += b
        if done / sum(w) > p + 1e-12:
            return a
    return pairs[-1][0]


def numeric_loss(x, y):
    """Młodak's numeric distances."""
    a, b = [v for v in x if v is not None], [v for v in y if v is not None]
    far = max(abs(min(b) - max(a)), abs(max(b) - min(a))) if a and b else float("inf")
    found = []
    for v, u in zip(x, y, strict=True):
        gap = 0.0 if v is u is None else far if v is None or u is None else abs(v - u)
        found.append(2 / pi * atan(gap))
    return found
