"""Robust distances of a trimmed mixture: factors, p-values and the two-stage test."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from sdckit._support.arrays import Bools, Floats
from sdckit.models.mcd import consistency
from sdckit.models.mixture_families import Family
from sdckit.models.small_sample import SmallSample as SmallSample
from sdckit.models.small_sample import small_sample_factor
from sdckit.models.trimmed_mixture import TrimmedMixture, trimmed_mixture

_SIMULATED, _STARTS = 100, 5  # simulated normal samples behind a small-sample factor; starts of each fit


@dataclass(frozen=True, slots=True)
class RobustDistances:
    """Squared robust distances and p-values (n, G), and the test.

    rejected: whether each component has a record outside its simultaneous limit. p_value: the largest over
    the components, per record. atypical: the record is outside of every component. factors: c₁c₂ of each
    component, which its covariance is multiplied by.
    """

    squares: Floats
    p_values: Floats
    rejected: Bools
    p_value: Floats
    atypical: Bools
    factors: Floats


def robust_distances(
    fit: TrimmedMixture, *, alpha: float = 0.05, small_sample: SmallSample = SmallSample.FORMULA
) -> RobustDistances:
    r"""Distances of all records from every component, their p-values, and which records are atypical.

    .. math:: D_{gi}^2 = \frac{(x_i - \hat\mu_g)^T \hat\Sigma_g^{-1} (x_i - \hat\mu_g)}{c_1 c_2}

    with the consistency factor c₁ of Tallis for the share h_g/n_g and the small-sample factor c₂. Kept
    records are referred to ((n_g−1)²/n_g)·Beta(p/2, (n_g−p−1)/2), trimmed ones to
    ((n_g²−1)p/((n_g−p)n_g))·F(p, n_g−p).
    First stage: a component is rejected if any of its n_g records has a p-value below 1−(1−α)^{1/n_g}. Then
    the limit of the p-value for it is α for every record, otherwise it stays the simultaneous one. A record
    is atypical if its largest p-value over the components is below the limit of that component. A component
    of p + 1 records or fewer has no reference distribution: its p-values are 0 and it makes nothing typical.
    Reference: Foschi (2011); Wilks (1963); Chew (1966); Cerioli (2010).

    >>> rng = np.random.default_rng(1)
    >>> x = np.vstack([rng.normal(size=(90, 2)), [[9.0, 9.0]]])
    >>> found = robust_distances(trimmed_mixture(x, components=(1,)))
    >>> np.flatnonzero(found.p_value < 1e-6).tolist(), bool(found.atypical[90])
    ([90], True)
    """
    p, groups = fit.variables, fit.mixture.components
    squares, values = np.empty_like(fit.squares), np.zeros_like(fit.squares)
    rejected, limits, factors = np.zeros(groups, dtype=bool), np.empty(groups), np.empty(groups)
    for g, (h, n) in enumerate(zip(fit.kept_sizes.tolist(), fit.sizes.tolist(), strict=True)):
        factors[g] = _factor(n, h, p, small_sample)
        squares[:, g] = fit.squares[:, g] / factors[g]
        limits[g] = simultaneous(alpha, n)
        if n > p + 1:
            values[:, g] = p_values(squares[:, g], n, p, fit.kept)
            rejected[g] = bool((values[fit.component == g, g] < limits[g]).any())
            limits[g] = alpha if rejected[g] else limits[g]
    best = values.argmax(axis=1)
    largest = values[np.arange(len(values)), best]
    return RobustDistances(squares, values, rejected, largest, largest < limits[best], factors)


def p_values(squares: Floats, n: int, p: int, kept: Bools) -> Floats:
    """Upper tail probabilities of squared distances from a component of n records in p variables."""
    from scipy.stats import beta, f

    inside = beta.sf(squares * n / (n - 1) ** 2, p / 2, (n - p - 1) / 2)
    outside = f.sf(squares * (n - p) * n / ((n * n - 1) * p), p, n - p)
    return np.asarray(np.where(kept, inside, outside))


def cutoffs(level: float, n: int, p: int) -> tuple[float, float]:
    """The squared distances with this upper tail probability, for kept and for trimmed records.

    >>> [round(c, 4) for c in cutoffs(0.05, 40, 6)]
    [11.5163, 16.7917]
    """
    from scipy.stats import beta, f

    inside = (n - 1) ** 2 / n * beta.isf(level, p / 2, (n - p - 1) / 2)
    outside = (n * n - 1) * p / ((n - p) * n) * f.isf(level, p, n - p)
    return float(inside), float(outside)


def simultaneous(alpha: float, n: int) -> float:
    """The level of each of n tests with which none of them rejects with probability 1 − alpha."""
    return -math.expm1(math.log1p(-alpha) / n) if n > 0 else alpha


@cache
def simulated_factor(n: int, h: int, p: int) -> float:
    """1 / mean of |c₁Σ̂|^{1/p} over trimmed fits, h of n, to simulated standard normal samples.

    The consistency factor is taken out first, so that the product of both makes the determinant 1 on average.
    The draws are the same for the same n, h and p. At least p + 2 of the n records must be kept.
    """
    rng = np.random.default_rng((n, h, p))
    sizes: list[float] = []
    for _ in range(_SIMULATED):
        fit = trimmed_mixture(
            rng.normal(size=(n, p)),
            trim=(n - h) / n + 1e-12,
            components=(1,),
            families=(Family.EEE,),
            starts=_STARTS,
        )
        if fit is not None:
            sizes.append(float(np.linalg.det(fit.mixture.covariances[0])) ** (1 / p))
    return 1 / (consistency(h / n, p) * float(np.mean(sizes))) if sizes else 1.0


def _factor(n: int, h: int, p: int, small_sample: SmallSample) -> float:
    """What a covariance of h of the n records must be multiplied by."""
    if h == 0:
        return 1.0
    first = consistency(h / n, p)
    if small_sample is SmallSample.NONE:
        return first
    if small_sample is SmallSample.SIMULATION and h >= p + 2 and 2 * h > n:
        return first * simulated_factor(n, h, p)
    return first * small_sample_factor(n, p, h / n) * h / max(h - 1, 1)
