"""Gaussian mixtures with the 14 covariance families, chosen by BIC."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.errors import DataError, OptionError
from sdckit.models.mixture_families import FAMILIES, Family

_SHORT, _LONG = 15, 1_000  # EM steps from every start, and from the best of them
_FINALISTS = 2
_SAME = 0.01  # log-likelihoods after the first steps that differ by less are of the same start
_TOLERANCE = 1e-7  # relative growth of the log-likelihood at which EM stops
_FLAT = 1e-10  # a variable that varies less than this share of its variance, given the others, is singular


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


def gaussian_mixture(
    x: Floats,
    *,
    components: Sequence[int] = (1, 2, 3, 4, 5),
    families: Sequence[Family] = FAMILIES,
    draws: int = 4,
    seed: int = 0,
) -> list[Mixture]:
    """Mixtures of every family and number of components that could be fitted, the best BIC first.

    EM starts from two hierarchical and `draws` random partitions and from the fits of the families before it
    with as many components; after a few steps the most likely ones go on until the log-likelihood grows by
    less than 1e-7 of itself. A fit is dropped where a component would hold less than one record or its
    covariance is singular. The order of the rows does not matter. Where the variables do not vary or are
    collinear, the families with full covariances cannot be fitted; the list may be empty.
    Reference: Fraley & Raftery (2002); BIC has the sign of mclust: larger is better.

    >>> rng = np.random.default_rng(1)
    >>> x = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(40, 2)) + 8])
    >>> best = gaussian_mixture(x, components=(1, 2, 3))[0]
    >>> best.family.value, best.components, best.weights.round(1).tolist()
    ('EII', 2, [0.6, 0.4])
    """
    from sdckit.models.mixture_starts import partitions

    check(x, components)
    x = np.ascontiguousarray(x[np.lexsort(x.T)], dtype=np.float64)
    counts = sorted({g for g in components if g <= len(x)})
    starts = partitions(x, counts, draws=draws, rng=np.random.default_rng(seed))
    found: list[Mixture] = []
    for g in counts:
        posteriors = [np.eye(g)[labels] for labels in starts[g]]
        for family in families if g > 1 else _distinct_alone(families):
            fit = fit_family(x, family, posteriors)
            if fit is not None:
                found.append(fit)
                posteriors.append(fit.posterior(x))
    found.sort(key=lambda m: -m.bic)
    return [by_weight(m) for m in found]


def check(x: Floats, components: Sequence[int]) -> None:
    """Refuse what no mixture can be fitted to."""
    if x.ndim != 2 or 0 in x.shape:
        raise DataError("A mixture needs records and variables.", given=f"shape {x.shape}")
    if not np.isfinite(x).all():
        raise DataError("A mixture needs complete, finite numbers.", hint="Leave out incomplete records.")
    if not components or min(components) < 1:
        raise OptionError("Numbers of components start at 1.", given=list(components))


def fit_family(
    x: Floats, family: Family, posteriors: Iterable[Floats], *, smallest: float = 1.0, flat: float = _FLAT
) -> Mixture | None:
    """The best fit of one family from several posteriors, or None where all end in singularities."""
    short = [go_on(x, family, z.copy(), None, steps=_SHORT, smallest=smallest, flat=flat) for z in posteriors]
    good = sorted((m for m in short if m is not None), key=lambda m: -m.log_likelihood)
    done: list[Mixture] = []
    last = math.inf
    for m in good:
        if last - m.log_likelihood < _SAME:  # on the way to where the one before it went
            continue
        last = m.log_likelihood
        fit = go_on(x, family, m.posterior(x), m, steps=_LONG, smallest=smallest, flat=flat)
        if fit is not None:
            done.append(fit)
        if len(done) == _FINALISTS:
            break
    return max(done, key=lambda m: m.log_likelihood, default=None)


def go_on(
    x: Floats,
    family: Family,
    posterior: Floats,
    before: Mixture | None,
    *,
    steps: int,
    counts: Floats | None = None,
    smallest: float = 1.0,
    flat: float = _FLAT,
) -> Mixture | None:
    """EM from a posterior; with the mixture it came from, the log-likelihood never falls below its own.

    `counts`: how many records each row stands for, 1 unless told.
    """
    from sdckit.kernels.mixture.em import em

    p, g = x.shape[1], posterior.shape[1]
    volumes = np.zeros(g) if before is None else before.volumes.copy()
    axes = np.zeros((p, p)) if before is None else before.axes.copy()
    floors = flat * x.var(axis=0)
    counts = np.ones(len(x)) if counts is None else counts
    value, weights, means, covariances = em(
        x, counts, posterior, volumes, axes, family.code, steps, _TOLERANCE, smallest, floors
    )
    if not math.isfinite(value):
        return None
    return Mixture(family, weights, means, covariances, value, round(counts.sum()), volumes, axes)


def _distinct_alone(families: Sequence[Family]) -> list[Family]:
    """With one component only the axes and the shape tell families apart: one of each kind is enough."""
    kinds: dict[str, Family] = {}
    for family in families:
        kinds.setdefault(family.value.replace("V", "E"), family)
    return list(kinds.values())


def by_weight(mixture: Mixture) -> Mixture:
    """The components in the order of their weights, so that a fit reads the same however it was found."""
    order = np.argsort(-mixture.weights, kind="stable")
    return Mixture(
        mixture.family,
        mixture.weights[order],
        mixture.means[order],
        mixture.covariances[order],
        mixture.log_likelihood,
        mixture.records,
        mixture.volumes[order],
        mixture.axes,
    )
