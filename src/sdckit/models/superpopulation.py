"""Superpopulation models: from the cell sizes of a sample to the number of people unique in the population.

All take the cell sizes of a simple random sample, the number of cells of each size, and the size N of the
population, and give the expected number of population uniques S₁, of those in the sample
τ₁ = (n/N)·S₁, and of correct matches of sample uniques τ₂ = Σ_j S_j·π(1−π)^{j−1} with π = n/N.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import exp, inf, log, log1p, nan

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import digamma, gammaln

from sdckit._support.arrays import Floats, Ints

_SINGLY, _STEPS = 100_000, 20_000  # cell sizes that are added up one by one, and in groups of like ones
_NONE = "The estimating equations have no solution for these cell sizes."


@dataclass(frozen=True, slots=True)
class CellSizes:
    """How many cells of each size a sample has, and the size of the population (at least that of the sample).

    >>> sizes = CellSizes.of(np.array([1, 1, 3]), population=50)
    >>> sizes.records, sizes.cells, sizes.having(1), sizes.fraction
    (5, 3, 2, 0.1)
    """

    size: Ints
    cells_of_size: Ints
    population: float

    @classmethod
    def of(cls, records: Ints, population: float) -> "CellSizes":
        """From the number of records in each cell."""
        size, count = np.unique(records, return_counts=True)
        return cls(size, count, max(float(population), float(records.sum())))

    @property
    def records(self) -> int:
        """n."""
        return int((self.size * self.cells_of_size).sum())

    @property
    def cells(self) -> int:
        """u, the number of cells."""
        return int(self.cells_of_size.sum())

    @property
    def fraction(self) -> float:
        """π = n/N."""
        return self.records / self.population

    def having(self, size: int) -> int:
        """The number of cells of this size."""
        return int(self.cells_of_size[self.size == size].sum())


@dataclass(frozen=True, slots=True)
class Superpopulation:
    """Expected population uniques, those among the sample uniques, correct matches; nan with a note."""

    uniques: float
    tau1: float
    tau2: float
    parameters: Mapping[str, float] = field(default_factory=dict)
    note: str = ""


def _simple(sizes: CellSizes) -> Superpopulation | None:
    """Where nothing needs to be estimated: no sample uniques, or the sample is the population."""
    alone = float(sizes.having(1))
    if alone == 0:
        return Superpopulation(0.0, 0.0, 0.0)
    return Superpopulation(alone, alone, alone) if sizes.fraction >= 1 else None


def _bounded(
    sizes: CellSizes, uniques: float, matches: float, parameters: Mapping[str, float]
) -> Superpopulation:
    """τ₁ and τ₂, which cannot exceed the sample uniques."""
    alone = float(sizes.having(1))
    tau1 = min(sizes.fraction * uniques, alone)
    return Superpopulation(uniques, tau1, max(min(matches, alone), tau1), parameters)


def zayatz(sizes: CellSizes) -> Superpopulation:
    """Zayatz (1991): cells of the population are taken to have sizes as in the sample.

    P(F = j | f = 1) ∝ s_j·P(f = 1 | F = j), with s_j the cells of size j in the sample and the hypergeometric
    P(f = 1 | F = j) = j·C(N−j, n−1)/C(N, n). Sizes in the sample are smaller than in the population, so it
    overstates the risk unless most of the population is in the sample.

    >>> round(zayatz(CellSizes.of(np.array([1, 1, 2, 4]), population=16)).tau1, 6)
    1.123919
    """
    known = _simple(sizes)
    if known:
        return known
    n, total, j = sizes.records, sizes.population, sizes.size.astype(np.float64)
    can = total - j - n + 1 >= 0  # otherwise a cell of size j cannot be met just once
    chance = np.zeros(len(j))
    chance[can] = (
        j[can] * np.exp(_falling(total - n, j[can] - 1) - _falling(total - 1, j[can] - 1)) * n / total
    )
    weight = sizes.cells_of_size * chance
    alone = sizes.having(1)
    tau1 = alone * float(weight[j == 1].sum() / weight.sum())
    tau2 = alone * float((weight / j).sum() / weight.sum())
    return Superpopulation(tau1 / sizes.fraction, tau1, tau2)


def _falling(x: float, k: Floats) -> Floats:
    """ln of x(x−1)…(x−k+1)."""
    return _log_rising(x - k + 1, k)


def pitman(sizes: CellSizes) -> Superpopulation:
    """Pitman's model (Hoshino 2001) by maximum likelihood.

    The likelihood of the cell sizes is that of Pitman's sampling formula with 0 < α < 1, θ > −α:
    Π_{i<u}(θ+iα) / Π_{i<n}(θ+i) · Π_j [(1−α)…(j−1−α)]^{s_j}. θ maximises it for each α, then α.
    """
    known = _simple(sizes)
    if known:
        return known
    if sizes.cells == sizes.records:
        return Superpopulation(
            sizes.population,
            sizes.records,
            sizes.records,
            note="Every record is unique: no bound but N is seen.",
        )
    if sizes.cells == 1:
        return Superpopulation(nan, nan, nan, note=_NONE)
    found = minimize_scalar(
        lambda alpha: -_log_likelihood(sizes, alpha, _best_theta(sizes, alpha)),
        bounds=(1e-4, 1 - 1e-6),
        method="bounded",
        options={"xatol": 1e-9},
    )
    alpha = float(found.x)
    return _pitman_at(sizes, alpha, _best_theta(sizes, alpha))


def _log_likelihood(sizes: CellSizes, alpha: float, theta: float) -> float:
    u, n = sizes.cells, sizes.records
    cells = (u - 1) * log(alpha) + float(_log_rising(theta / alpha + 1, u - 1))
    people = float(_log_rising(theta + 1, n - 1))
    inside = (sizes.cells_of_size * (gammaln(sizes.size - alpha) - gammaln(1 - alpha))).sum()
    return float(cells - people + inside)


def _best_theta(sizes: CellSizes, alpha: float) -> float:
    """The root of the derivative, which falls from +∞ at θ = −α to below 0 by θ = n²: x is ln(θ+α)."""
    u, n = sizes.cells, sizes.records

    def slope(x: float) -> float:
        theta = exp(x) - alpha
        return _reciprocals(theta / alpha + 1, u - 1) / alpha - _reciprocals(theta + 1, n - 1)

    return exp(_root(slope, -30.0, 2 * log(n) + 2)) - alpha


def _log_rising(x: Floats | float, k: Floats | float) -> Floats:
    """ln of x(x+1)…(x+k−1); a library's two large logarithms would leave no digits for large x."""
    near = np.asarray(gammaln(x + k) - gammaln(x))
    large = np.maximum(x, 1e4)
    far = (
        (large - 0.5) * np.log1p(k / large) + k * (np.log(large + k) - 1) + (1 / (large + k) - 1 / large) / 12
    )
    return np.where(np.asarray(x) < 1e4, near, far)


