"""Logistic regression written down plainly: dense, one record at a time."""

import math

import numpy as np


def naive_logistic(x, y, w, steps=60):
    """Coefficients by Newton's method; the design must have full rank and the outcomes must overlap."""
    beta = np.zeros(len(x[0]))
    for _ in range(steps):
        score = np.zeros(len(beta))
        information = np.zeros((len(beta), len(beta)))
        for row, outcome, weight in zip(x, y, w, strict=True):
            row = np.asarray(row, dtype=float)
            p = 1 / (1 + math.exp(-float(row @ beta)))
            score += weight * (outcome - p) * row
            information += weight * p * (1 - p) * np.outer(row, row)
        beta = beta + np.linalg.solve(information, score)
    return beta
