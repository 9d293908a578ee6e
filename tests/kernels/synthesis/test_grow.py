"""Trees beside a search of all splits, and what must hold of every tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_trees import best_gain, enough, gain_of, impurity
from sdckit.kernels.synthesis.grow import (
    BITS,
    CHILD,
    CUT,
    FEATURE,
    PARENT,
    START,
    STOP,
    class_dimensions,
    enough_gain,
    grow_tree,
    ways_to_cut,
)
from sdckit.kernels.synthesis.leaves import find_leaves

NOBODY = np.empty(0, dtype=np.int32)


def left_codes(nodes, bits, node, codes):
    """The codes among those given that go left in a node."""
    first = int(nodes[node, BITS])
    if first < 0:
        return frozenset(int(c) for c in codes if c <= nodes[node, CUT])
    return frozenset(int(c) for c in codes if not (int(bits[first + (int(c) >> 6)]) >> (int(c) & 63)) & 1)


def made(seed: int, n: int, kind: str):
    """Three predictors (two ordered, one of six categories) and a target that depends on all."""
    rng = np.random.default_rng(seed)
    x = np.stack([rng.integers(0, 9, n), rng.integers(0, 250, n), rng.integers(0, 6, n)]).astype(np.uint16)
    signal = x[0] / 4 + np.sin(x[1] / 50) + np.array([0.0, 2, 1, -1, 3, 0.5])[x[2]] + rng.normal(size=n) / 2
    if kind == "number":
        return x, signal
    cuts = [0.5] if kind == "two classes" else [0.3, 0.6, 0.8]
    return x, np.digitize(signal, np.quantile(signal, cuts)).astype(np.int32)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 60),
    leaf=st.integers(1, 6),
    gain=st.sampled_from([0.0, 1.0, 4.0]),
    kind=st.sampled_from(["number", "two classes", "four classes"]),
)
@settings(max_examples=60, deadline=None)
def test_every_node_is_split_as_well_as_can_be(seed, n, leaf, gain, kind):
    x, y = made(seed, n, kind)
    classes = kind != "number"
    # subsets of levels are not all tried where there are many classes
    worst = 1.0 if kind != "four classes" else 0.6 if leaf == 1 and gain == 0 else 0.0
    nodes, bits, rows = grow_tree(x, np.array([0, 0, 6], dtype=np.int32), y, NOBODY, leaf, gain)
    assert sorted(rows) == list(range(n))
    for node in range(len(nodes)):
        at = rows[nodes[node, START] : nodes[node, STOP]]
        codes = [x[f, at].tolist() for f in range(3)]
        target = y[at].tolist()
        best = best_gain(codes, [False, False, True], target, classes=classes, leaf=leaf, gain=gain)
        if nodes[node, FEATURE] < 0:
            assert worst * best <= 1e-9
            continue
        f = int(nodes[node, FEATURE])
        left = left_codes(nodes, bits, node, codes[f])
        reached = gain_of(codes[f], left, target, classes)
        assert reached >= enough(codes[f], f == 2, target, classes, gain) - 1e-9
        assert reached >= (worst - 1e-9) * best
        child = nodes[node, CHILD]
        expected = [r for r, code in zip(at, codes[f], strict=True) if code in left]
        assert sorted(rows[nodes[child, START] : nodes[child, STOP]]) == sorted(expected)
        assert nodes[child, PARENT] == nodes[child + 1, PARENT] == node
        assert min(len(expected), len(at) - len(expected)) >= leaf


def test_of_unrelated_records_the_best_of_many_cuts_is_not_enough():
    """More is asked where there are more cuts, and less where classes vary in more dimensions."""
    assert enough_gain(2.0, 1.0, 1.0) == 2.0
    assert enough_gain(2.0, 100.0, 1.0) == pytest.approx(2 * (1 + np.log(100) / 4))
    assert enough_gain(2.0, 1.0, 4.0) == 1.5
    assert enough_gain(0.5, 1.0, 4.0) == 0.5
    counts = np.array([[10, 10, 10, 10]])
    assert class_dimensions(counts, 4, 40) == pytest.approx(3)
    assert class_dimensions(np.array([[90, 10]]), 2, 100) == pytest.approx(1)
    rng = np.random.default_rng(4)
    found = {}
    for kind in ("number", "four classes"):
        leaves = []
        for _ in range(40):
            x = rng.integers(0, 200, (6, 500)).astype(np.uint16)
            y = rng.normal(size=500) if kind == "number" else rng.integers(0, 4, 500).astype(np.int32)
            leaves.append((len(grow_tree(x, np.zeros(6, dtype=np.int32), y, NOBODY, 20, 2.5)[0]) + 1) / 2)
        found[kind] = np.mean(leaves)
    assert max(found.values()) < 6, found  # 25 leaves of 20 records are possible


def test_of_unrelated_categories_the_best_subset_is_not_enough():
    """Levels are put in the order of what they are to predict, which gains more than any given order."""
    assert ways_to_cut(9, 0) == 8
    assert ways_to_cut(9, 9) == 255
    rng = np.random.default_rng(4)
    split = 0
    for _ in range(100):
        x = rng.integers(0, 12, (1, 500)).astype(np.uint16)
        y = rng.integers(0, 3, 500).astype(np.int32)
        split += len(grow_tree(x, np.array([12], dtype=np.int32), y, NOBODY, 20, 3.0)[0]) > 1
    assert split < 25, split  # with an order of their own in mind it would be nearly all


@pytest.mark.parametrize("kind", ["number", "four classes"])
def test_records_reach_the_leaf_they_were_put_in(kind):
    x, y = made(3, 4_000, kind)
    nodes, bits, rows = grow_tree(x, np.array([0, 0, 6], dtype=np.int32), y, NOBODY, 5, 0.0)
    leaves = find_leaves(x, np.arange(3, dtype=np.int32), nodes, bits)
    place = np.argsort(rows)
    assert ((nodes[leaves, START] <= place) & (place < nodes[leaves, STOP])).all()
    assert (nodes[leaves, FEATURE] == -1).all()
    assert len(np.unique(leaves)) > 50


def test_large_nodes_are_cut_as_small_ones_would_be():
    """More than 40 records are counted in 256 bins: here of two codes each, of which one occurs."""
    x, y = made(5, 400, "number")
    x[1] *= 2
    nodes, bits, _ = grow_tree(x, np.array([0, 0, 6], dtype=np.int32), y, NOBODY, 5, 1.0)
    f = int(nodes[0, FEATURE])
    reached = gain_of(x[f].tolist(), left_codes(nodes, bits, 0, x[f]), y.tolist(), False)
    codes = [x[j].tolist() for j in range(3)]
    best = best_gain(codes, [False, False, True], y.tolist(), classes=False, leaf=5)
    assert reached == pytest.approx(best)


def test_as_good_as_scikit_learn_on_numbers():
    tree = pytest.importorskip("sklearn.tree")
    rng = np.random.default_rng(8)
    z = rng.normal(size=(4, 3_000))
    y = z[0] ** 2 + z[1] * z[2] + rng.normal(size=3_000) / 3
    x = z.argsort(axis=1).argsort(axis=1).astype(np.uint16)
    nodes, _, rows = grow_tree(x, np.zeros(4, dtype=np.int32), y, NOBODY, 5, 0.0)
    leaves = nodes[nodes[:, FEATURE] < 0]
    ours = sum(((y[rows[a:b]] - y[rows[a:b]].mean()) ** 2).sum() for a, b in leaves[:, [START, STOP]])
    other = tree.DecisionTreeRegressor(min_samples_leaf=5).fit(x.T.astype(float), y)
    theirs = ((y - other.predict(x.T.astype(float))) ** 2).sum()
    assert ours == pytest.approx(theirs, rel=0.02)
    assert len(leaves) == pytest.approx(other.get_n_leaves(), rel=0.05)


def test_leaves_hold_enough_different_units():
    """Five brothers are one donor."""
    x, y = made(1, 600, "number")
    home = np.repeat(np.arange(120, dtype=np.int32), 5)
    y = y + home  # brothers are alike, so that they would end in one leaf
    x[1] = home * 2
    nodes, _, rows = grow_tree(x, np.array([0, 0, 6], dtype=np.int32), y, home, 5, 0.0)
    leaves = nodes[nodes[:, FEATURE] < 0]
    assert len(leaves) > 3
    assert min(len(set(home[rows[a:b]])) for a, b in leaves[:, [START, STOP]]) >= 5


def test_levels_that_a_node_lacks_go_to_the_larger_side():
    x = np.array([[0] * 30 + [1] * 10], dtype=np.uint16)
    y = np.array([0.0] * 30 + [5.0] * 10) + np.arange(40) / 100
    nodes, bits, _ = grow_tree(x, np.array([70], dtype=np.int32), y, NOBODY, 5, 1.0)
    children = nodes[nodes[0, CHILD] : nodes[0, CHILD] + 2]
    larger = int(np.argmax(children[:, STOP] - children[:, START]))
    new = np.full((1, 1), 69, dtype=np.uint16)
    leaf = find_leaves(new, np.zeros(1, dtype=np.int32), nodes, bits)[0]
    low, high = children[larger, [START, STOP]]
    assert low <= nodes[leaf, START] < high


def test_thousands_of_classes_and_of_levels():
    rng = np.random.default_rng(0)
    x = np.stack([rng.integers(0, 1000, 6_000), rng.integers(0, 50, 6_000)]).astype(np.uint16)
    y = (x[0] * 5 + rng.integers(0, 5, 6_000)).astype(np.int32)
    nodes, bits, rows = grow_tree(x, np.array([1000, 50], dtype=np.int32), y, NOBODY, 5, 0.0)
    leaves = nodes[nodes[:, FEATURE] < 0]
    within = sum(impurity(y[rows[a:b]].tolist(), True) for a, b in leaves[:, [START, STOP]])
    assert within < 0.9 * impurity(y.tolist(), True)
    assert len(find_leaves(x, np.arange(2, dtype=np.int32), nodes, bits)) == 6_000


def test_without_predictors_the_root_is_the_leaf():
    nodes, bits, rows = grow_tree(
        np.empty((0, 9), dtype=np.uint16), np.empty(0, dtype=np.int32), np.arange(9.0), NOBODY, 2, 0.0
    )
    assert nodes.shape == (1, 7)
    assert not len(bits)
    assert sorted(rows) == list(range(9))
