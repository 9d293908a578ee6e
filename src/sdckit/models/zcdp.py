"""What random noise costs in privacy: zero-concentrated differential privacy, counted in exact fractions."""

import math
from collections.abc import Callable
from fractions import Fraction

_SAFE = 1e-9  # ρ is rounded down by this share: far more than floating point can be wrong
_STEPS = 200  # of a bisection: more than a double has digits
_GOLDEN = (math.sqrt(5) - 1) / 2
_WIDEST = (-40.0, 40.0)  # of log(α − 1)
_BITS = 40  # of the denominator of a rate
_FINE = 1024  # denominator of a small variance


def epsilon_of(rho: float, delta: float) -> float:
    r"""The ε of a mechanism with ρ-zCDP at this δ: the least over α of

    .. math:: \alpha\rho + \frac{\log(1/\delta) + (\alpha-1)\log(1-1/\alpha) - \log\alpha}{\alpha-1}

    Every α > 1 gives a valid ε, so an inexact minimum is still a bound.
    Reference: Canonne, Kamath & Steinke (2020).

    >>> round(epsilon_of(0.1, 1e-6), 4)  # the simpler bound ρ + 2√(ρ log 1/δ) is 2.4508
    2.1419
    """
    if rho == 0:
        return 0.0

    def at(place: float) -> float:
        beyond = math.exp(place)  # α − 1
        rest = -math.log(delta) - beyond * math.log1p(1 / beyond) - math.log1p(beyond)
        return (1 + beyond) * rho + rest / beyond

    return max(_least(at, *_WIDEST), 0.0)


def rho_of(epsilon: float, delta: float) -> float:
    """The largest ρ whose ε at this δ is not above the one given, by bisection and rounded down.

    >>> epsilon_of(rho_of(1.0, 1e-6), 1e-6) <= 1.0
    True
    """
    low, high = 0.0, 1.0
    while epsilon_of(high, delta) < epsilon:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_of(middle, delta) <= epsilon else (low, middle)
    return low * (1 - _SAFE)


def gaussian_cost(variance: Fraction, squared_sensitivity: int) -> Fraction:
    """ρ of one vector of counts with discrete Gaussian noise: Δ₂²/(2σ²) (Canonne et al. 2020).

    >>> gaussian_cost(Fraction(50), 1)
    Fraction(1, 100)
    """
    return Fraction(squared_sensitivity) / (2 * variance)


def variance_for(rho: Fraction, squared_sensitivity: int) -> Fraction:
    """The least variance in a coarse grid of fractions whose cost is not above ρ.

    >>> variance_for(Fraction(1, 100), 1), variance_for(Fraction(1, 3), 1)
    (Fraction(50, 1), Fraction(3, 2))
    """
    wanted = Fraction(squared_sensitivity) / (2 * rho)
    fine = 1 if wanted >= _FINE else _FINE
    return Fraction(math.ceil(wanted * fine), fine)


def exponential_cost(rate: Fraction, sensitivity: int) -> Fraction:
    """ρ of one choice with probabilities ∝ exp(rate · score): (2·rate·Δ)²/8, by its bounded range.

    Where every score changes by at most Δ, the logarithms of all probabilities change by amounts that differ
    by at most 2·rate·Δ. Reference: Cesar & Rogers (2021), Bounding, concentrating, and truncating.

    >>> exponential_cost(Fraction(1, 10), 1)
    Fraction(1, 200)
    """
    return (rate * sensitivity) ** 2 / 2


def rate_for(rho: Fraction, sensitivity: int) -> Fraction:
    """The largest rate, as a binary fraction, whose cost is not above ρ.

    >>> rate_for(Fraction(1, 200), 1) <= Fraction(1, 10)
    True
    """
    squared = 2 * rho / sensitivity**2 * 4**_BITS
    return Fraction(math.isqrt(math.floor(squared)), 2**_BITS)


def _least(function: Callable[[float], float], low: float, high: float) -> float:
    """The least value of a function with one minimum, by golden section."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > 1e-10:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    return min(at_left, at_right)
