"""Combining rules for several synthetic sets of the same data."""

from collections.abc import Sequence
from enum import StrEnum
from math import inf, nan
from statistics import fmean, variance

from sdckit.estimate.variance import Estimate, interval


class Synthesis(StrEnum):
    """What was synthesised: some values of the records (partial), or all of a new sample (full)."""

    PARTIAL = "partial"
    FULL = "full"


def combine(
    sets: Sequence[Estimate],
    *,
    synthesis: Synthesis = Synthesis.PARTIAL,
    size: float = 1.0,
    level: float = 0.95,
) -> Estimate:
    """One estimate from m synthetic sets: q̄ with variance T.

    b: variance of the estimates between sets, v̄: mean of their variances.
    partial (Reiter 2003): T = b/m + v̄ with (m−1)(1 + v̄/(b/m))² degrees of freedom.
    full (Raghunathan, Reiter & Rubin 2003): T = (1 + 1/m) b − v̄ with (m−1)(1 − v̄/((1+1/m) b))²; where that
    is not positive, T = `size`·v̄ (Reiter 2002), `size` being records in a set / records in the original.
    Intervals on the log scale stand about the mean of the sets' centres.
    Never more degrees of freedom than the design of a set gives, never less than 1.
    One set: its own variance.

    >>> two = [Estimate(10.0, 4.0, 6.0, 14.0, inf), Estimate(12.0, 4.0, 8.0, 16.0, inf)]
    >>> both = combine(two)
    >>> both.value, both.variance, both.degrees  # b = 2, v̄ = 4
    (11.0, 5.0, 25.0)
    """
    if len(sets) == 1:
        return sets[0]
    m, mean = len(sets), fmean(s.value for s in sets)
    within, designed = fmean(s.variance for s in sets), min(s.degrees for s in sets)
    if not all(abs(s.value) < inf for s in sets):
        return Estimate(nan, nan, nan, nan, designed)
    between = variance(s.value for s in sets)
    centres = [s.centre for s in sets if s.centre is not None]
    about = fmean(centres) if len(centres) == m else None
    if synthesis is Synthesis.PARTIAL:
        total = between / m + within
        degrees = (m - 1) * (1 + within / (between / m)) ** 2 if between > 0 else inf
        return interval(mean, total, min(degrees, designed), level, centre=about)
    spread = (1 + 1 / m) * between
    total = spread - within
    if total <= 0:
        return interval(mean, size * within, designed, level, centre=about)
    degrees = max((m - 1) * (1 - within / spread) ** 2, 1.0)
    return interval(mean, total, min(degrees, designed), level, centre=about)
