"""Replicate weights: bootstrap (naive, rescaled, calibrated), jackknife, or given with the data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sdckit._support.arrays import Floats, Ints
from sdckit.errors import OptionError
from sdckit.estimate.design import Design

_CHUNK = 1 << 19  # weights worked on at once: 4 MB stay in the cache
_MOST = 2_000_000_000  # weights of all jackknife replicates together
_RAKING_STEPS = 50
_RAKED = 1e-10
_RANK = 1e-10  # smallest eigenvalue that counts, as a share of the largest


class Method(StrEnum):
    """How the variance is estimated."""

    TAYLOR = "taylor"
    BOOTSTRAP = "bootstrap"
    RESCALED = "rescaled"
    CALIBRATED = "calibrated"
    JACKKNIFE = "jackknife"
    REPLICATES = "replicates"


@dataclass(frozen=True)
class Replicates:
    """Sets of weights, in chunks, and what their spread says of the variance.

    Variance of θ: Σ_r scale_r (θ_r − centre)², where the centre is the mean of the replicates (`centred`) or
    the estimate from the full weights. degrees: of freedom of the variance.
    """

    design: Design
    method: Method
    scale: Floats  # [R]
    centred: bool
    seed: int = 0
    margins: tuple[Ints, ...] = ()
    given: Floats | None = None  # [R, n]
    degrees: float = np.inf

    def __iter__(self) -> Iterator[Floats]:
        """Chunks [r, n] of weights, all R of them in turn, the same each time."""
        if self.given is not None:
            rows = max(_CHUNK // self.given.shape[1], 1)
            yield from (self.given[start : start + rows] for start in range(0, len(self.given), rows))
        elif self.method is Method.JACKKNIFE:
            yield from self._jackknife()
        else:
            yield from self._bootstrap()

    def covariance(self, found: Floats, full: Floats) -> Floats:
        """[k, k] Covariance of k numbers by their replicates [R, k]; `full` are those of the full weights.

        A replicate that lacks one of the numbers is left out, and the others count for it. nan where fewer
        than two are left.
        """
        known = np.isfinite(found).all(axis=1)
        if known.sum() < 2:
            return np.full((len(full), len(full)), np.nan)
        counted = known & (self.scale > 0)
        middle = found[counted].mean(axis=0) if self.centred and counted.any() else full
        away = (found[known] - middle) * np.sqrt(self.scale[known] * (len(found) / known.sum()))[:, None]
        return np.asarray(away.T @ away)

    def _bootstrap(self) -> Iterator[Floats]:
        from sdckit.kernels.replicates import bootstrap_weights

        design, rng = self.design, np.random.default_rng(self.seed)
        drawing = _drawing(design, rescaled=self.method is Method.RESCALED)
        totals: list[Floats] = [
            np.bincount(m, weights=design.weights).astype(np.float64) for m in self.margins
        ]
        left, n, m = len(self.scale), len(design.weights), len(design.stratum_of_cluster)
        while left:
            rows = min(left, max(_CHUNK // max(n, m), 1))
            left -= rows
            weights = np.empty((rows, n))
            bootstrap_weights(rng.random((rows, m)), *drawing, design.weights, weights)
            for row in weights if totals else ():
                _rake(row, self.margins, totals)
            yield weights

    def _jackknife(self) -> Iterator[Floats]:
        """Leave out one PSU; the others of its stratum stand in for it."""
        design = self.design
        home, m = design.stratum_of_cluster, design.clusters
        left_out = np.flatnonzero(m[home] > 1)
        rows = max(_CHUNK // len(design.weights), 1)
        for start in range(0, len(left_out), rows):
            some = left_out[start : start + rows]
            h = home[some]
            same = design.stratum == h[:, None]
            weights = np.where(same, design.weights * (m[h] / (m[h] - 1))[:, None], design.weights)
            weights[design.cluster == some[:, None]] = 0.0
            yield weights


def replicates(
    design: Design,
    method: Method,
    number: int,
    *,
    seed: int = 0,
    margins: Sequence[Ints] = (),
    mse: bool | None = None,
) -> Replicates:
    """Replicate weights of a design.

    bootstrap: draw as many PSUs as there are, with replacement, in each stratum; a record's weight is
    multiplied by how often it was drawn. rescaled (Rao & Wu 1988; Rao, Wu & Yue 1992): draw one PSU less and
    rescale, which is unbiased for totals in strata with few PSUs and takes finite populations into account.
    calibrated: the bootstrap with each replicate raked so that the weights of the categories in `margins`
    add up to those of the sample. jackknife: leave out one PSU at a time; `number` is then not used.
    mse: squares about the estimate or about the mean of the replicates; by default the jackknife has them
    about the estimate, a bootstrap about the mean.
    """
    degrees = float(design.degrees_of_freedom)
    if method is Method.JACKKNIFE:
        if int(design.clusters.sum()) * len(design.weights) > _MOST:
            raise OptionError(
                "The jackknife leaves out every sampling unit in turn, and there are too many.",
                given=f"{int(design.clusters.sum()):,} sampling units, {len(design.weights):,} records",
                hint="Give the clusters their role, or use variance='taylor' or 'bootstrap'.",
            )
        m = design.clusters[design.stratum_of_cluster]
        f = design.fraction[design.stratum_of_cluster]
        left_out = ((1 - f) * (m - 1) / m)[m > 1]
        return Replicates(design, method, left_out, centred=mse is False, degrees=degrees)
    drawn = (design.clusters > 1) | (design.fraction >= 1)  # where no unit can change places with another
    spread = np.full(number, 1 / (number - 1) if drawn.any() else np.nan)  # there is no variance
    raked = tuple(margins) if method is Method.CALIBRATED else ()
    return Replicates(design, method, spread, mse is not True, seed, raked, degrees=degrees)


def given_replicates(design: Design, weights: Floats, squares: Floats, *, mse: bool = True) -> Replicates:
    """Replicate weights [R, n] that came with the data; `squares` are the factors [R] of their squares.

    Degrees of freedom: the rank of the weights less 1, and never more than the design has.
    """
    product = weights @ weights.T  # R numbers squared have the rank of n·R
    sizes = np.linalg.eigvalsh(product)
    rank = int((sizes > _RANK * sizes.max(initial=0.0)).sum())
    degrees = float(min(max(rank - 1, 1), design.degrees_of_freedom))
    return Replicates(design, Method.REPLICATES, squares, not mse, given=weights, degrees=degrees)


def _drawing(design: Design, *, rescaled: bool) -> tuple[Ints, Ints, Floats, Floats, Ints]:
    """What the kernel needs: for each draw the first PSU and size of its stratum; base and gain; the PSUs.

    Rescaled: one draw less in each stratum, and 1 − λ + λ·(m/(m−1))·count with λ = √(1−f); a PSU alone in
    its stratum stays as it is.
    """
    home, sizes = design.stratum_of_cluster, design.clusters
    order = np.argsort(home, kind="stable")
    number = np.empty_like(order)  # PSUs numbered by stratum
    number[order] = np.arange(len(order))
    starts = np.cumsum(sizes) - sizes
    first, size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
    base, gain = np.zeros(len(order)), np.ones(len(order))
    if rescaled:
        kept = np.sqrt(1 - design.fraction)[home[order]]
        base = np.where(size > 1, 1 - kept, 1.0)
        gain = np.where(size > 1, kept * size / np.maximum(size - 1, 1), 0.0)
        size = np.where(np.arange(len(order)) == first + size - 1, 0, size)
    return first, size, base, gain, number[design.cluster]


def _rake(w: Floats, margins: Sequence[Ints], totals: Sequence[Floats]) -> None:
    """Scale the weights w [n], in place, until the categories of every margin have their totals.

    A category no drawn record belongs to keeps weight 0; one margin is met in a single step.
    """
    for _ in range(_RAKING_STEPS):
        worst = 0.0
        for codes, wanted in zip(margins, totals, strict=True):
            now = np.bincount(codes, weights=w, minlength=len(wanted))
            factor = np.divide(wanted, now, out=np.ones_like(now), where=now > 0)
            w *= factor[codes]
            worst = max(worst, float(np.abs(factor - 1).max()))
        if worst < _RAKED or len(margins) == 1:
            return
