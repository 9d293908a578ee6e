import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sdckit.kernels.microaggregation.mdav as module
from naive_mdav import naive_mdav, sum_of_squares
from sdckit.kernels.microaggregation.mdav import blocks, blocks_from_outside, mdav
from sdckit.kernels.microaggregation.refine import refine

NAMES = ("CASC4", "CASC13", "Tarragona3", "Tarragona13", "EIA10")


@st.composite
def tables(draw):
    """Small integer tables: ties, duplicate rows and constant columns are common, sums are exact."""
    n, p = draw(st.integers(1, 60)), draw(st.integers(1, 3))
    top = draw(st.sampled_from([0, 1, 3, 50]))
    row = st.lists(st.integers(-top, top).map(float), min_size=p, max_size=p)
    return draw(st.lists(row, min_size=n, max_size=n)), draw(st.integers(1, 6))


def assert_sizes(labels, k):
    sizes = np.bincount(labels)
    assert sizes.max() <= 2 * k - 1
    assert sizes.min() >= min(k, len(labels))


@pytest.fixture(params=["as it comes", "by the tree"])
def either_way(request, monkeypatch):
    """Small files are scanned: here the tree for large ones gets them, too."""
    if request.param == "by the tree":
        monkeypatch.setattr(module, "SCANNED", 0)


@pytest.mark.usefixtures("either_way")
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables())
def test_same_partition_as_full_scans(case):
    rows, k = case
    labels = mdav(np.array(rows), k)
    assert labels.tolist() == naive_mdav(rows, k)
    assert_sizes(labels, k)


@pytest.mark.compiled
@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(("n", "p", "k"), [(700, 2, 3), (500, 5, 4), (400, 1, 10)])
def test_same_partition_as_full_scans_continuous(n, p, k):
    x = np.random.default_rng(n).lognormal(size=(n, p))
    assert mdav(x, k).tolist() == naive_mdav(x.tolist(), k)


def test_five_points_by_hand():
    # mean 5.2: 12 is farthest and takes 11; of 0, 1, 2 no two groups can be made
    assert mdav(np.array([[0.0], [1.0], [2.0], [11.0], [12.0]]), 2).tolist() == [1, 1, 1, 0, 0]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
def test_below_2k_is_one_group(n):
    x = np.arange(n, dtype=float)[:, None]
    assert mdav(x, 3).tolist() == [0] * n
    assert refine(x, mdav(x, 3), 3).tolist() == [0] * n


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_non_finite_values_are_refused(bad):
    with pytest.raises(ValueError, match="finite"):
        mdav(np.array([[0.0], [bad]]), 1)


def test_column_order_in_memory_is_irrelevant():
    x = np.random.default_rng(3).normal(size=(200, 3))
    fortran = np.asfortranarray(x)
    assert (mdav(fortran, 3) == mdav(x, 3)).all()
    assert (refine(fortran, mdav(x, 3), 3) == refine(x, mdav(x, 3), 3)).all()


def tied(n, top):
    return np.random.default_rng(n).integers(0, top + 1, size=(n, 2)).astype(float)


def check_partition(parts, n, limit):
    """Every record once, in blocks that are not too large, each in the order of the records."""
    assert np.sort(np.concatenate(parts)).tolist() == list(range(n))
    assert max(len(part) for part in parts) <= limit
    assert all((np.diff(part) > 0).all() for part in parts)


@settings(deadline=None)
@given(st.integers(1, 300), st.integers(2, 50), st.integers(0, 9))
def test_blocks_are_a_partition(n, limit, top):
    check_partition(blocks(tied(n, top), limit), n, limit)


@settings(deadline=None)
@given(st.integers(1, 300), st.integers(8, 50), st.integers(0, 9))
def test_blocks_from_outside_are_a_partition_and_the_first_is_farthest_out(n, limit, top):
    x = tied(n, top)
    parts = blocks_from_outside(x, limit)
    check_partition(parts, n, limit)
    assert len(parts) == 1 or min(len(part) for part in parts) >= limit // 4
    away = ((x - x.mean(axis=0)) ** 2).sum(axis=1)
    assert all(away[part].max() <= away[parts[0]].min() + 1e-9 for part in parts[1:])


