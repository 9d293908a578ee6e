"""The records of one stratum, tested against their robust mixture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit._support.arrays import Bools, Floats, Ints
from sdckit.models.mixture_families import Family
from sdckit.models.small_sample import SmallSample
from sdckit.risk._atypical_partial import PartlyTested, partly_tested

if TYPE_CHECKING:
    from sdckit.risk._atypical_tables import Tested

DOMINATED = "a few weights dominate"


@dataclass(frozen=True, slots=True)
class StrataTest:
    """What every stratum is tested with: the numbers of all records, and the options.

    x: nan where a number is missing; such records are tested by the numbers they have.
    """

    x: Floats
    names: Sequence[str]
    weights: Floats | None
    trim: float
    alpha: float
    components: range
    families: Sequence[Family]
    small_sample: SmallSample

    def stratum(self, name: str, rows: Ints) -> "Stratum":
        """Test the records of one stratum: those that are complete shape the fit."""
        from sdckit.models.robust_distances import robust_distances
        from sdckit.models.trimmed_mixture import trimmed_mixture
        from sdckit.risk._atypical_tables import Tested

        there = np.isfinite(self.x[rows])
        used = _often_enough(there)
        complete = there[:, used].all(axis=1)
        everything, rows = rows, rows[complete]
        x, varies, centre, unit = _on_one_scale(self.x[np.ix_(rows, np.flatnonzero(used))])
        varies = _within(used, varies)
        n, p = x.shape
        weights = None if self.weights is None else self.weights[rows]
        effective = _effective(weights, n)
        if n < 2 * (p + 2) or p == 0:
            return Stratum(everything, effective, "no variable varies" if n and not p else "too few records")
        if effective < 2 * (p + 2):
            return Stratum(everything, effective, DOMINATED)
        fit = trimmed_mixture(
            x,
            trim=self.trim,
            components=self.components,
            families=self.families,
            smallest=max(p + 2, math.ceil(n / 10)),
            weights=weights,
        )
        if fit is None:
            return Stratum(everything, effective, "constant or collinear")
        found = robust_distances(fit, alpha=self.alpha, small_sample=self.small_sample)
        best = np.where(found.p_value > 0, found.p_values.argmax(axis=1), fit.component)
        names = tuple(c for c, there in zip(self.names, varies, strict=True) if there)
        drivers = _drivers(x, fit.mixture, best)
        tested = Tested(name, names, x, centre, unit, fit, found, best, drivers, self.alpha)
        others = everything[~complete]
        partial = None
        if len(others):
            incomplete = self.x[np.ix_(others, np.flatnonzero(varies))]
            partial = partly_tested((incomplete - centre) / unit, tested)
        return Stratum(rows, effective, "", tested, others, partial, int((~used).sum()))


def _often_enough(there: Bools) -> Bools:
    """Which variables to use: those missing most often are left out until enough records are complete."""
    used = np.ones(there.shape[1], dtype=np.bool_)
    while there[:, used].all(axis=1).sum() < 2 * (used.sum() + 2) and not there.all():
        present = np.where(used, there.sum(axis=0), len(there) + 1)
        if used.sum() == 1 or present.min() == len(there):
            return np.ones_like(used)  # too few records, whatever is left out
        used[len(present) - 1 - int(present[::-1].argmin())] = False
    return used


def _within(used: Bools, varies: Bools) -> Bools:
    """The variables that are used and vary, among all."""
    both = used.copy()
    both[used] = varies
    return both


def _effective(weights: Floats | None, n: int) -> float:
    """Kish's effective sample size, (Σw)²/Σw²."""
    if weights is None or not n:
        return float(n)
    w = weights / weights.max()
    return float(w.sum() ** 2 / (w**2).sum())


@dataclass(frozen=True, slots=True)
class Stratum:
    """The records of a stratum and what was found in it, or why it was not tested.

    others, partial: the incomplete records and what was found of them. unused: variables that were left out
    because they are missing too often.
    """

    rows: Ints
    effective: float
    why: str
    tested: "Tested | None" = None
    others: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    partial: "PartlyTested | None" = None
    unused: int = 0

    def row(self) -> tuple[Any, ...]:
        """Its row in the table of strata."""
        t = self.tested
        if t is None:
            return len(self.rows), self.effective, *[None] * 7, self.why
        sizes = t.fit.sizes
        least = float((t.fit.kept_sizes / np.maximum(sizes, 1))[sizes > 0].min())
        collinear = int(np.linalg.matrix_rank(t.x - t.x.mean(axis=0), rtol=1e-9)) < t.x.shape[1]
        model = t.fit.mixture.components, t.fit.mixture.family.value
        hits, records = int(t.found.atypical.sum()), len(t.x)
        if self.partial is not None:
            hits, records = hits + int(self.partial.atypical.sum()), records + int(self.partial.tested.sum())
        share = hits / records
        return records, self.effective, *model, hits, share, t.fit.breakdown, least, collinear, ""

    def fill(self, columns: dict[str, Any]) -> None:
        """Its records in the columns of the parts."""
        t = self.tested
        if t is None:
            return
        columns["p_value"][self.rows] = t.found.p_value.tolist()
        columns["distance"][self.rows] = t.distances.tolist()
        columns["component"][self.rows] = (t.component + 1).tolist()
        columns["kept"][self.rows] = t.fit.kept.tolist()
        columns["atypical"][self.rows] = t.found.atypical.tolist()
        columns["driver"][self.rows] = np.array(t.variables, dtype=object)[t.drivers]
        if self.partial is not None:
            self.partial.fill(columns, self.others, t.variables)


def _on_one_scale(x: Floats) -> tuple[Floats, Bools, Floats, Floats]:
    """Variables that vary, less their median and over their spread: which these are, centres and units.

    Divided by their size first, so that spreads of large numbers do not overflow.
    """
    varies = np.asarray(x.min(axis=0) < x.max(axis=0)) if len(x) else np.zeros(x.shape[1], dtype=np.bool_)
    x = x[:, varies]
    if not x.size:
        return x, varies, np.empty(0), np.empty(0)
    size = np.abs(x).max(axis=0)
    x = x / size
    middle = np.median(x, axis=0)
    x = x - middle
    spread = np.median(np.abs(x), axis=0)
    spread = np.where(spread > 0, spread, x.std(axis=0))
    return x / spread, varies, middle * size, spread * size


def _drivers(x: Floats, mixture: Any, component: Ints) -> Ints:
    """The variable with the largest part (x−μ)_j [Σ⁻¹(x−μ)]_j of the squared distance."""
    away = x - mixture.means[component]
    inverse = np.linalg.inv(mixture.covariances)[component]
    return np.asarray((away * np.einsum("ijk,ik->ij", inverse, away)).argmax(axis=1), dtype=np.int64)
