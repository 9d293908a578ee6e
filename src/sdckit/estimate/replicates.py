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
    the estimate from the full weights.
    """

    design: Design
    method: Method
    scale: Floats  # [R]
    centred: bool
    seed: int = 0
    margins: tuple[Ints, ...] = ()
    given: Floats | None = None  # [R, n]

    def __iter__(self) -> Iterator[Floats]:
        """Chunks [r, n] of weights, all R of them in turn, the same each time."""
        if self.given is not None:
            yield self.given
        elif self.method is Method.JACKKNIFE:
            yield from self._jackknife()
        else:
            yield from self._bootstrap()

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
) -> Replicates:
    """Replicate weights of a design.

    bootstrap: draw as many PSUs as there are, with replacement, in each stratum; a record's weight is
    multiplied by how often it was drawn. rescaled (Rao & Wu 1988; Rao, Wu & Yue 1992): draw one PSU less and
    rescale, which is unbiased for totals in strata with few PSUs and takes finite populations into account.
    calibrated: the bootstrap with each replicate raked so that the weights of the categories in `margins`
    add up to those of the sample. jackknife: leave out one PSU at a time; `number` is then not used.
    """
    if method is Method.JACKKNIFE:
        if int(design.clusters.sum()) * len(design.weights) > _MOST:
            raise OptionError(
                "The jackknife leaves out every sampling unit in turn, and there are too many.",
                given=f"{int(design.clusters.sum()):,} sampling units, {len(design.weights):,} records",
                hint="Give the clusters their role, or use variance='taylor' or 'bootstrap'.",
            )
        m = design.clusters[design.stratum_of_cluster]
        f = design.fraction[design.stratum_of_cluster]
        return Replicates(design, method, ((1 - f) * (m - 1) / m)[m > 1], centred=False)
    spread = np.full(number, 1 / (number - 1))
    return Replicates(
        design, method, spread, True, seed, tuple(margins) if method is Method.CALIBRATED else ()
    )


def given_replicates(design: Design, weights: Floats, *, scale: float | None = None) -> Replicates:
    """Replicate weights [R, n] that came with the data; `scale` is the factor of the sum of squares, 1/R.

    Bootstrap and BRR weights have 1/R; a jackknife (R−1)/R; Fay's BRR 1/(R(1−k)²).
    """
    number = len(weights)
    each = np.full(number, 1 / number if scale is None else scale)
    return Replicates(design, Method.REPLICATES, each, centred=False, given=weights)


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
