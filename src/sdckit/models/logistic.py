"""Logistic regression by Newton's method, for designs with many rows and mostly empty columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky
from scipy.sparse import csr_matrix
from scipy.special import expit

from sdckit._support.arrays import Bools, Floats
from sdckit.errors import DataError
from sdckit.kernels._jit import jit
from sdckit.kernels._threads import one_thread

_ALIASED = 1e-10  # 1 − R² of a column on the columns before it, below which it is left out
_RIDGE = 1e-12  # on the scaled matrix: keeps steps finite in directions that separate the outcomes
_CLOSE = 1e-12  # relative change of the deviance at which the fit is done
_CERTAIN = 1e-6  # fitted probabilities this near 0 or 1 are a sign of separation


@dataclass(frozen=True, slots=True)
class Logistic:
    """A fitted logistic regression.

    coefficients: nan for columns left out because earlier ones determine them. deviance: −2 log-likelihood.
    separated: some outcomes are predicted with certainty; coefficients then grow without limit, while the
    fitted probabilities do settle. converged: the deviance stopped changing within the steps allowed.
    """

    coefficients: Floats
    fitted: Floats
    deviance: float
    rank: int
    steps: int
    converged: bool
    separated: bool


def logistic(x: Any, y: Floats, weights: Floats | None = None, *, max_steps: int = 100) -> Logistic:
    """Maximum likelihood of P(y=1) = 1/(1+exp(−xβ)); the design must hold its own column of ones.

    x: array or scipy sparse matrix, rows × columns. y: outcomes 0 to 1 (a share stands for a group of records
    with the same row of x). weights: positive, ones by default; a weight of 2 is the record twice.

    Columns that earlier columns determine are left out, so the first of them stays, as R does.

    >>> fit = logistic(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([0.25, 0.5]))
    >>> fit.coefficients.round(6).tolist()  # logit ¼ = −ln 3, logit ½ = 0
    [-1.098612, 1.098612]
    """
    design = csr_matrix(x, dtype=np.float64)
    if not design.has_sorted_indices:
        design = design.sorted_indices()  # a copy: the caller's stays as it is
    w = np.ones(design.shape[0]) if weights is None else np.asarray(weights, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    if not (np.isfinite(design.data).all() and np.isfinite(y).all() and np.isfinite(w).all()):
        raise DataError("Logistic regression needs finite numbers.", hint="Fill or leave out missing values.")
    if design.shape[0] != len(y) or len(y) != len(w):
        raise DataError("The design, the outcomes and the weights must have the same length.")
    kept = independent_columns(gram(design, w))
    used = design if kept.all() else design[:, np.flatnonzero(kept)]
    with one_thread():  # for matrices of this size threads wait longer than they work
        beta, steps, converged = _newton(used, y, w, max_steps)
    eta = used @ beta
    fitted = expit(eta)
    coefficients = np.full(design.shape[1], np.nan)
    coefficients[kept] = beta
    separated = bool((fitted * (1 - fitted) < _CERTAIN).any())
    return Logistic(coefficients, fitted, _deviance(eta, y, w), int(kept.sum()), steps, converged, separated)


def _newton(x: csr_matrix, y: Floats, w: Floats, max_steps: int) -> tuple[Floats, int, bool]:
    beta = np.zeros(x.shape[1])
    transposed = x.T.tocsr()
    eta = np.zeros(len(y))
    now = _deviance(eta, y, w)
    for step in range(1, max_steps + 1):
        p = expit(eta)
        move = _solve(gram(x, w * p * (1 - p)), transposed @ (w * (y - p)))
        before = now
        for _ in range(40):  # halve steps that overshoot
            eta = x @ (beta + move)
            now = _deviance(eta, y, w)
            if now <= before * (1 + 1e-14):
                break
            move = move / 2
        else:
            return beta, step, True  # no step improves: rounding error is all that is left
        beta = beta + move
        if before - now <= _CLOSE * (now + 0.1):
            return beta, step, True
    return beta, max_steps, False


def _deviance(eta: Floats, y: Floats, w: Floats) -> float:
    return float(2 * np.sum(w * (np.logaddexp(0.0, eta) - y * eta)))


def _solve(a: Floats, b: Floats) -> Floats:
    """The Newton step from a scaled to a unit diagonal, so that nearly certain rows do no harm."""
    root = np.sqrt(np.diag(a))
    root[root == 0] = 1.0
    scaled = a / root / root[:, None]
    ridge = _RIDGE
    while True:
        try:
            factor = cho_factor(scaled + ridge * np.eye(len(b)), lower=True, check_finite=False)
            return np.asarray(cho_solve(factor, b / root, check_finite=False) / root)
        except LinAlgError:
            ridge *= 100


def gram(x: csr_matrix, w: Floats) -> Floats:
    """XᵀWX of a sparse design with sorted indices; the work is Σ (entries in a row)², not rows·columns²."""
    half = np.zeros((x.shape[1], x.shape[1]))
    _accumulate(x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data, w, half)
    return half + np.tril(half, -1).T


@jit
def _accumulate(starts: Any, columns: Any, values: Any, w: Floats, half: Floats) -> None:
    for i in range(len(w)):
        for a in range(starts[i], starts[i + 1]):
            scaled = w[i] * values[a]
            if scaled == 0.0:
                continue
            row = columns[a]
            for b in range(starts[i], a + 1):
                half[row, columns[b]] += scaled * values[b]


def independent_columns(a: Floats) -> Bools:
    """Which columns the ones before them do not determine, from the matrix XᵀWX."""
    diagonal = np.diag(a).copy()
    there = diagonal > 0
    root = np.sqrt(np.where(there, diagonal, 1.0))
    scaled = a / root / root[:, None]
    try:
        if there.all() and (np.diag(cholesky(scaled, lower=True)) ** 2 > _ALIASED).all():
            return there
    except LinAlgError:
        pass
    kept = np.zeros(len(a), dtype=np.bool_)
    _eliminate(np.ascontiguousarray(scaled), there, kept, _ALIASED)
    return kept


@jit
def _eliminate(a: Floats, there: Bools, kept: Bools, tolerance: float) -> None:
    """Cholesky in the order of the columns, passing over those with nothing new (changes a and kept)."""
    k = len(a)
    for j in range(k):
        if not there[j]:
            continue
        left = a[j, j]
        for c in range(j):
            if kept[c]:
                left -= a[j, c] ** 2
        if left <= tolerance:
            continue
        kept[j] = True
        root = np.sqrt(left)
        for i in range(j + 1, k):
            total = a[i, j]
            for c in range(j):
                if kept[c]:
                    total -= a[i, c] * a[j, c]
            a[i, j] = total / root
        a[j, j] = root
