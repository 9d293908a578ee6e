"""Small files protected in known ways, for tests of the attack by keys and numbers."""

import numpy as np

from sdckit.models.linked_files import KnownKeys


def skewed(n, p=2, *, seed=0, zeros=0.2):
    """Log-normal numbers, some of them 0, with a common cause."""
    rng = np.random.default_rng(seed)
    x = np.exp(1 + 0.7 * rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, p))).round(4)
    x[rng.random((n, p)) < zeros] = 0.0
    return x


def noisy(x, share, *, seed=1):
    return x + np.random.default_rng(seed).normal(size=x.shape) * share * x.std(axis=0)


def exchanged(x, share, *, seed=1):
    """Each value with a chance of `share` that of another record."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(x.shape) < share, x[rng.permutation(len(x))], x)


def rank_swapped(x, window, *, seed=1):
    """Each column on its own: values change place with values up to a window of ranks away."""
    rng = np.random.default_rng(seed)
    y, n = x.copy(), len(x)
    reach = max(1, int(window * n))
    for v in range(x.shape[1]):
        order = np.lexsort((rng.random(n), x[:, v]))
        partner = np.full(n, -1)
        for i in range(n):
            free = [j for j in range(i + 1, min(i + reach, n - 1) + 1) if partner[j] < 0]
            if partner[i] < 0:
                partner[i] = rng.choice(free) if free else i
                partner[partner[i]] = i
        y[order, v] = x[order[partner], v]
    return y


def averaged(x, k):
    """Groups of k records near each other, from the farthest from the mean on."""
    z, y = (x - x.mean(axis=0)) / x.std(axis=0), x.copy()
    left = np.arange(len(x))
    while left.size:
        far = left[np.argmax(((z[left] - z[left].mean(axis=0)) ** 2).sum(axis=1))]
        near = left[np.argsort(((z[left] - z[far]) ** 2).sum(axis=1), kind="stable")]
        group = near[: k if left.size >= 2 * k else left.size]
        y[group] = x[group].mean(axis=0)
        left = np.setdiff1d(left, group)
    return y


def randomised_keys(n, q, *, levels=4, stay=0.7, blank=0.1, exact=(), seed=2):
    """Keys, what was released of them, and the channels that did it; the last released code is a blank."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, levels, (n, q)).astype(np.int32)
    released, channels = true.copy(), []
    for v in range(q):
        matrix = np.eye(levels, levels + 1)
        if v not in exact:
            matrix = np.full((levels, levels + 1), (1 - stay - blank) / (levels - 1))
            matrix[np.arange(levels), np.arange(levels)] = stay
            matrix[:, levels] = blank
            ends = matrix.cumsum(axis=1)[true[:, v]]
            released[:, v] = (rng.random(n)[:, None] > ends).sum(axis=1).clip(max=levels)
        channels.append(matrix)
    return KnownKeys(true, released, tuple(channels))


def shuffled_rows(y, keys, *, kept=1.0, seed=3):
    """Released records in another order, some of them dropped; and the record of each person."""
    rng = np.random.default_rng(seed)
    n = len(y)
    order = rng.permutation(n)[: round(kept * n)]
    own = np.full(n, -1)
    own[order] = np.arange(order.size)
    if keys is not None:
        keys = KnownKeys(keys.true, keys.released[order], keys.channels)
    return y[order], keys, own
