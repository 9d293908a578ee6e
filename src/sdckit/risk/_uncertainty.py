"""How sure a share is."""

import math
from statistics import NormalDist

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
