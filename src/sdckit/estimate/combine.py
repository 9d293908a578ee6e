"""Combining rules for several synthetic sets of the same data."""

from collections.abc import Sequence
from enum import StrEnum
from math import inf, nan

import numpy as np

from sdckit.estimate.variance import Estimate, interval


class Synthesis(StrEnum):
    """What was synthesised, and how.

    Some values of the records (partial); a new sample of a synthetic population (full); a sample drawn from a
    model that was fitted to the original sample, once for all sets (sample) or to a new bootstrap of it for
    each set (proper_sample).
    """

    PARTIAL = "partial"
    FULL = "full"
    SAMPLE = "sample"
    PROPER_SAMPLE = "proper_sample"


SAMPLES = (Synthesis.SAMPLE, Synthesis.PROPER_SAMPLE)


@np.errstate(divide="ignore", invalid="ignore", over="ignore")  # huge numbers have no finite variance
def combined(
    rows: Sequence[Sequence[Estimate]], *, synthesis: Synthesis, size: float, level: float, what: str
) -> tuple[list[Estimate], tuple[str, ...]]:
    """Every row of estimates from m sets as one estimate, and what must be said; `what` names the rows."""
    found = [combine(sets, synthesis=synthesis, size=size, level=level) for sets in rows]
    if not rows or (len(rows[0]) == 1 and synthesis not in SAMPLES):
        return found, ()
    if synthesis in SAMPLES:
        return found, (_told_of_samples(len(rows[0]), synthesis, size),)
    notes = [f"{len(rows[0])} synthetic sets combined by the rules for {synthesis.value} synthesis."]
    negative = sum(_total_if_full(sets) < 0 for sets in rows) if synthesis is Synthesis.FULL else 0
    if negative:
        notes.append(
            f"The variance by the rules for full synthesis was negative for {negative:,} of {len(rows):,} "
            f"{what}; the mean variance within the sets, times {size:.3g} (records in a set by records in "
            "the original), stands for it. More sets make this rarer."
        )
    return found, tuple(notes)


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
    is not positive, T = `size`·v̄ (Reiter 2002), `size` being records in a set / records in the original, or
    in the sample of it that the model was learned from.
    sample (Raab, Nowok & Dibben 2016): T = v̄·(k/n + 1/m), proper v̄·(k/n + (1 + k/n)/m), k/n being `size`. It
    is never negative, holds for one set, too, and has the degrees of freedom of the design.
    Intervals on the log scale stand about the mean of the sets' centres.
    Never more degrees of freedom than the design of a set gives, never less than 1.
    One set: its own variance, but for samples.

    >>> two = [Estimate(10.0, 4.0, 6.0, 14.0, inf), Estimate(12.0, 4.0, 8.0, 16.0, inf)]
    >>> both = combine(two)
    >>> both.value, both.variance, both.degrees  # b = 2, v̄ = 4
    (11.0, 5.0, 25.0)
    """
    if synthesis in SAMPLES:
        return _of_samples(sets, size, level, proper=synthesis is Synthesis.PROPER_SAMPLE)
    if len(sets) == 1:
        return sets[0]
    m, mean, between, within = _moments(sets)
    designed = min(s.degrees for s in sets)
    if not all(abs(s.value) < inf for s in sets):
        return Estimate(nan, nan, nan, nan, designed)
    centres = [s.centre for s in sets if s.centre is not None]
    about = float(np.mean(centres)) if len(centres) == m else None
    if synthesis is Synthesis.PARTIAL:
        total = between / m + within
        degrees = (m - 1) * (1 + within / (between / m)) ** 2 if between > 0 else inf
        return interval(mean, total, float(min(degrees, designed)), level, centre=about)
    total = _total_if_full(sets)
    if total <= 0:
        return interval(mean, size * within, designed, level, centre=about)
    degrees = max((m - 1) * (1 - within / (total + within)) ** 2, 1.0)
    return interval(mean, total, float(min(degrees, designed)), level, centre=about)


def _of_samples(sets: Sequence[Estimate], size: float, level: float, *, proper: bool) -> Estimate:
    """Sets that are samples from a model of the original sample: v̄ stands for both kinds of sampling."""
    m, designed = len(sets), min(s.degrees for s in sets)
    if not all(abs(s.value) < inf for s in sets):
        return Estimate(nan, nan, nan, nan, designed)
    centres = [s.centre for s in sets if s.centre is not None]
    about = float(np.mean(centres)) if len(centres) == m else None
    factor = size + (1 + size if proper else 1) / m
    within = float(np.mean([s.variance for s in sets]))
    return interval(float(np.mean([s.value for s in sets])), factor * within, designed, level, centre=about)


def _told_of_samples(m: int, synthesis: Synthesis, size: float) -> str:
    first = "One synthetic file" if m == 1 else f"{m} synthetic sets combined"
    how = (
        "a new bootstrap of the original for each" if synthesis is Synthesis.PROPER_SAMPLE else "the original"
    )
    return (
        f"{first} by the rules for samples from a model of {how}: the variances within are multiplied by "
        f"{size + (1 + size if synthesis is Synthesis.PROPER_SAMPLE else 1) / m:.3g}."
    )


def _total_if_full(sets: Sequence[Estimate]) -> np.float64:
    """(1 + 1/m) b − v̄; nan where a set lacks the estimate."""
    m, _, between, within = _moments(sets)
    return (1 + 1 / m) * between - within


def _moments(sets: Sequence[Estimate]) -> tuple[int, np.float64, np.float64, np.float64]:
    """m, q̄, b and v̄; numpy's numbers overflow without an error."""
    values = np.array([s.value for s in sets])
    variances = np.array([s.variance for s in sets])
    return len(sets), np.mean(values), np.var(values, ddof=1), np.mean(variances)
