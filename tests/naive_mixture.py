"""Plain twins of the mixture code: EM with free covariances; a trimmed fit by trying all subsets."""

import math
from itertools import combinations

import numpy as np


def density(row, mean, covariance):
    away = row - mean
    square = away @ np.linalg.inv(covariance) @ away
    return math.exp(-0.5 * square) / math.sqrt((2 * math.pi) ** len(row) * np.linalg.det(covariance))


def em_free(x, posterior, steps):
    """The log-likelihood after every step of EM with a covariance of its own for each component (VVV)."""
    history = []
    for _ in range(steps):
        sizes = [sum(z[k] for z in posterior) for k in range(len(posterior[0]))]
        weights = [s / len(x) for s in sizes]
        means = [
            sum(z[k] * row for z, row in zip(posterior, x, strict=True)) / sizes[k] for k in range(len(sizes))
        ]
        covariances = [
            sum(z[k] * np.outer(row - means[k], row - means[k]) for z, row in zip(posterior, x, strict=True))
            / sizes[k]
            for k in range(len(sizes))
        ]
        posterior, total = [], 0.0
        for row in x:
            terms = [w * density(row, m, c) for w, m, c in zip(weights, means, covariances, strict=True)]
            total += math.log(sum(terms))
            posterior.append([t / sum(terms) for t in terms])
        history.append(total)
    return history


def best_subset(x, h):
    """The h rows with the smallest determinant of their covariance: the trimmed fit of one free normal."""
    return min(
        combinations(range(len(x)), h), key=lambda rows: np.linalg.det(np.cov(x[list(rows)].T, bias=True))
    )
