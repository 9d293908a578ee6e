"""Mixed MDAV against its plain twin, and groups in a given order."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from naive_gower_groups import naive_gower_groups
from sdckit.kernels.microaggregation import gower as kernel
from sdckit.kernels.microaggregation import seeded
from sdckit.kernels.microaggregation.gower import gower_groups
from sdckit.kernels.microaggregation.seeded import ordered_groups


@pytest.fixture(params=["as it comes", "compiled"])
def either_way(request, monkeypatch):
    """Small files need no compiled code: here it gets them, too."""
    if request.param == "compiled":
        monkeypatch.setattr(kernel, "SCANNED", 0)
        monkeypatch.setattr(seeded, "SCANNED", 0)


either = pytest.mark.usefixtures("either_way")
FIXTURE = [HealthCheck.function_scoped_fixture]


@either
@settings(max_examples=80, deadline=None, suppress_health_check=FIXTURE)
@given(
    n=st.integers(1, 40),
    k=st.integers(2, 4),
    kinds=st.lists(st.booleans(), min_size=1, max_size=4),
    seed=st.integers(0, 999),
)
def test_groups_are_those_of_the_definition(n, k, kinds, seed):
    rng = np.random.default_rng(seed)
    # quarters: sums are exact, so that ties are ties
    x = np.where(kinds, rng.integers(0, 3, (n, len(kinds))), rng.integers(0, 5, (n, len(kinds))) / 4)
    labels = gower_groups(x, np.array(kinds), k)
    if all(kinds):  # means of numbers may tie but for rounding
        assert labels.tolist() == naive_gower_groups(x.tolist(), kinds, k)
    sizes = np.bincount(labels)
    assert sizes.min() >= min(k, n)
    assert sizes.max() <= 2 * k - 1


@either
@settings(max_examples=40, deadline=None, suppress_health_check=FIXTURE)
@given(n=st.integers(1, 30), k=st.integers(2, 3), seed=st.integers(0, 999))
def test_groups_of_numbers_without_ties_are_those_of_the_definition(n, k, seed):
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.random(n), rng.integers(0, 3, n), rng.random(n)])
    nominal = [False, True, False]
    assert gower_groups(x, np.array(nominal), k).tolist() == naive_gower_groups(x.tolist(), nominal, k)


def test_scans_and_compiled_code_agree_on_numbers(monkeypatch):
    x = np.random.default_rng(1).lognormal(size=(300, 3))
    x[:, 1] = x[:, 1].astype(int)
    nominal = np.array([False, True, False])
    scanned = gower_groups(x, nominal, 4)
    monkeypatch.setattr(kernel, "SCANNED", 0)
    assert (gower_groups(x, nominal, 4) == scanned).all()


def test_large_files_are_cut_into_blocks(monkeypatch):
    monkeypatch.setattr(kernel, "BLOCK", 50)
    x = np.random.default_rng(0).random((400, 2))
    sizes = np.bincount(gower_groups(x, np.zeros(2, dtype=bool), 3))
    assert sizes.min() >= 3
    assert sizes.max() <= 5


@either
@settings(max_examples=60, deadline=None, suppress_health_check=FIXTURE)
@given(n=st.integers(1, 60), k=st.integers(2, 4), seed=st.integers(0, 999))
def test_ordered_groups_hold_the_nearest_of_those_left(n, k, seed):
    rng = np.random.default_rng(seed)
    x, order = rng.integers(0, 6, (n, 2)).astype(float), rng.permutation(n)
    expected, left, label = [-1] * n, list(range(n)), 0
    for start in order:
        if len(left) < 2 * k:
            break
        if expected[start] < 0:
            others = [r for r in left if r != start]
            others.sort(key=lambda r, s=start: (((x[r] - x[s]) ** 2).sum(), r))
            for r in [start, *others[: k - 1]]:
                expected[r] = label
                left.remove(r)
            label += 1
    expected = [label if e < 0 else e for e in expected]
    assert ordered_groups(x, order, k).tolist() == expected
