"""The order in which values change hands, drawn from a regression in each stratum."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Bools, Floats

_LINEAR = np.eye(1, 21)[0]  # weights of the Hermite polynomials in a variable that stays as it is
_POINTS = 2_000  # at which a function of a normal variable is known


class Correlations(StrEnum):
    """Which correlations stay: of ranks (Spearman's), or of normal scores."""

    RANKS = "ranks"
    SCORES = "scores"


@dataclass(frozen=True, slots=True)
class Predictor:
    """A column that is a number, or with levels a category; None, if it is one, comes first among them."""

    name: str
    levels: tuple[str | None, ...] | None = None
    has_missing: bool = False

    @property
    def coefficients(self) -> int:
        """Of a number one, and one of a dummy for missing values; the first category needs no dummy."""
        return 1 + self.has_missing if self.levels is None else max(len(self.levels) - 1, 0)

    def of(self, column: pl.Series) -> Floats:
        """Normal scores of a stratum's numbers, or dummies: [n, coefficients]."""
        if self.levels is None:
            scores = _normal_scores(column)
            missing = np.isnan(scores)
            parts = [np.where(missing, 0.0, scores), missing.astype(np.float64)]
            return np.column_stack(parts[: self.coefficients])
        text = column.cast(pl.String)
        dummies = [text.eq_missing(pl.Series([level], dtype=pl.String)).to_numpy() for level in self.levels]
        return np.column_stack([np.empty((len(column), 0)), *dummies[1:]]).astype(np.float64)


@dataclass(frozen=True, slots=True)
class _Design:
    """Normal scores of numbers, and dummies of categories and of missing values: [n, m]."""

    columns: Floats
    is_number: Bools


@dataclass(frozen=True, slots=True)
class ShuffledOrder:
    """How the values of a stratum change hands. Each stratum draws from a stream of its own."""

    predictors: tuple[Predictor, ...]
    correlations: Correlations
    seed: int

    @property
    def coefficients(self) -> int:
        """One for each score and dummy, and a constant."""
        return 1 + sum(one.coefficients for one in self.predictors)

    def shuffled(
        self, variables: Sequence[pl.Series], predictors: Sequence[pl.Series], stratum: int
    ) -> tuple[list[pl.Series], dict[str, Any]]:
        """The columns of a stratum, its records in the order of the ids, with their values in other places.

        And what is to be added up: records, the share explained of each column, and values changed.
        """
        n = len(variables[0])
        rng = np.random.default_rng([self.seed, stratum])
        scores = np.column_stack([_normal_scores(column) for column in variables])
        draw = _by_ranks if self.correlations is Correlations.RANKS else _by_scores
        drawn, explained = draw(scores, self._design(predictors, n), rng)
        made = []
        for j, column in enumerate(variables):
            places = np.arange(n)
            present = np.flatnonzero(~np.isnan(scores[:, j]))
            receiving = present[np.argsort(drawn[present, j], kind="stable")]
            places[receiving] = present[column.gather(present).arg_sort().to_numpy()]
            made.append(column.gather(places))
        changed = sum(int((new != old).sum()) for new, old in zip(made, variables, strict=True))
        return made, {"records": n, "explained": explained.tolist(), "changed": changed}

    def _design(self, columns: Sequence[pl.Series], n: int) -> _Design:
        parts = [one.of(column) for one, column in zip(self.predictors, columns, strict=True)]
        first = [
            np.arange(one.coefficients) == 0 if one.levels is None else np.zeros(one.coefficients, dtype=bool)
            for one in self.predictors
        ]
        return _Design(
            np.hstack([np.empty((n, 0)), *parts]), np.concatenate([np.empty(0, dtype=bool), *first])
        )


def _normal_scores(column: pl.Series) -> Floats:
    """Φ⁻¹((rank − ½)/n) of the present values; nan where missing."""
    from scipy.special import ndtri

    rank = column.rank("average").cast(pl.Float64).to_numpy()
    return np.asarray(ndtri((rank - 0.5) / max(len(column) - column.null_count(), 1)))


def _by_ranks(scores: Floats, design: _Design, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Drawn scores that keep rank correlations, and the share explained of each column."""
    n, q = scores.shape
    s = _standardised(design.columns)
    matrix = _normal_correlations(scores, design)
    values, vectors = np.linalg.eigh(matrix[q:, q:])
    used = values > 1e-9 * max(len(values), 1)  # what predictors repeat is left out
    inverse = (vectors[:, used] / values[used]) @ vectors[:, used].T
    coefficients = inverse @ matrix[q:, :q]
    left = matrix[:q, :q] - matrix[:q, q:] @ coefficients
    values, vectors = np.linalg.eigh(left)
    noise = rng.standard_normal((n, q)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return s @ coefficients + noise, np.clip(1 - np.diag(left), 0.0, 1.0)


def _normal_correlations(scores: Floats, design: _Design) -> Floats:
    """Of the variables and then the predictors: those of normal variables with their rank correlations.

    Pairs of records in which both are present; a missing predictor, which has a dummy, counts as the middle.
    """
    from scipy.special import ndtr

    ranks = ndtr(np.hstack([scores, design.columns])) - 0.5
    is_number = np.append(np.ones(scores.shape[1], dtype=bool), design.is_number)
    ranks[:, ~is_number] = design.columns[:, ~design.is_number]
    missing = np.isnan(ranks)
    matrix = np.zeros((len(is_number), len(is_number)))
    if not missing.any():
        matrix = _standardised(ranks).T @ _standardised(ranks) / max(len(ranks), 1)
    else:
        for i in range(len(is_number)):
            for j in range(i):
                both = _standardised(ranks[~missing[:, i] & ~missing[:, j]][:, [i, j]])
                matrix[i, j] = matrix[j, i] = both[:, 0] @ both[:, 1] / max(len(both), 1)
    shapes = np.column_stack(
        [_shape(ranks[~missing[:, j], j]) if is_number[j] else _LINEAR for j in range(len(is_number))]
    )
    columns, q = _standardised(design.columns), scores.shape[1]
    for i in range(len(is_number)):
        for j in np.flatnonzero(is_number[:i] | is_number[i]).tolist():
            matrix[i, j] = matrix[j, i] = _of_normal_variables(matrix[i, j], shapes[:, i] * shapes[:, j])
    # ties make the scores of a predictor follow its ranks more closely than a normal variable would
    follows = (columns * _standardised(ranks[:, q:])).mean(axis=0)
    tied = design.is_number & (follows > 0) & np.array([_has_ties(s) for s in columns.T], dtype=bool)
    part = np.where(tied, shapes[0, q:] / np.where(tied, follows, 1.0), 1.0)
    every = np.append(np.ones(q), part)
    matrix = np.clip(matrix * np.outer(every, every), -1.0, 1.0)
    np.fill_diagonal(matrix, 1.0)
    # pairs of their own need not fit together: the nearest matrix that is one of correlations
    values, vectors = np.linalg.eigh(matrix)
    nearest = (vectors * np.maximum(values, 0.0)) @ vectors.T
    size = np.sqrt(np.diag(nearest))
    return np.asarray(nearest / np.outer(size, size))


def _shape(ranks: Floats) -> Floats:
    """The weights of the Hermite polynomials 1, 2, … in the ranks as a function of a normal variable.

    Without ties their squares are those of (6/π)·arcsin(ρ/2), the first √(3/π). Ties make a step of the
    function, and the first weight smaller.
    """
    from scipy.special import binom, ndtri

    if not len(ranks) or ranks.max() == ranks.min():
        return np.asarray(_LINEAR)
    if not _has_ties(ranks):
        odd = np.arange(0, len(_LINEAR), 2)
        half = odd // 2
        squares = 6 / np.pi * binom(odd, half) / 4.0**half / (odd + 1) / 2.0 ** (odd + 1)
        continuous = np.zeros(len(_LINEAR))
        continuous[odd] = np.sqrt(squares) * (-1.0) ** half
        return continuous
    middle = (np.arange(_POINTS) + 0.5) / _POINTS
    z = ndtri(middle)
    function = _standardised(np.sort(ranks)[(middle * len(ranks)).astype(np.int64)][:, None])[:, 0]
    before, now, weights = np.ones(_POINTS), z, np.empty(len(_LINEAR))
    for k in range(len(_LINEAR)):
        weights[k] = function @ now / _POINTS
        before, now = now, (z * now - np.sqrt(k + 1) * before) / np.sqrt(k + 2)
    return np.asarray(weights)


def _has_ties(values: Floats) -> bool:
    return len(np.unique(values)) < len(values)


def _of_normal_variables(correlation: float, weights: Floats) -> float:
    """The correlation ρ of two normal variables at which functions of them have this one: Σ w_k ρ^k."""
    rho = np.linspace(-1, 1, 401)
    made = np.maximum.accumulate(np.polynomial.polynomial.polyval(rho, np.append(0.0, weights)))
    return float(np.interp(correlation, made, rho))


def _standardised(columns: Floats) -> Floats:
    """With mean 0 and variance 1 (divisor n); a column of one value becomes 0."""
    if not len(columns):
        return columns
    centred = columns - columns.mean(axis=0)
    size = np.sqrt((centred**2).mean(axis=0))
    return np.asarray(centred / np.where(size > 1e-12, size, 1.0))


def _by_scores(scores: Floats, design: _Design, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Fitted scores with new residuals, and the share explained of each column."""
    n, q = scores.shape
    predictors = np.hstack([np.ones((n, 1)), design.columns])
    fitted = np.zeros((n, q))
    residuals = np.full((n, q), np.nan)
    spread, explained = np.zeros(q), np.zeros(q)
    for j in range(q):
        present = ~np.isnan(scores[:, j])
        x, z = predictors[present], scores[present, j]
        # the pseudo-inverse leaves out what predictors repeat
        fitted[:, j] = predictors @ (np.linalg.pinv(x.T @ x, hermitian=True) @ (x.T @ z))
        residuals[present, j] = z - fitted[present, j]
        left, total = (residuals[present, j] ** 2).sum(), ((z - z.mean()) ** 2).sum() if len(z) else 0.0
        spread[j] = np.sqrt(left / max(len(z) - predictors.shape[1], 1))
        explained[j] = max(0.0, 1 - left / total) if total > 0 else 0.0
    complete = residuals[~np.isnan(residuals).any(axis=1)]
    size = np.sqrt((complete**2).sum(axis=0))
    unit = complete / np.where(size > 0, size, 1.0)
    correlation = unit.T @ unit
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    noise = rng.standard_normal((n, q)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return fitted + noise * spread, explained
