"""How a figure of sdckit is compared with the stored one."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reference.cases import Case

ZERO = 1e-12  # numbers up to this are 0
STANDARD_ERRORS = 5.0  # two averages over random draws may be so far apart


@dataclass(frozen=True)
class Comparison:
    """One figure: how far it is from R's, in what the tolerance is about, and how far it may be."""

    figure: str
    difference: float
    limit: float
    ours: Any
    theirs: Any

    @property
    def agrees(self) -> bool:
        """Whether the difference is within its limit; one that is not a number is not."""
        return self.difference <= self.limit

    def __str__(self) -> str:
        far = f"{self.figure}: {self.difference:.3g} apart, allowed {self.limit:.3g}"
        return f"{far} (sdckit {_short(self.ours)}, R {_short(self.theirs)})"


Comparisons = Iterator[Comparison]
Topic = Callable[[Case], Comparisons]


def same(figure: str, ours: Any, theirs: Any, limit: float) -> Comparison:
    """Equal but for a relative difference; lists and mappings number by number."""
    return Comparison(figure, relative_difference(ours, theirs), limit, ours, theirs)


def at_most(figure: str, ours: float, theirs: float, limit: float = 0.0) -> Comparison:
    """Not above R's figure but for the share `limit` of it."""
    return Comparison(figure, (ours - theirs) / max(abs(theirs), ZERO), limit, ours, theirs)


def not_above(figure: str, ours: float, theirs: float, limit: float) -> Comparison:
    """Not above R's figure by more than `limit`."""
    return Comparison(figure, ours - theirs, limit, ours, theirs)


def same_average(figure: str, draws: Any, mean: Any, standard_error: Any) -> Comparison:
    """Averages over random draws (rows): apart by so many standard errors of their difference at most."""
    x = np.asarray(draws, dtype=float).reshape(len(draws), -1)
    ours, theirs = x.mean(axis=0), np.asarray(mean, dtype=float)
    error = np.sqrt(np.asarray(standard_error, dtype=float) ** 2 + x.var(axis=0, ddof=1) / len(x))
    apart = np.abs(ours - theirs) / np.maximum(error, ZERO)
    return Comparison(figure, float(apart.max()), STANDARD_ERRORS, ours, theirs)


def relative_difference(ours: Any, theirs: Any) -> float:
    """The largest one; infinite where lengths differ or only one of two numbers is missing."""
    if isinstance(theirs, dict):
        return max(relative_difference(ours[name], value) for name, value in theirs.items())
    if isinstance(ours, list | tuple | np.ndarray) or isinstance(theirs, list):
        # R writes a vector of one number as a number
        theirs = theirs if isinstance(theirs, list | np.ndarray) else [theirs]
        if len(ours) != len(theirs):
            return math.inf
        return max((relative_difference(a, b) for a, b in zip(ours, theirs, strict=True)), default=0.0)
    a, b = (math.nan if value is None else float(value) for value in (ours, theirs))
    if math.isnan(a) or math.isnan(b):
        return 0.0 if math.isnan(a) and math.isnan(b) else math.inf
    size = max(abs(a), abs(b))
    return 0.0 if size <= ZERO else abs(a - b) / size


def fingerprint(values: npt.ArrayLike) -> dict[str, Any]:
    """A vector over records in a few numbers; the sum by position tells a wrong order."""
    x = np.asarray(values, dtype=float)
    there = ~np.isnan(x)
    position = np.arange(1, len(x) + 1)
    return {
        "missing": int((~there).sum()),
        "sum": x[there].sum(),
        "squares": (x[there] ** 2).sum(),
        "by_position": (position * x)[there].sum() / len(x),
        "min": x[there].min(),
        "max": x[there].max(),
        "every_97th": x[::97].tolist(),
    }


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
