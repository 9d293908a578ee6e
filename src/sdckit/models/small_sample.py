"""Small-sample factors: where they come from, and the formula for the MCD."""

import math
from enum import StrEnum

# (α, β) of f = 1 + α/p^β at n = 2p² and n = 3p², raw and reweighted, at shares .5 and .875
_LARGE = {
    (False, 0.5): ((-1.42764571687802, 1.26263336932151), (-1.06141115981725, 1.28907991440387)),
    (False, 0.875): ((-0.455179464070565, 1.11192541278794), (-0.294241208320834, 1.09649329149811)),
    (True, 0.5): ((-1.02842572724793, 1.67659883081926), (-0.26800273450853, 1.35968562893582)),
    (True, 0.875): ((-0.544482443573914, 1.25994483222292), (-0.343791072183285, 1.25159004257133)),
}
# (a, b) of f = 1 − exp(a)/n^b for one and two variables
_SMALL = {
    (1, False, 0.5): (0.262024211897096, 0.604756680630497),
    (1, False, 0.875): (-0.351584646688712, 1.01646567502486),
    (2, False, 0.5): (0.673292623522027, 0.691365864961895),
    (2, False, 0.875): (0.446537815635445, 1.06690782995919),
    (1, True, 0.5): (1.11098143415027, 1.5182890270453),
    (1, True, 0.875): (-0.66046776772861, 0.88939595831888),
    (2, True, 0.5): (3.11101712909049, 1.91401056721863),
    (2, True, 0.875): (0.79473550581058, 1.10081930350091),
}


class SmallSample(StrEnum):
    """Where the small-sample factor comes from.

    formula: the formula of Pison, Van Aelst & Willems; it is for covariances with divisor h − 1, so that is
    allowed for. simulation: trimmed fits of simulated normal data of the same size, where more than half of
    the component is kept (elsewhere the formula). none: no factor.
    """

    FORMULA = "formula"
    SIMULATION = "simulation"
    NONE = "none"


def small_sample_factor(n: int, p: int, share: float, *, reweighted: bool = False) -> float:
    """What the consistent MCD covariance of a share of n records in p variables must be multiplied by.

    At shares .5 and .875 the mean size of the estimate is f(n) = 1 − exp(a)/n^b, with a and b from
    simulations; between these and 1 it is interpolated, and the factor is 1/f. A share below .5 counts as .5.
    Far below n = 2p² the formula has no support; f is kept at .1 or more.
    Reference: Pison, Van Aelst & Willems (2002).

    >>> round(small_sample_factor(50, 6, 0.75), 4), small_sample_factor(50, 6, 1.0)
    (1.1458, 1.0)
    """
    half, most = (_mean_size(n, p, at, reweighted) for at in (0.5, 0.875))
    share = min(max(share, 0.5), 1.0)
    if share <= 0.875:
        size = half + (most - half) * (share - 0.5) / 0.375
    else:
        size = most + (1 - most) * (share - 0.875) / 0.125
    return 1 / max(size, 0.1)


def _mean_size(n: int, p: int, share: float, reweighted: bool) -> float:
    """The line through the two simulated points in log n, or the fitted one for few variables."""
    if p <= 2:
        a, b = _SMALL[p, reweighted, share]
        return 1 - math.exp(a) / math.pow(n, b)
    (first, second) = (math.log(-alpha / math.pow(p, beta)) for alpha, beta in _LARGE[reweighted, share])
    at_first, at_second = math.log(2 * p * p), math.log(3 * p * p)
    b = (first - second) / (at_second - at_first)
    return 1 - math.exp(first + b * at_first) / math.pow(n, b)
