"""The chi-square distribution, to the last digit that of scipy.stats."""

import numpy as np
from scipy.stats import chi2

from sdckit.models.chi_square import chi_square_quantile, chi_square_share


def test_quantiles_and_shares_are_those_of_scipy() -> None:
    degrees = np.arange(1, 200)
    for share in (0.0, 0.01, 0.5, 0.975, 0.999, 1.0):
        assert np.array_equal(chi_square_quantile(share, degrees), chi2.ppf(share, degrees))
    for value in (0.0, 0.3, 7.8, 150.0, np.inf):
        assert np.array_equal(chi_square_share(value, degrees), chi2.cdf(value, degrees))
