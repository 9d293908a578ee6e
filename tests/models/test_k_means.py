"""k-means against its definition, step by step."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from sdckit.models.k_means import k_means, nearest_centre


def loss(points, weights, centres):
    return sum(w * min(((p - c) ** 2).sum() for c in centres) for p, w in zip(points, weights, strict=True))


@pytest.fixture
def cloud():
    rng = np.random.default_rng(5)
    return rng.normal(size=(80, 3)), rng.uniform(0.5, 3, 80)


def test_every_centre_is_the_weighted_mean_of_the_records_nearest_to_it(cloud):
    points, weights = cloud
    centres = k_means(points, 5, weights)
    nearest = np.array([np.argmin([((p - c) ** 2).sum() for c in centres]) for p in points])
    assert nearest_centre(points, centres).tolist() == nearest.tolist()
    for g in range(5):
        assert centres[g] == pytest.approx(
            np.average(points[nearest == g], axis=0, weights=weights[nearest == g])
        )


def test_more_starts_are_no_worse_and_none_is_beaten_by_random_centres(cloud):
    points, weights = cloud
    one, many = (loss(points, weights, k_means(points, 5, weights, starts=s)) for s in (1, 8))
    assert many <= one + 1e-9
    rng = np.random.default_rng(1)
    assert many < min(loss(points, weights, points[rng.choice(80, 5, replace=False)]) for _ in range(50))


def test_far_apart_clusters_are_found():
    rng = np.random.default_rng(2)
    centres = np.array([[0.0, 0], [50, 0], [0, 50], [50, 50], [100, 100]])
    points = np.repeat(centres, 40, axis=0) + rng.normal(size=(200, 2))
    found = nearest_centre(points, k_means(points, 5))
    assert len({tuple(found[i : i + 40]) for i in range(0, 200, 40)}) == 5
    assert all(len(set(found[i : i + 40])) == 1 for i in range(0, 200, 40))


def test_a_weight_is_that_many_records(cloud):
    points, _ = cloud
    weights = np.random.default_rng(3).integers(1, 4, 80).astype(float)
    centres = k_means(points, 4, weights)
    repeated = np.repeat(points, weights.astype(int), axis=0)
    assert loss(points, weights, centres) == pytest.approx(loss(repeated, np.ones(len(repeated)), centres))


def test_sparse_points_give_the_same(cloud):
    points, weights = cloud
    points = np.where(points > 0, points, 0)
    assert k_means(csr_matrix(points), 4, weights) == pytest.approx(k_means(points, 4, weights))


def test_a_cluster_for_each_record_and_one_for_all(cloud):
    points, weights = cloud
    assert sorted(nearest_centre(points[:6], k_means(points[:6], 6)).tolist()) == [*range(6)]
    assert k_means(points, 1, weights)[0] == pytest.approx(np.average(points, axis=0, weights=weights))


def test_equal_points_do_not_trouble_it():
    points = np.array([[1.0], [1.0], [1.0], [4.0]])
    assert sorted(k_means(points, 2).ravel().tolist()) == [1, 4]
    assert np.isfinite(k_means(np.ones((5, 2)), 2)).all()
