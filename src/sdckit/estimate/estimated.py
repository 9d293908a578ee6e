"""Estimated: one estimate with its interval in a protected file, beside the original's."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from math import inf, isfinite, nan
from statistics import fmean
from typing import Any

from sdckit.data.result import Result
from sdckit.estimate.comparison import overlap
from sdckit.estimate.variance import Estimate

MEASURES = ("indicators", "regression")  # their parts have estimates of both files
ALL = "all records"


@dataclass(frozen=True, slots=True)
class Estimated:
    """An indicator or a coefficient: estimate and interval in the protected file and in the original.

    The original's numbers stand here too: a coefficient's reference category can change with the protection.
    """

    measure: str
    name: str
    estimate: float
    low: float
    high: float
    original: float
    original_low: float
    original_high: float

    @property
    def contained(self) -> bool:
        """Whether the original interval holds the new estimate."""
        return self.original_low <= self.estimate <= self.original_high

    @property
    def overlap(self) -> float:
        """The mean share of the two intervals that they have in common, 0 where they are apart or it is lost.

        >>> Estimated("regression", "sex", 2.0, 1.0, 3.0, 1.0, 0.0, 2.0).overlap
        0.5
        """
        after = Estimate(self.estimate, nan, self.low, self.high, inf)
        before = Estimate(self.original, nan, self.original_low, self.original_high, inf)
        return min(max(overlap(before, after), 0.0), 1.0) if isfinite(self.estimate) else 0.0

    def as_list(self) -> list[Any]:
        """The fields in order, as they are kept on disk."""
        return list(astuple(self))


def estimates_of(results: Mapping[str, Result]) -> tuple[Estimated, ...]:
    """Every estimate among the results of indicators and regression; nan where a file does not allow it."""
    found = []
    for measure in MEASURES:
        parts = results[measure].parts if measure in results else None
        for row in [] if parts is None else parts.to_dicts():
            numbers = [
                nan if row[f"{key}_{file}"] is None else float(row[f"{key}_{file}"])
                for file in ("protected", "original")
                for key in ("estimate", "low", "high")
            ]
            found.append(Estimated(measure, _name(row), *numbers))
    return tuple(found)


def averaged(runs: Sequence[Sequence[Estimated]]) -> tuple[Estimated, ...]:
    """Means of estimates and limits over several seeds, for those that every run has."""
    by_run = [{(e.measure, e.name): e.as_list()[2:] for e in run} for run in runs]
    shared = [key for key in by_run[0] if all(key in run for run in by_run)]
    return tuple(
        Estimated(*key, *(fmean(values) for values in zip(*(run[key] for run in by_run), strict=True)))
        for key in shared
    )


def _name(row: Mapping[str, Any]) -> str:
    if "term" in row:
        return str(row["term"])
    name = f"{row['indicator']} of {row['variable']}"
    return name if row["domain"] == ALL else f"{name}, {row['domain']}"
