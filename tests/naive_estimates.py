"""Indicators, design variances and regressions in plain Python, straight from their definitions."""

import math


def weighted_quantile(x, w, p):
    pairs = sorted(zip(x, w, strict=True))
    total, sofar = math.fsum(w), 0.0
    for value, weight in pairs:
        sofar += weight
        if sofar / total > p + 1e-12:
            return value
    return pairs[-1][0]


def mean(x, w):
    return math.fsum(a * b for a, b in zip(x, w, strict=True)) / math.fsum(w)


def gini(x, w):
    """Half the mean absolute difference over the mean, all pairs."""
    pairs = list(zip(x, w, strict=True))
    apart = math.fsum(wi * wj * abs(xi - xj) for xi, wi in pairs for xj, wj in pairs)
    return 100 * apart / 2 / (math.fsum(w) * math.fsum(a * b for a, b in pairs))


def s80s20(x, w):
    low, high = weighted_quantile(x, w, 0.2), weighted_quantile(x, w, 0.8)
    pairs = list(zip(x, w, strict=True))
    rich = math.fsum(a * b for a, b in pairs if a > high)
    poor = math.fsum(a * b for a, b in pairs if a <= low)
    return rich / poor if poor else math.inf


def lorenz(x, w, p):
    """What those up to the share p of all weight have, the one at the boundary in part."""
    left, amount = p * math.fsum(w), 0.0
    for value, weight in sorted(zip(x, w, strict=True)):
        amount += value * min(weight, left)
        left -= min(weight, left)
    return amount


def split_s80s20(x, w):
    return (lorenz(x, w, 1.0) - lorenz(x, w, 0.8)) / lorenz(x, w, 0.2)


def fgt(x, w, line, alpha):
    gaps = [(((line - a) / line) ** alpha if alpha else 1.0) if a < line else 0.0 for a in x]
    return mean(gaps, w)


def poverty_gap(x, w, line):
    poor = [(a, b) for a, b in zip(x, w, strict=True) if a < line]
    if not poor:
        return math.nan
    return 100 * (line - weighted_quantile(*zip(*poor, strict=True), 0.5)) / line


def design_variance(scores, stratum, cluster, fraction=None):
    """Variance of Σ scores: PSU totals about the mean of their stratum.

    One PSU in all that was not taken with certainty has nothing to be compared with: nan.
    """
    totals = {}
    for s, h, c in zip(scores, stratum, cluster, strict=True):
        totals[h, c] = totals.get((h, c), 0.0) + s
    if len(totals) == 1 and (fraction or {}).get(next(iter(totals))[0], 0.0) < 1:
        return math.nan
    every = math.fsum(totals.values()) / len(totals)
    variance = 0.0
    for h in {h for h, _ in totals}:
        u = [t for (g, _), t in totals.items() if g == h]
        m = len(u)
        f = (fraction or {}).get(h, 0.0)
        centre = math.fsum(u) / m if m > 1 else every
        variance += (1 - f) * (m / (m - 1) if m > 1 else 1) * math.fsum((t - centre) ** 2 for t in u)
    return variance


def jackknife_variance(function, x, w, stratum, cluster):
    full, variance = function(x, w), 0.0
    for h in set(stratum):
        units = sorted({c for g, c in zip(stratum, cluster, strict=True) if g == h})
        m = len(units)
        for left in units if m > 1 else []:
            again = [
                0.0 if (g, c) == (h, left) else b * m / (m - 1) if g == h else b
                for b, g, c in zip(w, stratum, cluster, strict=True)
            ]
            variance += (m - 1) / m * (function(x, again) - full) ** 2
    return variance


def bootstrap_weights(uniforms, first, size, base, gain, cluster, w):
    """One set of weights: draw j takes a PSU of its stratum, PSUs numbered by stratum."""
    counts = [0] * len(first)
    for u, start, m in zip(uniforms, first, size, strict=True):
        if m > 0:
            counts[start + int(u * m)] += 1
    return [b * (base[c] + gain[c] * counts[c]) for b, c in zip(w, cluster, strict=True)]
