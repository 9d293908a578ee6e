"""Where EM for mixtures starts: partitions by Ward's hierarchy and by k-means++ from random seeds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sdckit._support.arrays import Floats, Ints

_MOST = 2_000  # larger files are clustered from a sample of this size
_ROUNDS = 10


def partitions(
    x: Floats, components: Sequence[int], *, draws: int, rng: np.random.Generator
) -> dict[int, list[Ints]]:
    """Different partitions of the rows for every number of components.

    Two come from Ward's hierarchy, of the variables on one scale and of the sphered variables (in which
    elongated clusters are round), `draws` more by k-means++ on these in turn.
    """
    views = _views(x)
    some = np.sort(rng.choice(len(x), _MOST, replace=False)) if len(x) > _MOST else np.arange(len(x))
    several = any(g > 1 for g in components) and len(some) > 1
    trees = [_ward(view[some]) for view in views] if several else []
    found: dict[int, list[Ints]] = {}
    for g in components:
        if g == 1 or not several:
            found[g] = [np.zeros(len(x), dtype=np.int64)]
            continue
        cuts = [_cut(tree, view, some, g) for tree, view in zip(trees, views, strict=True)]
        cuts += [_k_means(views[i % 2], g, rng) for i in range(draws)]
        cuts = [labels for labels in cuts if len(np.unique(labels)) == g]
        found[g] = list({labels.tobytes(): labels for labels in cuts}.values())
    return found


def _views(x: Floats) -> list[Floats]:
    """The variables on one scale, and sphered."""
    spread = x.std(axis=0)
    scaled = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    left, values, _ = np.linalg.svd(scaled, full_matrices=False)
    return [scaled, left[:, values > 1e-8 * values.max(initial=0.0)] * np.sqrt(len(x))]


def _ward(x: Floats) -> Any:
    from scipy.cluster.hierarchy import linkage

    return linkage(x, "ward") if x.shape[1] else linkage(np.zeros((len(x), 1)), "ward")


def _cut(tree: Any, x: Floats, some: Ints, g: int) -> Ints:
    """The tree cut into g parts; rows outside the sample go to the nearest mean."""
    from scipy.cluster.hierarchy import fcluster

    labels = np.asarray(fcluster(tree, g, "maxclust"), dtype=np.int64) - 1
    if len(some) == len(x):
        return labels
    centres = np.array([x[some][labels == k].mean(axis=0) for k in range(labels.max() + 1)])
    return _nearest(x, centres)


def _k_means(x: Floats, g: int, rng: np.random.Generator) -> Ints:
    """k-means from k-means++ seeds."""
    centres = x[rng.integers(len(x))][None, :]
    for _ in range(g - 1):
        distance = ((x[:, None, :] - centres[None]) ** 2).sum(axis=2).min(axis=1)
        total = distance.sum()
        draw = rng.choice(len(x), p=distance / total) if total > 0 else rng.integers(len(x))
        centres = np.vstack([centres, x[draw]])
    labels = _nearest(x, centres)
    for _ in range(_ROUNDS):
        centres = np.array(
            [x[labels == k].mean(axis=0) if (labels == k).any() else centres[k] for k in range(g)]
        )
        labels = _nearest(x, centres)
    return labels


def _nearest(x: Floats, centres: Floats) -> Ints:
    distance = (centres**2).sum(axis=1) - 2 * x @ centres.T
    return np.asarray(distance.argmin(axis=1), dtype=np.int64)
