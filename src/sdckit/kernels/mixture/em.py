"""EM for Gaussian mixtures of every covariance family, and log-densities."""

import math

import numpy as np

from sdckit._support.arrays import Floats
from sdckit.kernels._jit import jit
from sdckit.kernels.mixture.covariances import cholesky, covariances

LOG_2PI = math.log(2.0 * math.pi)
SINGULAR = 1e-12  # a share of a variance that is left given other variables is rounding below this


def em(
    x: Floats,
    counts: Floats,
    posterior: Floats,
    volumes: Floats,
    axes: Floats,
    family: int,
    steps: int,
    tolerance: float,
    smallest: float,
    floors: Floats,
) -> tuple[float, Floats, Floats, Floats]:
    """Log-likelihood, weights, means and covariances after at most `steps` steps from a posterior (n, G).

    Row i counts as `counts[i]` records. Stops where the log-likelihood grows by less than `tolerance` of
    itself; it never falls. −inf where a component holds fewer than `smallest` records or a variable, given
    those before it, varies by less than its floor. `posterior`, `volumes` and `axes` are changed: with them
    another call goes on from here.

    Its parts are compiled each on its own: in one kernel they take twice as long to compile.
    """
    (n, p), groups = x.shape, posterior.shape[1]
    sizes, means, logs = np.empty(groups), np.empty((groups, p)), np.empty((n, groups))
    scatter, covariance = np.empty((groups, p, p)), np.zeros((groups, p, p))
    before, weights, records = -math.inf, sizes, np.cumsum(counts)[-1]
    for _ in range(steps):
        _moments(x, counts, posterior, sizes, means, scatter)
        weights = sizes / records
        if (sizes < smallest).any() or not covariances(scatter, sizes, volumes, axes, family, covariance):
            return -math.inf, weights, means, covariance
        if not log_densities(x, means, covariance, floors, logs):
            return -math.inf, weights, means, covariance
        shares = np.array([math.log(weight) for weight in weights])
        now = _expect(logs, counts, shares, posterior)
        done = now - before <= tolerance * (1.0 + abs(now))
        before = now
        if done:
            break
    return before, weights, means, covariance


@jit
def _moments(
    x: Floats, counts: Floats, posterior: Floats, sizes: Floats, means: Floats, scatter: Floats
) -> None:
    """Expected numbers of records, means and scatter matrices of the components."""
    n, p = x.shape
    d = np.empty(p)
    for k in range(len(sizes)):
        total = 0.0
        for a in range(p):
            means[k, a] = 0.0
            for b in range(p):
                scatter[k, a, b] = 0.0
        for i in range(n):
            z = counts[i] * posterior[i, k]
            total += z
            for a in range(p):
                means[k, a] += z * x[i, a]
        sizes[k] = total
        if total > 0.0:
            for a in range(p):
                means[k, a] /= total
        for i in range(n):
            z = counts[i] * posterior[i, k]
            if z < 1e-14:
                continue
            for a in range(p):
                d[a] = x[i, a] - means[k, a]
                t = z * d[a]
                for b in range(a + 1):
                    scatter[k, a, b] += t * d[b]
        for a in range(p):
            for b in range(a):
                scatter[k, b, a] = scatter[k, a, b]


@jit
def log_densities(x: Floats, means: Floats, covariance: Floats, floors: Floats, logs: Floats) -> bool:
    """Log-densities (n, G) under each component; False where a covariance is singular."""
    n, p = x.shape
    root, u = np.empty((p, p)), np.empty(p)
    for k in range(means.shape[0]):
        if not cholesky(covariance[k], root):
            return False
        constant = p * LOG_2PI
        for j in range(p):
            if root[j, j] * root[j, j] < max(floors[j], SINGULAR * covariance[k, j, j]):
                return False
            constant += 2.0 * math.log(root[j, j])
            for m in range(j):
                root[j, m] /= root[j, j]
            root[j, j] = 1.0 / root[j, j]
        for i in range(n):
            square = 0.0
            for a in range(p):
                t = (x[i, a] - means[k, a]) * root[a, a]
                for b in range(a):
                    t -= root[a, b] * u[b]
                u[a] = t
                square += t * t
            logs[i, k] = -0.5 * (constant + square)
    return True


@jit
def _expect(logs: Floats, counts: Floats, shares: Floats, posterior: Floats) -> float:
    """The log-likelihood, from the logs of the weights; the posterior is filled in."""
    n, groups = logs.shape
    total = 0.0
    for i in range(n):
        top = -math.inf
        for k in range(groups):
            posterior[i, k] = logs[i, k] + shares[k]
            top = max(top, posterior[i, k])
        s = 0.0
        for k in range(groups):
            posterior[i, k] = math.exp(posterior[i, k] - top)
            s += posterior[i, k]
        for k in range(groups):
            posterior[i, k] /= s
        total += counts[i] * (top + math.log(s))
    return total
