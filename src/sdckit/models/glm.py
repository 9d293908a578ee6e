"""Generalised linear models with canonical links by Newton's method.

`newton` serves any design that comes with a solver of weighted least squares; `logistic` is for designs with
many rows and mostly empty columns.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

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
CLOSE = 1e-12  # relative change of the deviance at which the fit is done
STEPS = 100
HALVINGS = 40  # of a step that overshoots
_TINY = 1e-300  # where a derivative is 0 an outcome is predicted exactly: it has no say in the next step
_CERTAIN = 1e-6  # fitted probabilities this near 0 or 1 are a sign of separation


class Response(NamedTuple):
    """A kind of outcome: the predictor for a mean, means with their derivatives, and −2 log-likelihood.

    The predictor of a mean is only roughly that, for a start. The log-likelihood lacks a constant.
    """

    predictor: Callable[[Floats], Floats]
    mean: Callable[[Floats], tuple[Floats, Floats]]
    deviance: Callable[[Floats, Floats, Floats], float]


def _probabilities(eta: Floats) -> tuple[Floats, Floats]:
    p = np.asarray(expit(eta))
    return p, p * (1 - p)


def _counts(eta: Floats) -> tuple[Floats, Floats]:
    mu = np.exp(np.clip(eta, -700, 700))
    return mu, mu


LOGIT = Response(
    lambda mean: np.log((mean + 0.25) / (1.25 - mean)),
    _probabilities,
    lambda eta, y, w: float(2 * np.sum(w * (np.logaddexp(0.0, eta) - y * eta))),
)
POISSON = Response(
    lambda mean: np.log(mean + 0.1),
    _counts,
    lambda eta, y, w: float(2 * np.sum(w * (_counts(eta)[0] - y * eta))),
)


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


def logistic(x: Any, y: Floats, weights: Floats | None = None) -> Logistic:
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
        transposed = used.T.tocsr()

        def solve(residuals: Floats, v: Floats) -> Floats:
            return solve_step(gram(used, v), transposed @ (v * residuals))

        beta, eta, steps, converged = newton(used, y, w, LOGIT, solve)
    fitted = expit(eta)
    coefficients = np.full(design.shape[1], np.nan)
    coefficients[kept] = beta
    separated = bool((fitted * (1 - fitted) < _CERTAIN).any())
    return Logistic(
        coefficients, fitted, LOGIT.deviance(eta, y, w), int(kept.sum()), steps, converged, separated
    )


def newton(
    x: Any,
    y: Floats,
    w: Floats,
    response: Response,
    solve: Callable[[Floats, Floats], Floats],
    least: float = _TINY,
    settle: float = np.inf,
) -> tuple[Floats, Floats, int, bool]:
    """Coefficients, linear predictor, steps and whether the deviance stopped changing within STEPS steps.

    solve(residuals, weights): the coefficients of their weighted regression on x. Iterated weighted least
    squares, each step the regression of what is left, so that an inexact solver still ends at the maximum.
    Steps that overshoot are halved. `least`: derivatives of means are taken to be no smaller. `settle`: the
    end comes only when no predictor moves by more, but for those whose derivative is already that small.
    """
    eta = response.predictor((w @ y / w.sum() + y) / 2)
    left, beta, now = eta, np.zeros(x.shape[1]), np.inf
    for step in range(1, STEPS + 1):
        mu, slope = response.mean(eta)
        slope = np.maximum(slope, least)
        move = solve(left + (y - mu) / slope, w * slope)
        before, left = now, np.zeros(len(y))  # from the first step on eta is xβ
        for _ in range(HALVINGS):
            tried = x @ (beta + move)
            now = response.deviance(tried, y, w)
            if not now > before + 1e-14 * abs(before):
                break
            move = move / 2
        else:
            return beta, eta, step, True  # no step improves: rounding error is all that is left
        moved = np.abs(tried - eta)[slope > least].max(initial=0.0) if np.isfinite(settle) else 0.0
        beta, eta = beta + move, tried
        if before - now <= CLOSE * (abs(now) + 0.1) and moved <= settle:
            return beta, eta, step, True
    return beta, eta, STEPS, False


def solve_step(a: Floats, b: Floats) -> Floats:
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
