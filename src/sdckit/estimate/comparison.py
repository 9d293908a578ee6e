"""An estimate from the original beside the one from the protected file."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan, nan

import polars as pl

from sdckit.estimate.variance import ROUNDING, Estimate

NEAR, FAIR = 0.9, 0.5
PRECISION = 2.0  # variances that differ by more than this factor are worth a word


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of one estimate.

    difference, variance_difference: |θ−θ′|/|θ| and |V−V′|/V in percent. mse: (θ−θ′)² + |V−V′|.
    contained: the original interval holds the new estimate. overlap: of the two intervals, negative where
    they are apart; `share` is the same cut to 0…1, and 0 where the estimate or its interval is lost.
    """

    difference: float
    variance_difference: float
    mse: float
    contained: bool
    overlap: float
    share: float
    verdict: str


def compared(original: Estimate, protected: Estimate) -> Comparison:
    """Compare two estimates of the same quantity."""
    if not isfinite(protected.value):
        return Comparison(nan, nan, nan, False, nan, 0.0, "lost: cannot be computed from the protected file")
    gap = abs(original.value - protected.value)
    away = abs(original.variance - protected.variance)
    both = overlap(original, protected)
    covered = original.low <= protected.value <= original.high or _same_value(original, protected)
    inside = covered and not isnan(both)
    return Comparison(
        percent(gap, original.value),
        percent(away, original.variance),
        gap**2 + away if gap < 1e150 else inf,
        inside,
        both,
        min(max(both, 0.0), 1.0) if not isnan(both) else 0.0 if _lost_interval(original, protected) else nan,
        verdict(original, protected, both, inside),
    )


def _lost_interval(original: Estimate, protected: Estimate) -> bool:
    return isfinite(original.high - original.low) and isnan(protected.high - protected.low)


def percent(gap: float, size: float) -> float:
    """A difference in percent of the original; 0 where there is none, infinite beside 0."""
    if gap == 0:
        return 0.0
    return 100 * gap / abs(size) if size else inf if gap > 0 else nan


def _same_value(a: Estimate, b: Estimate) -> bool:
    """Whether two estimates differ by rounding at most."""
    return abs(a.value - b.value) <= ROUNDING * abs(a.value)


def overlap(a: Estimate, b: Estimate) -> float:
    """Mean of the shares of the two intervals that they have in common (Karr et al. 2006).

    ½[(U∩−L∩)/(U−L) + (U∩−L∩)/(U′−L′)]: 1 for equal intervals, 0 where they touch, negative where they
    are apart. An interval without length counts as inside (1) or apart (−∞).
    """
    common = min(a.high, b.high) - max(a.low, b.low)
    shares = []
    for one in (a, b):
        length = one.high - one.low
        if length > 0:
            shares.append(common / length)
        elif length == 0:
            shares.append(1.0 if common == 0 or _same_value(a, b) else -inf)
        else:
            return nan
    return (shares[0] + shares[1]) / 2


def verdict(original: Estimate, protected: Estimate, both: float, inside: bool) -> str:
    """The comparison in words."""
    if isnan(both):
        return (
            "lost: without an interval in the protected file"
            if _lost_interval(original, protected)
            else "no interval"
        )
    if both == 1 and _same_value(original, protected):
        return "unchanged"
    if both >= NEAR:
        words = "practically the same"
    elif both >= FAIR:
        words = "within sampling error" if inside else "close"
    elif both > 0:
        words = "noticeably different"
    else:
        words = "at odds with the original"
    larger = max(original.variance, protected.variance)
    if larger > PRECISION * min(original.variance, protected.variance):
        less = protected.variance > original.variance
        words += "; less precise than the original" if less else "; looks more precise than it is"
    return words


def comparison_frame(lines: Sequence[tuple[Estimate, Estimate, Comparison]]) -> pl.DataFrame:
    """Comparisons as a table, one a row; missing where there is no number."""
    columns: dict[str, list[float]] = {}
    for i, file in enumerate(("original", "protected")):
        for name in ("estimate", "variance", "low", "high"):
            key = "value" if name == "estimate" else name
            columns[f"{name}_{file}"] = [getattr(line[i], key) for line in lines]
    columns["relative_difference"] = [c.difference for _, _, c in lines]
    columns["relative_difference_variance"] = [c.variance_difference for _, _, c in lines]
    columns["mse"] = [c.mse for _, _, c in lines]
    columns["overlap"] = [c.overlap for _, _, c in lines]
    columns["overlap_clipped"] = [c.share for _, _, c in lines]
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Float64)).fill_nan(None)
    said = {"contained": [c.contained for _, _, c in lines], "verdict": [c.verdict for _, _, c in lines]}
    return frame.hstack(pl.DataFrame(said))
