"""Names of classes that tell the ends of what was cut."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc


@pytest.mark.parametrize("kind", [pl.Int64, pl.Float64])
def test_the_largest_turnover_does_not_follow_from_even_cuts(kind):
    """Cuts that are evenly spaced go on to the smallest and the largest number, which open classes hide."""
    rng = np.random.default_rng(3)
    others, errors = np.exp(rng.normal(8, 0.7, 500)).round(), []
    for largest in np.exp(rng.uniform(14, 18, 20)).round():
        data = sdc.read(pl.DataFrame({"x": [1.0, *others, largest]}).cast(kind), sensitive="x")
        made = sdc.protect.recode(data, variable="x", groups=5, log=True)
        cuts = made.log[-1].figures["breaks"]  # as the names of the classes have them
        slope, start = np.polyfit(np.arange(1, 5), np.log(cuts), 1)
        errors.append(abs(np.exp(start + 5 * slope) / largest - 1))
    assert np.median(errors) > 0.1