@pytest.mark.compiled
def test_blocks_cost_little_where_a_few_records_lie_far_out(monkeypatch):
    x = np.random.default_rng(5).lognormal(sigma=1.5, size=(4000, 2))
    whole = sum_of_squares(x.tolist(), mdav(x, 3).tolist())
    monkeypatch.setattr(module, "BLOCK", 500)
    assert sum_of_squares(x.tolist(), mdav(x, 3).tolist()) < 1.02 * whole
    monkeypatch.setattr(module, "blocks_from_outside", blocks)
    assert sum_of_squares(x.tolist(), mdav(x, 3).tolist()) > 1.1 * whole


@pytest.mark.compiled
def test_large_files_go_by_blocks(monkeypatch):
    x = np.random.default_rng(5).normal(size=(3000, 3))
    whole = mdav(x, 3)
    monkeypatch.setattr(module, "BLOCK", 500)
    cut = mdav(x, 3)
    assert_sizes(cut, 3)
    assert (cut != whole).any()
    for part in blocks_from_outside(x, 500):
        assert set(cut[part]).isdisjoint(np.delete(cut, part))
    rows = x.tolist()
    assert sum_of_squares(rows, refine(x, cut, 3).tolist()) < sum_of_squares(rows, whole.tolist())


@settings(deadline=None)
@given(tables(), st.integers(0, 3))
def test_refinement_never_raises_the_sum_of_squares(case, sweeps):
    rows, k = case
    x = np.array(rows)
    before = mdav(x, k)
    after = refine(x, before, k, sweeps)
    assert_sizes(after, k)
    assert set(after) == set(range(after.max() + 1))
    old, new = sum_of_squares(rows, before.tolist()), sum_of_squares(rows, after.tolist())
    assert new <= old + 1e-9 * (1.0 + old)


@settings(max_examples=30, deadline=None)
@given(st.integers(4, 80), st.integers(2, 4), st.randoms(use_true_random=False))
def test_refinement_improves_arbitrary_groups_far_from_zero(n, k, random):
    n = max(n, 2 * k)
    x = 1e6 + np.random.default_rng(random.randrange(2**32)).normal(size=(n, 2))
    labels = np.minimum(np.arange(n) // k, n // k - 1)
    after = refine(x, labels, k)
    assert_sizes(after, k)
    centred = (x - 1e6).tolist()
    assert sum_of_squares(centred, after.tolist()) <= sum_of_squares(centred, labels.tolist()) * (1 + 1e-12)


def test_refinement_swaps_by_hand():
    x = np.array([[0.0], [1.0], [10.0], [11.0]])
    assert refine(x, np.array([0, 1, 0, 1]), 2).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])


def test_refinement_moves_by_hand():
    x = np.array([[0.0], [1.0], [9.0], [10.0], [11.0]])
    assert refine(x, np.array([0, 0, 0, 1, 1]), 2).tolist() == [0, 0, 1, 1, 1]


def test_refinement_dissolves_by_hand():
    # two tight triples; the pair across them costs more than it saves
    x = np.array([[0.0], [0.1], [10.0], [10.1], [0.05], [10.05]])
    after = refine(x, np.array([0, 0, 1, 1, 2, 2]), 2)
    assert after[[0, 1, 4]].tolist() == [after[0]] * 3
    assert after[[2, 3, 5]].tolist() == [after[2]] * 3


def test_refinement_refuses_wrong_sizes():
    with pytest.raises(ValueError, match="2 to 3 records; got 1 to 4"):
        refine(np.zeros((5, 1)), np.array([0, 0, 0, 0, 1]), 2)


@pytest.mark.compiled
@pytest.mark.parametrize("k", [3, 5, 10])
@pytest.mark.parametrize("name", NAMES)
def test_information_loss_against_sdcmicro(oracles, name, k):
    """SSE/SST on standardised columns: MDAV equals sdcMicro's, refinement is below it."""
    case = next(c for c in oracles.cases("05") if c["id"] == f"{name}_mdav_k{k}")
    data = oracles.frame(case["dataset"]["name"])
    x = data.select(case["inputs"]["variables"]).to_numpy().astype(float)
    x = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
    reference = case["expected"]["IL_SSE_over_SST"]
    labels = mdav(x, k)
    refined = refine(x, labels, k)
    assert_sizes(refined, k)
    rows, total = x.tolist(), (x**2).sum()
    assert sum_of_squares(rows, labels.tolist()) / total == pytest.approx(reference, rel=1e-4)
    assert sum_of_squares(rows, refined.tolist()) / total < 0.97 * reference
