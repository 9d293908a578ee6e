"""Gaussian mixtures with the 14 covariance families: a fitted one, and EM."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.errors import DataError, OptionError
from sdckit.models.mixture_families import Family

_TOLERANCE = 1e-7  # relative growth of the log-likelihood at which EM stops
_FLAT = 1e-8  # a variable that varies less than this share of its variance, given the others, is singular


@dataclass(frozen=True, slots=True)
class Mixture:
    """A fitted mixture: weights (G), means (G, p), covariances (G, p, p)."""

    family: Family
    weights: Floats
    means: Floats
    covariances: Floats
    log_likelihood: float
    records: int
    volumes: Floats = field(repr=False)  # with the axes: where another EM goes on
    axes: Floats = field(repr=False)

    @property
    def components(self) -> int:
        """G."""
        return len(self.weights)

    @property
    def parameters(self) -> int:
        """The number of free parameters."""
        return self.family.parameters(*self.means.shape)

    @property
    def bic(self) -> float:
        """2·log-likelihood − parameters·log n: larger is better, as in mclust."""
        return 2 * self.log_likelihood - self.parameters * math.log(self.records)

    def component_logs(self, x: Floats) -> Floats:
        """Log of weight times density of each row under each component (n, G)."""
        from sdckit.kernels.mixture.em import log_densities

        logs = np.empty((len(x), self.components))
        log_densities(np.ascontiguousarray(x), self.means, self.covariances, np.zeros(x.shape[1]), logs)
        return np.asarray(logs + np.log(self.weights))

    def scores(self, x: Floats) -> Floats:
        """The log-density of each row."""
        logs = self.component_logs(x)
        return np.asarray(np.logaddexp.reduce(logs, axis=1))

    def posterior(self, x: Floats) -> Floats:
        """The probability of each component for each row (n, G)."""
        logs = self.component_logs(x)
        return np.asarray(np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)))


def check(x: Floats, components: Sequence[int]) -> None:
    """Refuse what no mixture can be fitted to."""
    if x.ndim != 2 or 0 in x.shape:
        raise DataError("A mixture needs records and variables.", given=f"shape {x.shape}")
    if not np.isfinite(x).all():
        raise DataError("A mixture needs complete, finite numbers.", hint="Leave out incomplete records.")
    if not components or min(components) < 1:
        raise OptionError("Numbers of components start at 1.", given=list(components))


def run_em(
    x: Floats,
    family: Family,
    posterior: Floats,
    before: Mixture | None,
    *,
    steps: int,
    counts: Floats | None = None,
    smallest: float = 1.0,
) -> Mixture | None:
    """EM from a posterior; with the mixture it came from, the log-likelihood never falls below its own.

    `counts`: how many records each row stands for, 1 unless given. None where a component comes to hold fewer
    than `smallest` records or its covariance is singular.
    """
    from sdckit.kernels.mixture.em import em

    p, g = x.shape[1], posterior.shape[1]
    volumes = np.zeros(g) if before is None else before.volumes.copy()
    axes = np.zeros((p, p)) if before is None else before.axes.copy()
    counts = np.ones(len(x)) if counts is None else counts
    floors = _FLAT * x.var(axis=0)
    value, weights, means, covariances = em(
        x, counts, posterior, volumes, axes, family.code, steps, _TOLERANCE, smallest, floors
    )
    if not math.isfinite(value):
        return None
    return Mixture(family, weights, means, covariances, value, round(counts.sum()), volumes, axes)


def by_weight(mixture: Mixture) -> Mixture:
    """The components in the order of their weights, so that a fit reads the same however it was found."""
    order = np.argsort(-mixture.weights, kind="stable")
    return replace(
        mixture,
        weights=mixture.weights[order],
        means=mixture.means[order],
        covariances=mixture.covariances[order],
        volumes=mixture.volumes[order],
    )
