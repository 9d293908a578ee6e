"""Linear, logistic and Poisson regression with model-based or design-based variances."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np

from sdckit._support.arrays import Bools, Floats
from sdckit._support.messages import join_names
from sdckit.errors import DataError
from sdckit.estimate.design import Design
from sdckit.estimate.formula import Matrix
from sdckit.estimate.replicates import Replicates
from sdckit.estimate.variance import Estimate, interval

_ALIASED = 1e-7  # length of a column that is left beside the columns before it, as a share of its own
FLAT = 1e-10  # derivatives of means are at least this: variances stay finite where outcomes are certain
SETTLED = 0.3  # a predictor that still moves by more goes on without limit
_CERTAIN = 1e-7  # mean derivative of the means along a coefficient, below which it goes on without limit
_LARGEST = 1e150  # squares of larger numbers overflow
_ROUNDING = 1e-12  # what is left of an outcome is rounding where it is a smaller share of it


class Family(StrEnum):
    """The model: linear, or generalised with logit or log link."""

    OLS = "ols"
    LOGIT = "logit"
    POISSON = "poisson"


class Spread(StrEnum):
    """Variance of coefficients: of the model, of the design, or by replicates; auto: the design's, if any."""

    AUTO = "auto"
    MODEL = "model"
    DESIGN = "design"
    REPLICATES = "replicates"


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted regression; coefficients are nan where earlier columns determine them."""

    names: tuple[str, ...]
    coefficients: Floats
    covariance: Floats
    degrees: float
    fitted: Floats
    weights: Floats
    records: int
    r_squared: float
    notes: tuple[str, ...]
    exact: bool = False  # nothing but rounding is left of the outcome
    unlimited: Bools | None = None  # coefficients that grow without limit

    def estimates(self, level: float) -> dict[str, Estimate]:
        """Every coefficient that could be estimated, with its interval."""
        spread = np.diag(self.covariance)
        return {
            name: interval(float(b), float(v), self.degrees, level)
            for name, b, v in zip(self.names, self.coefficients, spread, strict=True)
            if np.isfinite(b)
        }

    @property
    def mean_fitted(self) -> float:
        """Weighted mean of the fitted values."""
        return float(self.weights @ self.fitted / self.weights.sum())


def fit(matrix: Matrix, design: Design, *, family: Family = Family.OLS, by_design: bool = True) -> Fit:
    r"""Weighted maximum likelihood with sandwich variances.

    .. math:: V = A^{-1}\, \widehat{\mathrm{cov}}\Big(\sum_i w_i (y_i-\mu_i) x_i\Big) A^{-1},\ A = X^\top W X

    `by_design`: the covariance of the scores is that of the design, PSUs within strata, with PSUs less strata
    degrees of freedom (Binder 1983). Otherwise σ²A⁻¹ for linear models, with n − p degrees of freedom, and
    A⁻¹ with weights of mean 1 for the others. Records left out for missing values count as outside the
    domain of the design.
    """
    y, x = matrix.y, matrix.x
    if len(y) <= x.shape[1] and len(y) <= 1:
        raise DataError("Too few complete records for a regression.", given=len(y))
    largest = max(np.abs(y).max(initial=0.0), np.abs(x).max(initial=0.0))
    check_numbers(largest, y.min(), y.max(), family)
    w = design.weights[matrix.kept]
    if family is not Family.OLS and not by_design:
        w = w / w.mean()
    kept = independent(x * np.sqrt(w)[:, None])
    solve = _linear if family is Family.OLS else partial(_generalised, family=family)
    beta, mu, working = solve(x[:, kept], y, w)
    bread = _bread(x[:, kept], working)
    endless = np.zeros(len(beta), dtype=np.bool_)
    if family is not Family.OLS:
        endless = without_limit(bread, _bread(x[:, kept], w))
    names = [name for name, there in zip(matrix.names, kept, strict=True) if there]
    notes = (*certainty_note(names, endless), *saturated_note(len(y), len(beta)))
    free = max(len(y) - int(kept.sum()), 1)
    sigma2 = float(w @ (y - mu) ** 2 / free)
    around = float(w @ (y - w @ y / w.sum()) ** 2)
    if by_design:
        scores = np.zeros((len(design.weights), int(kept.sum())))
        scores[matrix.kept] = (w * (y - mu))[:, None] * x[:, kept]
        meat, degrees = design.covariance(scores, matrix.kept), float(design.degrees_of_freedom)
        covariance = bread @ meat @ bread * (np.nan if design.within_one_unit(matrix.kept) else 1.0)
    elif family is Family.OLS:
        covariance, degrees = sigma2 * bread, float(free)
    else:
        covariance, degrees = bread, np.inf
    exact = is_exact(float(w @ (y - mu) ** 2), float(w @ y**2))
    if exact:
        beta, covariance = without_rounding(
            beta, covariance, bread, float(working @ (x[:, kept] @ beta) ** 2)
        )
    if len(y) <= len(beta):
        covariance = np.full_like(bread, np.nan)
    every, spread, unlimited = placed(beta, covariance, endless, kept)
    return Fit(
        matrix.names, every, spread, degrees, mu, w, len(y),
        1 - float(w @ (y - mu) ** 2) / around if around > 0 else np.nan, notes, exact, unlimited,
    )  # fmt: skip


def placed(beta: Floats, covariance: Floats, endless: Bools, kept: Bools) -> tuple[Floats, Floats, Bools]:
    """Coefficients, covariances and which have no limit, at their places among all columns.

    What has no limit has no covariance.
    """
    every, spread = np.full(len(kept), np.nan), np.full((len(kept), len(kept)), np.nan)
    unlimited = np.zeros(len(kept), dtype=np.bool_)
    every[kept], unlimited[kept] = beta, endless
    spread[np.ix_(kept, kept)] = np.where(endless | endless[:, None], np.nan, covariance)
    return every, spread, unlimited


def without_limit(bread: Floats, plain: Floats) -> Bools:
    """Which coefficients rest on outcomes that are predicted with certainty (Albert & Anderson 1984).

    `bread`: (XᵀWX)⁻¹ with working weights, `plain` with the weights themselves. Their ratio is one over the
    mean derivative along a coefficient, and so over the mean variance of a count or of yes and no there.
    """
    return np.asarray(np.diag(bread) * _CERTAIN > np.diag(plain))


def is_exact(left: float, held: float) -> bool:
    """Whether a model leaves nothing but rounding of the weighted squares that an outcome has."""
    return left <= _ROUNDING**2 * held


def without_rounding(beta: Floats, covariance: Floats, bread: Floats, size: float) -> tuple[Floats, Floats]:
    """The coefficients of an exact model, those that are rounding as 0, and 0 for variances.

    `size`: weighted squares of the predicted values; √(size·(XᵀWX)⁻¹_jj) is the largest that b_j could be.
    """
    largest = np.sqrt(size * np.diag(bread))
    return np.where(np.abs(beta) <= _ROUNDING * largest, 0.0, beta), np.where(
        np.isnan(covariance), np.nan, 0.0
    )


def saturated_note(records: float, coefficients: int) -> tuple[str, ...]:
    """A note where there are no more records than coefficients."""
    if records > coefficients:
        return ()
    return ("No more records than coefficients: nothing says how these vary.",)


def with_replicates(found: Fit, matrix: Matrix, repeated: Replicates, *, family: Family) -> Fit:
    r"""The fit with the variances that replicate weights give its coefficients.

    .. math:: V = \sum_r s_r (b_r - c)(b_r - c)^\top

    where b_r are the coefficients under the r-th weights, s_r what its square counts, and c the coefficients
    under the full weights or the mean of the replicates (Wolter 2007, ch. 3 to 5). A replicate that lacks a
    term, because no record of its category has weight, is left out and the others count for it.
    """
    if found.exact:  # under any weights
        return replace(found, degrees=repeated.degrees)
    there = np.isfinite(found.coefficients)
    x, y = matrix.x[:, there], matrix.y
    solve = _linear if family is Family.OLS else partial(_generalised, family=family)
    drawn = np.full((len(repeated.scale), int(there.sum())), np.nan)
    for row, weights in enumerate(one for chunk in repeated for one in chunk):
        w = weights[matrix.kept]
        some = w > 0
        if some.any() and independent(x[some] * np.sqrt(w[some])[:, None]).all():
            drawn[row] = solve(x[some], y[some], w[some])[0]
    covariance = np.full_like(found.covariance, np.nan)
    covariance[np.ix_(there, there)] = repeated.covariance(drawn, found.coefficients[there])
    if found.unlimited is not None:
        covariance[found.unlimited] = covariance[:, found.unlimited] = np.nan
    lost = int((~np.isfinite(drawn).all(axis=1)).sum())
    said = (f"{lost:,} of {len(drawn):,} replicates lack a term and are left out.",) if lost else ()
    return replace(found, covariance=covariance, degrees=repeated.degrees, notes=(*found.notes, *said))


def check_numbers(largest: float, low: float, high: float, family: Family) -> None:
    """Refuse numbers that overflow, and outcomes from `low` to `high` that the family does not have."""
    if largest > _LARGEST:
        raise DataError(
            "The numbers are too large for a regression.",
            given=f"{largest:g}",
            allowed=f"up to {_LARGEST:g}",
            hint="Give them in another unit.",
        )
    if family is Family.LOGIT and (low < 0 or high > 1):
        raise DataError(
            "family='logit' needs outcomes 0 and 1.",
            given="numbers below 0 or above 1",
            hint="Of the codes 1 and 2 of a column answer, write I(answer - 1) ~ … in the formula.",
        )
    if family is Family.POISSON and low < 0:
        raise DataError("family='poisson' needs counts.", given="negative numbers", allowed="0 or more")


def certainty_note(names: Sequence[str], endless: Bools) -> tuple[str, ...]:
    """A note where coefficients grow without limit."""
    if not endless.any():
        return ()
    which = join_names([name for name, one in zip(names, endless, strict=True) if one], 6)
    return (
        f"Some outcomes are predicted with certainty, so that coefficients grow without limit and have no "
        f"interval: {which}.",
    )


def independent(x: Floats) -> Any:
    """[p] Which columns the ones before them do not determine; the first of a dependent group stays."""
    kept = (x != 0).any(axis=0)
    size = np.sqrt(np.einsum("ij,ij->j", x, x))
    while kept.any():
        left = np.abs(np.diag(np.linalg.qr(x[:, kept], mode="r")))
        places = np.flatnonzero(kept)
        bad = np.ones(len(places), dtype=np.bool_)  # more columns than records: the last ones
        bad[: len(left)] = left <= _ALIASED * size[places[: len(left)]]
        if not bad.any():
            break
        kept[places[np.argmax(bad)]] = False
    return kept


def _linear(x: Floats, y: Floats, w: Floats) -> tuple[Floats, Floats, Floats]:
    root = np.sqrt(w)
    q, r = np.linalg.qr(x * root[:, None])
    beta = np.linalg.solve(r, q.T @ (y * root))
    return beta, x @ beta, w


def _bread(x: Floats, working: Floats) -> Floats:
    """(XᵀWX)⁻¹ through the triangle of a QR decomposition."""
    r = np.linalg.qr(x * np.sqrt(working)[:, None], mode="r")
    inverse = np.linalg.inv(r)
    return np.asarray(inverse @ inverse.T)


def _generalised(x: Floats, y: Floats, w: Floats, family: Family) -> tuple[Floats, Floats, Floats]:
    from sdckit.models.glm import LOGIT, POISSON, newton

    response = POISSON if family is Family.POISSON else LOGIT
    beta, eta, _, _ = newton(
        x, y, w, response, lambda left, v: _linear(x, left, v)[0], least=FLAT, settle=SETTLED
    )
    mu, slope = response.mean(eta)
    return beta, mu, w * np.maximum(slope, FLAT)
