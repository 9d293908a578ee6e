"""Draw far records in, onto an ellipsoid round the bulk of the data."""

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.protect._numbers import location_and_spread
from sdckit.protect._tails import value_below


def pull_in(x: Floats, share: float) -> Floats:
    """The records (rows) with the most distant `share` moved towards the centre.

    Distances are Mahalanobis distances by the MCD estimate of the records without missing values. Those of
    a record with missing values, from the variables it has, are never longer than with all of them.
    """
    from sdckit.models.mcd import mcd

    mean, spread = location_and_spread(x)
    varies = spread > 0
    z = (x[:, varies] - mean[varies]) / spread[varies]
    complete = ~np.isnan(z).any(axis=1)
    if not varies.any() or complete.sum() <= z.shape[1] + 1:
        return x
    bulk = mcd(np.ascontiguousarray(z[complete]))
    distance = np.sqrt(bulk.squared_distances(z))
    limit = value_below(distance[complete], share)
    far = distance > limit
    closer = bulk.location + (z[far] - bulk.location) * (limit / distance[far])[:, None]
    y = x.copy()
    y[np.ix_(far, varies)] = mean[varies] + closer * spread[varies]
    return y