def _reciprocals(x: float, k: int) -> float:
    """1/x + 1/(x+1) + … + 1/(x+k−1), in the same way."""
    if x < 1e4:
        return float(digamma(x + k) - digamma(x))
    return log1p(k / x) + (1 / x - 1 / (x + k)) / 2 + (1 / x**2 - 1 / (x + k) ** 2) / 12


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function crosses 0; the end it does not leave where it does not."""
    if function(low) <= 0:
        return low
    if function(high) >= 0:
        return high
    return float(brentq(function, low, high, xtol=1e-12, rtol=1e-14))


def hoshino(sizes: CellSizes) -> Superpopulation:
    """Pitman's model with Hoshino's (2001) moment estimates, in closed form.

    With c = s₁(s₁−1)/s₂: θ = [nuc − s₁(n−1)(2u+c)] / [2s₁u + s₁c − nc], α = [θ(s₁−n) + (n−1)s₁] / (nu).
    """
    known = _simple(sizes)
    if known:
        return known
    n, u, s1, s2 = sizes.records, sizes.cells, sizes.having(1), sizes.having(2)
    if s2 == 0:
        return Superpopulation(nan, nan, nan, note=_NONE)
    c = s1 * (s1 - 1) / s2
    divisor = 2 * s1 * u + s1 * c - n * c
    theta = (n * u * c - s1 * (n - 1) * (2 * u + c)) / divisor if divisor else inf
    alpha = (theta * (s1 - n) + (n - 1) * s1) / (n * u)
    if not (0 <= alpha < 1 and -alpha < theta < inf):
        return Superpopulation(nan, nan, nan, note=_NONE)
    return _pitman_at(sizes, alpha, theta)


def _pitman_at(sizes: CellSizes, alpha: float, theta: float) -> Superpopulation:
    """S_j = C(N, j)·(1−α)…(j−1−α)·(θ+α)^[N−j]/(θ+1)^[N−1], x^[k] = x(x+1)…(x+k−1)."""
    total, pi = sizes.population, sizes.fraction
    j, width = _sizes_up_to(int(min(total, 40 / pi)))  # beyond, hardly any cell is met just once
    # Γ(N+1)/Γ(N+θ) · Γ(N−j+θ+α)/Γ(N−j+1): close neighbours, whose logarithms keep their digits for any N
    people = _log_rising(total - j + 1, theta + alpha - 1) - _log_rising(total + 1, theta - 1)
    inside = -_log_rising(j - alpha, 1 + alpha) - gammaln(1 - alpha)
    expected = np.exp(people + inside + _log_rising(theta + alpha, 1 - alpha))
    matches = float((expected * width * pi * np.exp((j - 1) * log1p(-pi))).sum())
    return _bounded(sizes, float(expected[0]), matches, {"alpha": alpha, "theta": theta})


def _sizes_up_to(last: int) -> tuple[Floats, Floats]:
    """Cell sizes 1, 2, …, last; of a long row, the later ones in groups, with the number in each group."""
    first = np.arange(1, min(last, _SINGLY) + 1, dtype=np.float64)
    if last <= _SINGLY:
        return first, np.ones_like(first)
    bounds = np.geomspace(_SINGLY + 0.5, last + 0.5, _STEPS + 1)
    middle = np.sqrt(bounds[1:] * bounds[:-1])
    return np.append(first, middle), np.append(np.ones_like(first), np.diff(bounds))


def snb(sizes: CellSizes) -> Superpopulation:
    """Shifted negative binomial cell sizes (Chen & Keller-McNulty 1998), by moments.

    F − 1 is negative binomial with shape r and probability p in each of K cells of the population. K, r and p
    are such that K·E(F) = N and the expected numbers of cells u and of uniques s₁ in the sample are the
    observed ones. For each p the first two give K and r, then the third gives p.
    """
    known = _simple(sizes)
    if known:
        return known
    if sizes.cells == sizes.records:
        return Superpopulation(sizes.population, sizes.records, sizes.records, note="Every record is unique.")
    tried = np.linspace(-18, 18, 73)  # logit p
    excess = np.array([_uniques_above(sizes, x) for x in tried])
    change = np.flatnonzero(np.sign(excess[:-1]) * np.sign(excess[1:]) <= 0)
    if len(change) == 0:
        return Superpopulation(nan, nan, nan, note=_NONE)
    x = float(brentq(lambda x: _uniques_above(sizes, x), tried[change[0]], tried[change[0] + 1], xtol=1e-12))
    excess_size, p = _excess_size(sizes, x), 1 / (1 + exp(-x))
    r = excess_size * (1 - p) / p
    cells = sizes.population / (1 + excess_size)
    pi = sizes.fraction
    met = exp(_log_unseen(pi, p, r)) / (1 - pi)  # Σ_j P(F=j)(1−π)^{j−1}
    return _bounded(sizes, cells * (1 - p) ** r, cells * pi * met, {"cells": cells, "shape": r, "p": p})


def _log_unseen(pi: float, p: float, r: float) -> float:
    """ln E(1−π)^F."""
    return log1p(-pi) + r * (log1p(-p) - log1p(-p * (1 - pi)))


def _excess_size(sizes: CellSizes, x: float) -> float:
    """E(F) − 1 at which the expected number of cells in the sample is the one observed, for logit p = x."""
    p, pi = 1 / (1 + exp(-x)), sizes.fraction

    def cells_above(y: float) -> float:
        excess = exp(y)
        unseen = exp(_log_unseen(pi, p, excess * (1 - p) / p))
        return sizes.population / (1 + excess) * (1 - unseen) - sizes.cells

    return exp(_root(cells_above, -30.0, log(sizes.population) + 1))


def _uniques_above(sizes: CellSizes, x: float) -> float:
    """Expected minus observed sample uniques for logit p = x."""
    p, pi = 1 / (1 + exp(-x)), sizes.fraction
    excess = _excess_size(sizes, x)
    r = excess * (1 - p) / p
    unseen = exp(_log_unseen(pi, p, r))
    slope = unseen * (1 / (1 - pi) + r * p / (1 - p * (1 - pi)))
    return sizes.population / (1 + excess) * pi * slope - sizes.having(1)
