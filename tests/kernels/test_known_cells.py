"""Trees by known cuts find what trees of the records themselves find, whatever records the cuts are of."""

import numpy as np
import pytest

from sdckit.kernels import nearest
from sdckit.kernels.known_cells import build_by, cuts_of
from sdckit.kernels.nearest import Rule, build, count_nearer, own_distances


@pytest.mark.parametrize("n", [1, 30, 3_000])
@pytest.mark.parametrize("square", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("apart", [0.0, 5.0])
def test_counts_are_those_of_a_tree_of_the_records(n, square, missing, apart, monkeypatch):
    rng = np.random.default_rng(n)
    x, y = rng.integers(0, 9, (2, n, 3)) / 8 + rng.normal(size=3)
    sample = rng.normal(size=(300, 3)) + apart  # with 5, most leaves of the cuts stay empty
    for values in (x, y, sample):
        values[rng.random(values.shape) < missing] = np.nan
    rule = Rule(np.zeros(3, dtype=bool), np.full(3, 0.7), np.full(3, 0.2), square, missing == 0)
    own = own_distances(x, y, rule)
    monkeypatch.setattr(nearest, "PAIRS", -1)
    first = count_nearer(build(x, rule), y, own, own * 1.01, 5)
    tree = build_by(cuts_of(sample, 5), x, rule)
    again = count_nearer(tree, y, own, own * 1.01, 5)
    assert sorted(tree.record) == list(range(n))
    np.testing.assert_array_equal(tree.points, x[tree.record])
    assert (first[0] == again[0]).all()
    complete = first[0] < 5
    assert (first[1][complete] == again[1][complete]).all()


@pytest.mark.parametrize(
    "sample", [np.empty((0, 2)), np.ones((1, 2)), np.ones((9, 2)), np.full((9, 2), np.nan)]
)
def test_cuts_of_few_or_equal_records_serve_too(sample):
    x = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, np.nan]])
    rule = Rule(np.zeros(2, dtype=bool), np.ones(2), np.zeros(2), True, False)
    tree = build_by(cuts_of(sample, 5), x, rule)
    nearer, within = count_nearer(tree, np.array([[1.0, 1.0]]), np.array([0.5]), np.array([1.0]), 5)
    assert (nearer[0], within[0]) == (1, 3)
