"""The informed intruder by his definition: plain loops for the channel, all persons against all records."""

from itertools import permutations
from math import log

import numpy as np

PRIORS = (5, 20, 100, 1000, 1e5)


def channel(x, y, size):
    """m[x][y] by stay, blank and move; the last row is missing, the last column blank. No maps."""
    pairs = [(size if a < 0 else int(a), size if b < 0 else int(b)) for a, b in zip(x, y, strict=True)]
    known = [(a, b) for a, b in pairs if a != size]
    outcome = {a: [0, 0, 0] for a in range(size)}
    for a, b in known:
        outcome[a][0 if a == b else 1 if b == size else 2] += 1
    shares = [sum(row[kind] for row in outcome.values()) / len(known) for kind in range(3)]
    pull = [0.0] * size
    for value in range(size):
        if any(b == value for _, b in pairs):
            pull[value] = 0.5 + sum(b == value and a != value for a, b in pairs)

    def fit(k):
        total = 0.0
        for row in outcome.values():
            for count, share in zip(row, shares, strict=True):
                if count:
                    total += count * log((count - 1 + k * share) / (sum(row) - 1 + k))
        return total

    k = max(reversed(PRIORS), key=fit)
    anybody_moved = any(a != b and b != size for a, b in pairs)
    m = np.zeros((size + 1, size + 1))
    for a in range(size):
        stay, blank, _ = (
            (c + k * s) / (sum(outcome[a]) + k) for c, s in zip(outcome[a], shares, strict=True)
        )
        others = sum(pull) - pull[a]
        if not anybody_moved or others == 0 or 1 - stay - blank < 1e-12:
            stay, blank = stay / (stay + blank), blank / (stay + blank)
        else:
            for b in range(size):
                m[a, b] = (1 - stay - blank) * pull[b] / others
        m[a, a], m[a, size] = stay, blank
    filled = sum(a == size and b != size for a, b in pairs)
    still = sum(a == size and b == size for a, b in pairs)
    m[size, size] = (still + 0.5) / (still + filled + 1) if filled else 1.0
    if filled:
        for b in range(size):
            m[size, b] = (1 - m[size, size]) * pull[b] / sum(pull)
    return m


def likelihoods(x, y, matrices):
    """L[person, record]."""
    result = np.ones((len(x), len(y)))
    for v, m in enumerate(matrices):
        result *= m[np.ix_(x[:, v], y[:, v])]  # −1 is the last row and the last column
    return result


def attack(likelihood, own, weights=None, everybody_in_file=True):
    """Person by person; own[i] is the number of the person's record, −1 if there is none."""
    persons, records = likelihood.shape
    weights = np.ones(records) if weights is None else weights
    expected = likelihood.sum(axis=0)
    share = likelihood / np.where(expected > 0, expected, 1.0)
    odds = share / np.maximum(1 - share, 1e-12)
    out = {name: np.zeros(persons) for name in ("found", "likely", "believed", "posterior", "size", "weight")}
    rho = np.zeros_like(odds)
    for i in range(persons):
        if odds[i].sum() > 0:
            rho[i] = odds[i] / odds[i].sum() * (1.0 if everybody_in_file else min(1.0, share[i].sum()))
        best = (share[i] >= (1 - 1e-8) * share[i].max()) & (share[i] > 0)
        likely = (likelihood[i] >= (1 - 1e-8) * likelihood[i].max()) & (likelihood[i] > 0)
        out["size"][i], out["weight"][i] = best.sum(), weights[best].sum()
        out["believed"][i] = rho[i].max()
        if own[i] >= 0:
            out["found"][i] = best[own[i]] / max(best.sum(), 1)
            out["likely"][i] = likely[own[i]] / max(likely.sum(), 1)
            out["posterior"][i] = rho[i, own[i]]
    return out | {"rho": rho, "odds": odds}


def exact_posterior(likelihood):
    """P(record j is person i's) over all permutations of few records."""
    n = len(likelihood)
    result = np.zeros((n, n))
    for order in permutations(range(n)):
        chance = np.prod([likelihood[i, order[i]] for i in range(n)])
        for i in range(n):
            result[i, order[i]] += chance
    return result / result.sum(axis=1, keepdims=True)


def infer(odds, rho, own, true, shown, size, baseline):
    """q of the true value, the guess, and q without the own record, person by person."""
    backward = np.zeros((size, size + 1))
    for s, z in zip(true, shown, strict=True):
        if s >= 0:
            backward[s, z] += 1
    backward /= np.maximum([[np.sum(shown == z) for z in (*range(size), -1)]], 1)
    records = backward[:, shown]  # [s, record]; only where persons are in the order of their records
    chance, right, without = np.zeros(len(true)), np.zeros(len(true)), np.zeros(len(true))
    for i, s in enumerate(true):
        q = records @ rho[i] + (1 - rho[i].sum()) * baseline
        best = q >= q.max() * (1 - 1e-9)
        chance[i], right[i] = q[s], best[s] / best.sum()
        others = odds[i].copy()
        others[own[i]] = 0
        without[i] = records[s] @ others / max(others.sum(), 1) + baseline[s] * max(1 - others.sum(), 0)
    return chance, right, without


def household_likelihoods(x, y, household, matrices, shared, by_place=False):
    """L[h, g] of households: the mean over all ways to match members; shared keys count once."""
    labels = np.unique(household)
    rows = [np.flatnonzero(household == label) for label in labels]
    result = np.zeros((len(labels), len(labels)))
    for h, mine in enumerate(rows):
        for g, theirs in enumerate(rows):
            if len(mine) != len(theirs):
                continue
            chance = 1.0
            for v in shared:
                chance *= matrices[v][x[mine[0], v], max(y[theirs, v])]
            ways = [tuple(range(len(mine)))] if by_place else list(permutations(range(len(mine))))
            total = 0.0
            for way in ways:
                product = 1.0
                for a, b in enumerate(way):
                    for v in range(x.shape[1]):
                        if v not in shared:
                            product *= matrices[v][x[mine[a], v], y[theirs[b], v]]
                total += product
            result[h, g] = chance * total / len(ways)
    return result
