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
    return staged_variance(scores, stratum, [cluster], [fraction or {}])


def staged_variance(scores, stratum, units, fractions, rule="adjust", inside=None, in_domains=False):
    """Sum over stages: unit totals about the mean of their group, times what the stages before have drawn.

    units: for each stage the records' units. fractions: for each stage {group: sampling fraction}; a group is
    a stratum in the first stage, the path of units that leads to it in a later one.
    """
    n = len(scores)
    inside = range(n) if inside is None else [i for i in range(n) if inside[i]]
    group = [(h,) for h in stratum]
    reached = dict.fromkeys(group, 1.0)
    variance = 0.0
    for unit, fraction in zip(units, fractions, strict=True):
        own = [(*g, c) for g, c in zip(group, unit, strict=True)]
        share = {g: fraction.get(g, fraction.get(g[0] if len(g) == 1 else g, 0.0)) for g in group}
        variance += _stage(scores, group, own, share, reached, rule, inside, in_domains)
        reached = {u: reached[g] * share[g] for g, u in zip(group, own, strict=True)}
        group = own
    return variance


def _stage(scores, group, own, share, reached, rule, inside, in_domains):
    totals = {}
    for s, u in zip(scores, own, strict=True):
        totals[u] = totals.get(u, 0.0) + s
    every = math.fsum(totals.values()) / len(totals)
    met = {g: {own[i] for i in inside if group[i] == g} for g in group}
    added, known, there = 0.0, 0, 0
    for g in sorted(set(group)):
        u = [t for path, t in totals.items() if path[:-1] == g]
        m, f = len(u), share[g]
        single = f < 1 and (m == 1 or (in_domains and len(met[g]) == 1))
        there += bool(met[g])
        if single and rule == "average":
            continue
        known += bool(met[g])
        centre = math.fsum(u) / m
        if single and rule == "adjust":
            centre = every if len(totals) > 1 else math.nan
        factor = reached[g] * (1 - f) * (m / (m - 1) if m > 1 else 1)
        added += factor * math.fsum((t - centre) ** 2 for t in u)
    if there == known:
        return added
    return added * there / known if known else math.nan


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
