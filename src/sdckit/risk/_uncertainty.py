"""How sure a share is, and by how much one share is above another."""

import math
from statistics import NormalDist

import numpy as np

from sdckit._support.arrays import Bools, Ints

_Z = 1.959963984540054  # 0.975 quantile of the normal distribution


def wilson(share: float, records: float, files: int = 1) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of so many records; within 0 and 1, and never empty.

    files: where the same is asked of several, the intervals of all hold together with 95 % (Bonferroni).
    Reference: Wilson (1927).

    >>> [round(end, 4) for end in wilson(0.1, 100)]
    [0.0552, 0.1744]
    """
    z = _Z if files == 1 else NormalDist().inv_cdf(1 - 0.025 / files)
    centre = (share + z**2 / (2 * records)) / (1 + z**2 / records)
    half = z / (1 + z**2 / records) * math.sqrt(share * (1 - share) / records + (z / (2 * records)) ** 2)
    return min(max(centre - half, 0.0), share), max(min(centre + half, 1.0), share)


def beyond(
    share: float, records: float, other: float, other_records: float, files: int = 1
) -> tuple[float, float]:
    """The 95 % interval of share − other, where both are shares of so many records.

    What is expected is not known either, where it is the share of a few hundred people. Reference: Newcombe
    (1998), method 10: the ends of both of Wilson's intervals.

    >>> [round(end, 4) for end in beyond(56 / 70, 70, 48 / 80, 80)]
    [0.0524, 0.3339]
    """
    low, high = wilson(share, records, files)
    other_low, other_high = wilson(other, other_records, files)
    difference = share - other
    return (
        difference - math.hypot(share - low, other_high - other),
        difference + math.hypot(high - share, other - other_low),
    )


def independent(found: Bools, units: Ints | None) -> float:
    """As how many independent records these count, where those of a unit (a household) go together.

    p·(1 − p)/v, v being the variance of the share p from the sums of the units; at most all records. Where
    all or none are found nothing shows how alike the members are, and the units count.

    >>> import numpy as np
    >>> independent(np.array([True, True, False, False]), np.array([0, 0, 1, 1]))
    2.0
    """
    records = float(len(found))
    if units is None or not len(found):
        return records
    share = float(found.mean())
    sums = np.bincount(units, weights=found - share)
    variance = float((sums**2).sum()) / records**2
    if variance <= 0:
        return float(len(np.unique(units)))
    return min(share * (1 - share) / variance, records)
