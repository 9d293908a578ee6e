"""How sure a share is."""

import math

_Z = 1.959963984540054  # 0.975 quantile of the normal distribution


def wilson(share: float, records: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of so many records; within 0 and 1, and never empty.

    Reference: Wilson (1927).

    >>> [round(end, 4) for end in wilson(0.1, 100)]
    [0.0552, 0.1744]
    """
    centre = (share + _Z**2 / (2 * records)) / (1 + _Z**2 / records)
    half = _Z / (1 + _Z**2 / records) * math.sqrt(share * (1 - share) / records + (_Z / (2 * records)) ** 2)
    return min(max(centre - half, 0.0), share), max(min(centre + half, 1.0), share)
