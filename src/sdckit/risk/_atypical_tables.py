"""What the charts of atypical records are drawn from: components, binned distances, pairs of variables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from sdckit._support.arrays import Floats, Ints
from sdckit._support.number_text import round_step
from sdckit.models.robust_distances import RobustDistances, cutoffs, simultaneous
from sdckit.models.trimmed_mixture import TrimmedMixture

EDGES = (0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 5, 10, 30, 100, np.inf)  # distances, in individual limits
MIN_BIN_RECORDS = 3  # a bin of two variables with fewer records is not counted out
MAX_VARIABLES = 5  # in the pairs: those that drive most

LIMITS = ("limit_kept", "limit_trimmed", "simultaneous_kept", "simultaneous_trimmed")
COMPONENTS = {
    "stratum": pl.String,
    "component": pl.Int64,
    "weight": pl.Float64,
    "records": pl.Int64,
    "kept": pl.Int64,
    "rejected": pl.Boolean,
    **dict.fromkeys(LIMITS, pl.Float64),
}
BINS = {"stratum": pl.String, "from": pl.Float64, "to": pl.Float64, "kept": pl.Int64, "trimmed": pl.Int64}
PAIR = {"stratum": pl.String, "variable": pl.String, "with": pl.String}
PAIRS = {**PAIR, **dict.fromkeys(("from", "to", "with_from", "with_to"), pl.Float64), "records": pl.Int64}
SHAPE = ("mean", "with_mean", "variance", "with_variance", "covariance", "limit")
ELLIPSES = {**PAIR, "component": pl.Int64, **dict.fromkeys(SHAPE, pl.Float64)}


@dataclass(frozen=True, slots=True)
class Tested:
    """A stratum with its mixture. x: the variables as tested, (values − centre) / unit."""

    name: str
    variables: tuple[str, ...]
    x: Floats
    centre: Floats
    unit: Floats
    fit: TrimmedMixture
    found: RobustDistances
    component: Ints  # of each record, the one with the largest p-value
    drivers: Ints
    alpha: float

    @property
    def share(self) -> float:
        """The share of the records that are atypical."""
        return float(self.found.atypical.mean())

    @property
    def distances(self) -> Floats:
        """Of each record from its component."""
        return np.sqrt(self.found.squares[np.arange(len(self.x)), self.component])

    def limits(self, component: int) -> tuple[float, float, float, float]:
        """Distances at the individual and the simultaneous level, for kept and for trimmed records."""
        n, p = int(self.fit.sizes[component]), self.fit.variables
        if n <= p + 1:  # no reference distribution
            return 0.0, 0.0, 0.0, 0.0
        squares = (*cutoffs(self.alpha, n, p), *cutoffs(simultaneous(self.alpha, n), n, p))
        kept, trimmed, all_kept, all_trimmed = (float(np.sqrt(square)) for square in squares)
        return kept, trimmed, all_kept, all_trimmed


def tables(strata: Sequence[Tested]) -> dict[str, pl.DataFrame]:
    """Components and binned distances of all strata; pairs and ellipses of the one with the largest share."""
    found = {
        "components": _table((row for s in strata for row in _components(s)), COMPONENTS),
        "distances": _table((row for s in strata for row in _bins(s)), BINS),
    }
    several = [s for s in strata if len(s.variables) > 1 and _can_be_squared(s)]
    if several:
        worst = max(several, key=lambda s: s.share)
        places = _most_driving(worst)
        found["pairs"] = _table(_pairs(worst, places), PAIRS)
        found["ellipses"] = _table(_ellipses(worst, places), ELLIPSES)
    return found


def _can_be_squared(s: Tested) -> bool:
    return bool(((s.unit > 1e-100) & (np.abs(s.centre) + s.unit < 1e100)).all())


def _table(rows: Iterator[tuple[Any, ...]], schema: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema, orient="row")


def _components(s: Tested) -> Iterator[tuple[Any, ...]]:
    mixture, kept = (
        s.fit.mixture,
        np.bincount(s.fit.component[s.fit.kept], minlength=s.fit.mixture.components),
    )
    for g, records in enumerate(s.fit.sizes.tolist()):
        counts = float(mixture.weights[g]), records, int(kept[g])
        yield s.name, g + 1, *counts, bool(s.found.rejected[g]), *s.limits(g)


def _bins(s: Tested) -> Iterator[tuple[Any, ...]]:
    limits = np.array([s.limits(g)[:2] for g in range(s.fit.mixture.components)])
    own = limits[s.component, np.where(s.fit.kept, 0, 1)]
    times = np.divide(s.distances, own, out=np.full(len(own), np.inf), where=own > 0)
    place = np.clip(np.searchsorted(EDGES, times, side="left") - 1, 0, len(EDGES) - 2)
    kept, trimmed = (np.bincount(place[rows], minlength=len(EDGES) - 1) for rows in (s.fit.kept, ~s.fit.kept))
    for i in range(len(EDGES) - 1):
        yield s.name, float(EDGES[i]), float(EDGES[i + 1]), int(kept[i]), int(trimmed[i])


def _most_driving(s: Tested) -> list[int]:
    """The variables that drive the distance of most atypical records, in their order."""
    times = np.bincount(s.drivers[s.found.atypical], minlength=len(s.variables))
    return sorted(np.argsort(-times, kind="stable")[:MAX_VARIABLES].tolist())


def _pairs(s: Tested, places: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Numbers of records in a grid over each pair of variables, as far as the components reach."""
    values = s.x * s.unit + s.centre
    edges = {j: _edges(s, j) for j in places}
    for i, j in combinations(places, 2):
        counts, _, _ = np.histogram2d(values[:, i], values[:, j], bins=(edges[i], edges[j]))
        for a, b in np.argwhere(counts >= MIN_BIN_RECORDS).tolist():
            box = edges[i][a], edges[i][a + 1], edges[j][b], edges[j][b + 1]
            yield s.name, s.variables[i], s.variables[j], *map(float, box), int(counts[a, b])


def _edges(s: Tested, j: int) -> Floats:
    """Round numbers that cover the components, not the records: an extreme value is not shown."""
    low, high = np.inf, -np.inf
    for g in range(s.fit.mixture.components):
        mean, covariance = _in_units(s, g)
        reach = s.limits(g)[1] * float(np.sqrt(covariance[j, j]))
        low, high = min(low, mean[j] - reach), max(high, mean[j] + reach)
    if not low < high:
        return np.array([low - 0.5, low + 0.5])
    step = round_step(high - low, int(np.clip(np.sqrt(len(s.x)), 6, 20)))
    return step * np.arange(np.floor(low / step), np.ceil(high / step) + 1)


def _ellipses(s: Tested, places: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    for g in range(s.fit.mixture.components):
        mean, covariance = _in_units(s, g)
        limit = s.limits(g)[1]
        for i, j in combinations(places, 2):
            shape = mean[i], mean[j], covariance[i, i], covariance[j, j], covariance[i, j]
            yield s.name, s.variables[i], s.variables[j], g + 1, *map(float, shape), limit


def _in_units(s: Tested, component: int) -> tuple[Floats, Floats]:
    """Mean and corrected covariance of a component in the units of the data."""
    mixture = s.fit.mixture
    mean = mixture.means[component] * s.unit + s.centre
    covariance = mixture.covariances[component] * s.found.factors[component]
    return mean, covariance * np.outer(s.unit, s.unit)
