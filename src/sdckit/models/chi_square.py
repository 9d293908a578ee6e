"""The chi-square distribution, without scipy.stats, which takes half a second to load."""

from typing import Any

import numpy as np

from sdckit._support.arrays import Floats


def chi_square_quantile(share: float, degrees: Any) -> Floats:
    """The value that this share of the distribution lies below, for each number of degrees of freedom.

    >>> float(chi_square_quantile(0.95, 1).round(4))
    3.8415
    """
    from scipy.special import gammaincinv

    return np.asarray(2 * gammaincinv(np.asarray(degrees) / 2, share))


def chi_square_share(value: Any, degrees: Any) -> Floats:
    """The share of the distribution below a value.

    >>> float(chi_square_share(3.841459, 1).round(4))
    0.95
    """
    from scipy.special import chdtr

    return np.asarray(chdtr(degrees, value))
